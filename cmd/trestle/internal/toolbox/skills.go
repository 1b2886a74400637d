package toolbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/skills"
	"github.com/trestle-bridge/trestle/shell"
)

// lookEvery is how often the folders of skills are looked at for changes.
const lookEvery = 5 * time.Second

// A skillSource has the skills of folders. It is a source without tools: the shell's own
// read_skill reads them.
type skillSource struct {
	of      []string // as the configuration has them
	folders []string
	log     *slog.Logger

	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	state   string     // of the folders when they were read
	library *skills.SkillLibrary
	version int
}

func (b *Box) openSkills(of []string) (toolSource, error) {
	s := &skillSource{of: of, folders: SkillFolders(of, b.options.Base), log: b.options.Log, stop: func() {}}
	s.look()
	return s, nil
}

// SkillFolders returns the folders of a configuration in a folder.
func SkillFolders(of []string, base string) []string {
	all := slices.Clone(of)
	for i := range all {
		if !filepath.IsAbs(all[i]) {
			all[i] = filepath.Join(base, all[i])
		}
	}
	return all
}

// look reads the folders when they are other than before.
func (s *skillSource) look() {
	state := skills.LibraryState(s.folders)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.library != nil && state == s.state {
		return
	}
	s.library, s.state = skills.ReadLibrary(s.folders), state
	s.version++
	for _, r := range s.library.Refused {
		s.log.Warn("skill refused", "folder", r.Path, "error", r.Why)
	}
	s.log.Info("skills read", "skills", len(s.library.Skills))
}

// begin has the folders looked at until ctx ends, or the source is closed.
func (s *skillSource) begin(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	s.done.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s.look()
			}
		}
	})
}

// granted returns the skills that patterns grant.
func (s *skillSource) granted(patterns []string) []shell.OfferedSkill {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []shell.OfferedSkill
	for _, k := range s.library.Skills {
		if SkillGranted(patterns, k.Name) {
			all = append(all, shell.OfferedSkill{Name: k.Name, About: k.About, Hash: k.Hash, Text: k.Text, Files: k.Files, ReadFile: k.ReadFile})
		}
	}
	return all
}

// loaded returns how many skills there are, and why folders are none.
func (s *skillSource) loaded() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, r := range s.library.Refused {
		errs = append(errs, fmt.Errorf("%s: %s", r.Path, r.Why))
	}
	return len(s.library.Skills), errors.Join(errs...)
}

// SkillGranted reports whether one of the patterns names a skill, or all.
func SkillGranted(patterns []string, name string) bool {
	return isGranted(patterns, config.SkillTools, title(config.SkillTools, name))
}

func (s *skillSource) name() string { return config.SkillTools }

func (s *skillSource) isOf(entry any) bool {
	of, ok := entry.([]string)
	return ok && slices.Equal(of, s.of)
}

func (s *skillSource) tools() ([]sourceTool, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return nil, "skills " + strconv.Itoa(s.version)
}

func (s *skillSource) use(context.Context, string, shell.ToolUse) (shell.ToolAnswer, error) {
	panic("toolbox: a skill is no tool")
}

func (s *skillSource) close() {
	s.stop()
	s.done.Wait()
}

package server

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
)

// lookAgain is the time between two looks at the files of a configuration. A change is read
// once two looks have seen it, so that a file is not read while an editor writes it.
const lookAgain = time.Second

// A reloader reads the configuration again when its files change or an operator asks for it. An
// invalid one changes nothing; [reloader.Invalid] returns its faults.
type reloader struct {
	source  config.LoadOptions
	load    func(config.LoadOptions) (*config.Config, error)
	current func() *config.Config
	apply   func(context.Context, *config.Config) error
	asked   <-chan os.Signal // nil: never asked
	log     *slog.Logger

	mu      sync.Mutex // guards invalid
	invalid []config.CheckFinding

	// Used by Run alone.
	files []string
	seen  string // the files' fingerprint when they were last read
	since string // another one that the last look found
	owed  bool   // what was read has not been applied whole
}

// NewReloader returns a reloader for a process. source is where its
// configuration came from, and load reads one.
func NewReloader(am *AccountManager, source config.LoadOptions, load func(config.LoadOptions) (*config.Config, error), asked <-chan os.Signal) *reloader {
	return &reloader{source: source, load: load, current: am.Config, apply: am.apply, asked: asked, log: am.Log}
}

// Run polls the files until ctx is done and returns nil.
func (r *reloader) Run(ctx context.Context) error {
	r.files = r.watched(r.current())
	r.seen = config.FileFingerprint(r.files)
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.asked:
			r.log.Info("the configuration is to be read again")
			r.reload(ctx)
		case <-look.C:
			if r.settled() {
				r.reload(ctx)
			}
		}
	}
}

// settled reports whether the files have changed, but not since the last look.
func (r *reloader) settled() bool {
	now := config.FileFingerprint(r.files)
	before := r.since
	r.since = now
	return (now != r.seen && now == before) || r.owed
}

// watched lists the files to look at: those the configuration was read from, or
// the one that would be read if it were there.
func (r *reloader) watched(c *config.Config) []string {
	var files []string
	if c != nil {
		files = c.Files()
	}
	if c == nil || c.Path == "" {
		files = append(files, filepath.Join(r.source.Folder, config.DefaultFile))
	}
	return files
}

// reload reads the configuration and applies it.
func (r *reloader) reload(ctx context.Context) {
	before := r.current()
	from := r.source
	if before.Path != "" {
		from.Path = before.Path // a file that is gone is a mistake, not a wish for none
	}
	r.seen = config.FileFingerprint(r.files)
	next, err := r.load(from)
	for _, file := range r.watched(next) {
		if !slices.Contains(r.files, file) {
			r.files = append(r.files, file)
			r.seen = config.FileFingerprint(r.files)
		}
	}
	if wrong := worse(before, next, err); len(wrong) > 0 {
		r.refuse(wrong)
		return
	}
	r.refuse(nil)
	changes := config.CompareConfigs(before, next)
	for _, c := range changes {
		effect := "now"
		if c.AtStart {
			effect = "at the next start"
		}
		r.log.Info("configuration changed", "key", c.Path, "was", c.Old, "is", c.New, "counts", effect)
	}
	if len(changes) == 0 && !r.owed {
		r.log.Info("configuration read again; nothing has changed")
		return
	}
	if err := r.apply(ctx, next); err != nil && ctx.Err() == nil {
		r.owed = true
		r.log.Error("the changed configuration is not in force everywhere; trying again", "error", err)
		return
	}
	r.owed = false
	r.files = r.watched(next)
	r.seen = config.FileFingerprint(r.files)
}

// worse lists what stops the next configuration from being used: faults that stop a start, and
// entries that ran and would not any more.
func worse(before, next *config.Config, err error) []config.CheckFinding {
	var wrong []config.CheckFinding
	for _, f := range config.ListFindings(next, err) {
		known := slices.ContainsFunc(before.Problems, func(p config.EntryProblem) bool { return p.Entry == f.Entry && p.Err.What == f.What })
		if f.Level == config.LevelFatal || (f.Level == config.LevelMisconfigured && !known) {
			wrong = append(wrong, f)
		}
	}
	return wrong
}

// refuse stores why the changed configuration is not in force; nothing when it is.
func (r *reloader) refuse(wrong []config.CheckFinding) {
	for _, f := range wrong {
		r.log.Error("the changed configuration is invalid and not in force", "where", f.Where, "entry", f.Entry, "what", f.What, "do", f.Do)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.invalid = wrong
}

// Invalid lists the faults of the changed configuration that is not in force; nothing when the
// one on disk is. It may be called concurrently; r may be nil.
func (r *reloader) Invalid() []config.CheckFinding {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.invalid
}

// extensions returns a component for the health report when the file on disk is not in force.
func (r *reloader) extensions() []console.Component {
	var all []console.Component
	for _, f := range r.Invalid() {
		all = append(all, console.Component{Name: "configuration", Kind: "entry", State: "misconfigured", Reason: "the changed file is not in force: " + f.Where + ": " + f.What})
	}
	return all
}

package prompts

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// An ActivationReader reads which versions are activated.
type ActivationReader interface {
	// PromptActivations returns those that are not rolled back, in the order in which they
	// were made.
	PromptActivations(ctx context.Context) ([]spaces.PromptActivation, error)
}

// An ActivationStore stores which versions are activated.
type ActivationStore interface {
	ActivationReader
	// ActivatePrompt stores an activation.
	ActivatePrompt(ctx context.Context, a spaces.PromptActivation) error
	// RollBackPrompt rolls back the newest activation of a section for an agent, or for all
	// where there is no agent, and reports whether there was one.
	RollBackPrompt(ctx context.Context, section string, agent spaces.AgentID, by string, at time.Time) (bool, error)
}

// A PromptRegistry knows which version of each section an agent is told. Its methods may be
// called concurrently.
type PromptRegistry struct {
	Folder string           // of the operator's versions; empty: there are none
	Reader ActivationReader // nil: nothing is activated

	book atomic.Pointer[PromptBook]
	mu   sync.Mutex // guards files, and makes books one at a time
	// files says which files the library was read from, as they were then.
	files string
}

// Set returns what an agent is told, as of the last [PromptRegistry.Load].
func (r *PromptRegistry) Set(agent spaces.AgentID) *PromptSet {
	if b := r.book.Load(); b != nil {
		return b.Set(agent)
	}
	return BuiltIn()
}

// Load reads the folder, if it has changed, and the activations.
func (r *PromptRegistry) Load(ctx context.Context) (*PromptBook, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var activations []spaces.PromptActivation
	if r.Reader != nil {
		var err error
		if activations, err = r.Reader.PromptActivations(ctx); err != nil {
			return nil, fmt.Errorf("load prompts: %w", err)
		}
	}
	before, files := r.book.Load(), folderState(r.Folder)
	if before != nil && files == r.files && slices.Equal(before.activations, activations) {
		return before, nil
	}
	var library *PromptLibrary
	if before != nil && files == r.files {
		library = before.PromptLibrary
	} else {
		library = ReadLibrary(r.Folder)
	}
	r.files = files
	b := NewBook(library, activations)
	r.book.Store(b)
	return b, nil
}

// folderState returns another text whenever a file of a folder has changed.
func folderState(folder string) string {
	files, _ := os.ReadDir(folder) // what it cannot read it does not hold
	var out strings.Builder
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			fmt.Fprintln(&out, f.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return out.String()
}

// Watch loads again every so often until ctx is done, and logs what is wrong once.
func (r *PromptRegistry) Watch(ctx context.Context, every time.Duration, log *slog.Logger) error {
	look := time.NewTicker(every)
	defer look.Stop()
	said := map[string]bool{}
	for {
		b, err := r.Load(ctx)
		if err != nil && ctx.Err() == nil {
			log.Warn("prompts not read; agents are told what they were before", "error", err)
		}
		if err == nil {
			for _, f := range b.Refused {
				if !said[f.File+f.Why] {
					said[f.File+f.Why] = true
					log.Warn("prompt file refused", "file", f.File, "reason", f.Why)
				}
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}

// A PromptChange asks for a version to be activated, or rolled back; it is also the answer.
type PromptChange struct {
	// Version is the one to activate, such as identity@2; of a rollback, its section. In
	// the answer it is the version that is told from now on.
	Version string         `json:"version"`
	Agent   spaces.AgentID `json:"agent,omitempty"` // empty: all agents without a version of their own
	Back    bool           `json:"rollback,omitempty"`
	By      string         `json:"by,omitempty"`  // the part of the program that asks
	Was     string         `json:"was,omitempty"` // in the answer: the version that was told until now
}

// Apply activates a version or rolls one back, from the next cycle on.
func (r *PromptRegistry) Apply(ctx context.Context, store ActivationStore, c PromptChange, at time.Time) (PromptChange, error) {
	b, err := r.Load(ctx)
	if err != nil {
		return c, err
	}
	section, number, err := ParseVersion(c.Version)
	if err != nil {
		return c, err
	}
	was, by, _ := b.activeVersion(section, c.Agent)
	if c.Back {
		done, err := store.RollBackPrompt(ctx, section, c.Agent, c.By, at)
		if err == nil && !done {
			err = &SectionError{"no version of " + section + " is activated" + forAgent(c.Agent), "trestle prompts list names those that are"}
		}
		if err != nil {
			return c, err
		}
	} else {
		if number == 0 {
			return c, &SectionError{"a version has a number", "write " + section + "@2, or another number"}
		}
		v, err := b.find(section, number)
		if err != nil {
			return c, err
		}
		if by != nil && by.Agent == c.Agent && was.Number == number || by == nil && number == 1 {
			return c, &SectionError{v.String() + " is active" + forAgent(c.Agent) + " already", ""}
		}
		if err := store.ActivatePrompt(ctx, spaces.PromptActivation{Section: section, Version: number, Agent: c.Agent, By: c.By, At: at}); err != nil {
			return c, err
		}
	}
	if b, err = r.Load(ctx); err != nil {
		return c, err
	}
	now, _, _ := b.activeVersion(section, c.Agent)
	c.Was, c.Version = was.String(), now.String()
	return c, nil
}

func forAgent(agent spaces.AgentID) string {
	if agent == "" {
		return ""
	}
	return " for " + string(agent)
}

// A SectionState is a section with its versions and those that are active.
type SectionState struct {
	Section    string                   `json:"section"`
	Mode       SectionMode              `json:"mode"`                 // when models are shown it
	Active     string                   `json:"active"`               // of agents without a version of their own
	Activation *spaces.PromptActivation `json:"activation,omitempty"` // that made it so
	Agents     []AgentVersion           `json:"agents"`               // with a version of their own
	Versions   []VersionState           `json:"versions"`             // ascending
}

// An AgentVersion is the version that an agent has of its own.
type AgentVersion struct {
	Agent      spaces.AgentID          `json:"agent"`
	Active     string                  `json:"active"`
	Activation spaces.PromptActivation `json:"activation"`
}

// A VersionState is a version without its text.
type VersionState struct {
	Name   string `json:"name"`
	File   string `json:"file,omitempty"` // without it the version is built in
	Tokens int    `json:"tokens"`
}

// States describes every section. Tokens are counted by count.
func (b *PromptBook) States(count *hud.TokenCounter) []SectionState {
	all := make([]SectionState, 0, len(sections))
	for _, s := range sections {
		active, by, _ := b.activeVersion(s.Name, "")
		x := SectionState{Section: s.Name, Mode: s.Mode, Active: active.String(), Activation: by, Agents: []AgentVersion{}, Versions: []VersionState{}}
		for _, agent := range b.agents() {
			if v, by, _ := b.activeVersion(s.Name, agent); by != nil && by.Agent == agent {
				x.Agents = append(x.Agents, AgentVersion{agent, v.String(), *by})
			}
		}
		for _, v := range b.versions[s.Name] {
			x.Versions = append(x.Versions, VersionState{v.String(), v.File, count.Count(v.Text)})
		}
		all = append(all, x)
	}
	return all
}

// Name names the activated version, and the agent if it is of one.
func (m MissingVersion) Name() string {
	return PromptVersion{Section: m.Activation.Section, Number: m.Activation.Version}.String() + forAgent(m.Activation.Agent)
}

// String says in a sentence what is missing and what is told instead.
func (m MissingVersion) String() string {
	return m.Why + "; " + m.Shown.String() + " is told" + forAgent(m.Activation.Agent)
}

package prompts

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/trestle-bridge/trestle/spaces"
)

// A PromptSet is one version of every section: what an agent is told. It does not change.
type PromptSet struct {
	versions map[string]PromptVersion
	phases   map[string]string
	used     []string
}

// BuiltIn returns the set of the built-in versions.
var BuiltIn = sync.OnceValue(func() *PromptSet {
	s, _ := NewBook(builtIn(), nil).setOf("")
	return s
})

func newSet(versions map[string]PromptVersion) *PromptSet {
	s := &PromptSet{versions: versions, phases: map[string]string{}}
	for line := range strings.Lines(versions["phases"].Text) {
		name, text, _ := strings.Cut(line, ":")
		s.phases[name] = strings.TrimSpace(text)
	}
	for _, section := range sections {
		if v := versions[section.Name]; v.File != "" {
			s.used = append(s.used, v.String())
		}
	}
	return s
}

// With returns the set with another version of a section.
func (s *PromptSet) With(v PromptVersion) *PromptSet {
	versions := maps.Clone(s.versions)
	versions[v.Section] = v
	return newSet(versions)
}

// Used names the versions that are not built in, in the order of the sections.
func (s *PromptSet) Used() []string { return slices.Clone(s.used) }

// Version names the version of a section that is in the set: "identity@2".
func (s *PromptSet) Version(section string) string { return s.version(section).String() }

// Text returns the text of a section that has no placeholders, and otherwise its
// template. It panics for a section that there is not.
func (s *PromptSet) Text(section string) string { return s.version(section).Text }

// Expand returns the text of a section with its placeholders filled in from data. Should
// a version not fit the data, the built-in one is used.
func (s *PromptSet) Expand(section string, data any) string {
	v := s.version(section)
	if v.template == nil {
		return v.Text
	}
	var out strings.Builder
	err := v.template.Execute(&out, data)
	if err != nil && v.File != "" {
		return BuiltIn().Expand(section, data)
	}
	if err != nil {
		panic("prompts: section " + section + ": " + err.Error())
	}
	return out.String()
}

// Phase returns the words for a phase: contemplation, engagement, or one where there is
// a single call.
func (s *PromptSet) Phase(name string) string { return s.phases[name] }

func (s *PromptSet) version(section string) PromptVersion {
	v, known := s.versions[section]
	if !known {
		panic("prompts: no section " + section)
	}
	return v
}

// A PromptBook is the versions that there are with those that are activated. It may be
// used concurrently.
type PromptBook struct {
	*PromptLibrary
	activations []spaces.PromptActivation // in the order in which they were made

	mu   sync.Mutex // guards sets
	sets map[spaces.AgentID]*PromptSet
}

// NewBook returns a book of versions and the activations that are in force, in the order
// in which they were made.
func NewBook(l *PromptLibrary, activations []spaces.PromptActivation) *PromptBook {
	return &PromptBook{PromptLibrary: l, activations: activations, sets: map[spaces.AgentID]*PromptSet{}}
}

// Set returns what an agent is told; for no agent, what one without versions of its own is.
func (b *PromptBook) Set(agent spaces.AgentID) *PromptSet {
	if !slices.ContainsFunc(b.activations, func(a spaces.PromptActivation) bool { return a.Agent == agent }) {
		agent = ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sets[agent] == nil {
		b.sets[agent], _ = b.setOf(agent)
	}
	return b.sets[agent]
}

// A MissingVersion is an activated version that there is not, with what is shown instead.
type MissingVersion struct {
	Activation spaces.PromptActivation
	Shown      PromptVersion
	Why        string
}

// setOf returns what an agent is told, with what is missing for it.
func (b *PromptBook) setOf(agent spaces.AgentID) (*PromptSet, []MissingVersion) {
	versions := map[string]PromptVersion{}
	var missing []MissingVersion
	for _, s := range sections {
		v, _, absent := b.activeVersion(s.Name, agent)
		versions[s.Name] = v
		missing = append(missing, absent...)
	}
	return newSet(versions), missing
}

// activeVersion returns the version of a section that an agent is told, with its
// activation, nil for the built-in one of a section without any. A version that there is
// not is passed over for the one that was activated before it: first those of the agent,
// then those of all.
func (b *PromptBook) activeVersion(section string, agent spaces.AgentID) (PromptVersion, *spaces.PromptActivation, []MissingVersion) {
	var missing []MissingVersion
	shown, by := b.versions[section][0], (*spaces.PromptActivation)(nil)
	for _, whose := range slices.Compact([]spaces.AgentID{agent, ""}) {
		for i := len(b.activations) - 1; i >= 0 && by == nil; i-- {
			a := b.activations[i]
			if a.Section != section || a.Agent != whose {
				continue
			}
			v, err := b.find(section, a.Version)
			if err != nil {
				missing = append(missing, MissingVersion{Activation: a, Why: err.Error()})
				continue
			}
			shown, by = v, &a
		}
	}
	for i := range missing {
		missing[i].Shown = shown
	}
	return shown, by, missing
}

// Missing returns the activated versions that would be shown and are not there, each once.
func (b *PromptBook) Missing() []MissingVersion {
	var all []MissingVersion
	for _, agent := range append([]spaces.AgentID{""}, b.agents()...) {
		_, missing := b.setOf(agent)
		for _, m := range missing {
			if m.Activation.Agent == agent {
				all = append(all, m)
			}
		}
	}
	return all
}

// agents returns the agents that have activations of their own, sorted.
func (b *PromptBook) agents() []spaces.AgentID {
	var all []spaces.AgentID
	for _, a := range b.activations {
		if a.Agent != "" {
			all = append(all, a.Agent)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

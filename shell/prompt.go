package shell

import (
	"embed"
	"strings"
	"sync"
	"text/template"

	"github.com/trestle-bridge/trestle/hud"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// A promptMode is what a section of text is shown for.
type promptMode string

// The modes of sections (PRD-3-2).
const (
	always     promptMode = "always"      // every call of a cycle: the system message
	inTags     promptMode = "tags"        // the same, where acts are written as tags
	inWords    promptMode = "words"       // the same, where plain text is delivered
	whenAsked  promptMode = "asked"       // the agent looks it up
	eachPhase  promptMode = "phase"       // contemplation and engagement: a line for each
	crossSpace promptMode = "cross-space" // words for another space are composed
	onboarding promptMode = "onboarding"  // a room is new, or is set up
	compaction promptMode = "compaction"  // old accounts are condensed
)

// promptSections are all texts that a model is shown, in order, each a versioned
// file. The anti-patterns belong to chat alone (PRD-5.7-3); a section is raised to a
// new version by adding a file and naming it here.
var promptSections = []struct {
	name string
	mode promptMode
}{
	{"identity.v1", always},
	{"antipatterns.v1", always},
	{"instructions.v1", always},
	{"tools.v1", always},
	{"memories.v1", always},
	{"tags.v1", inTags},
	{"memory.v1", whenAsked},
	{"capabilities.v1", whenAsked},
	{"words.v1", inWords},
	{"phases.v1", eachPhase},
	{"compose.v1", crossSpace},
	{"offer.v1", onboarding},
	{"setup.v1", onboarding},
	{"digest.v1", compaction},
}

func prompt(name string) string {
	data, err := promptFiles.ReadFile("prompts/" + name + ".md")
	if err != nil {
		panic("shell: prompt missing: " + err.Error())
	}
	return strings.TrimSpace(string(data))
}

// phases are the words of each phase, the end of every frame (SEQ-78).
var phases = func() map[string]string {
	texts := map[string]string{}
	for line := range strings.Lines(prompt("phases.v1")) {
		name, text, _ := strings.Cut(line, ":")
		texts[name] = strings.TrimSpace(text)
	}
	return texts
}()

// promptCache holds the system messages, which are the same bytes for every call
// of an agent.
type promptCache struct {
	mu  sync.Mutex // guards all
	all map[systemKey]systemPrompt
}

type systemKey struct {
	agent *Agent
	tags  bool
	words bool
}

type systemPrompt struct {
	text  string
	fixed int // its tokens with those of the tools
	guard *hud.LeakGuard
}

// forget drops the messages of agents that have been replaced.
func (all *promptCache) forget() {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.all = nil
}

// prompt returns the agent's system message.
func (s *Shell) prompt(a *Agent, set AgentSettings, words bool) systemPrompt {
	key := systemKey{a, set.Tags, words}
	s.systems.mu.Lock()
	defer s.systems.mu.Unlock()
	if done, ok := s.systems.all[key]; ok {
		return done
	}
	text := systemText(a, key)
	own := hud.Bound(a.Name) + hud.Bound(a.Persona) + hud.Bound(string(a.ID.Entity()))
	fixed := promptTokens + toolTokens + own
	if s.Files {
		fixed += fileToolTokens
	}
	if set.Tags {
		fixed = tagPromptTokens + own
	}
	if words {
		fixed += wordsPromptTokens
	}
	if a.System != "" {
		text, fixed = a.System, hud.Bound(a.System)+toolTokens
	}
	if s.systems.all == nil {
		s.systems.all = map[systemKey]systemPrompt{}
	}
	s.systems.all[key] = systemPrompt{text, fixed, hud.NewLeakGuard(text + "\n" + besides())}
	return s.systems.all[key]
}

// besides are our texts that models are shown elsewhere than in a system message of a
// cycle: they may not go out either (SECURITY S4).
var besides = sync.OnceValue(func() string {
	var texts []string
	for _, s := range promptSections {
		if s.mode != always {
			texts = append(texts, prompt(s.name))
		}
	}
	return strings.Join(texts, "\n")
})

// What the fixed texts take, in tokens, written down so that no vocabulary has
// to be loaded for them; a test counts them anew. An agent's name and persona
// come on top.
const (
	promptTokens      = 1110
	tagPromptTokens   = 1459
	wordsPromptTokens = 51
	toolTokens        = 1790
	fileToolTokens    = 213 // of send_file, where it is offered
)

func systemText(a *Agent, key systemKey) string {
	var out strings.Builder
	for _, s := range promptSections {
		if s.mode != always && (s.mode != inTags || !key.tags) && (s.mode != inWords || !key.words) {
			continue
		}
		name := s.name
		t := template.Must(template.New(name).Parse(prompt(name)))
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		err := t.Execute(&out, struct{ Name, Entity, Persona string }{a.Name, string(a.ID.Entity()), a.Persona})
		if err != nil {
			panic("shell: prompt " + name + ": " + err.Error())
		}
	}
	return strings.TrimSpace(out.String())
}

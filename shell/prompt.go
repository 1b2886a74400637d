package shell

import (
	"strings"
	"sync"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// A PromptSource says what agents are told.
type PromptSource interface {
	// Set returns the versions of the sections that an agent is told from its next cycle on.
	Set(agent spaces.AgentID) *prompts.PromptSet
}

// promptCache holds the system messages, which are the same bytes for every call
// of an agent.
type promptCache struct {
	mu  sync.Mutex // guards all
	all map[systemKey]systemPrompt
}

type systemKey struct {
	agent   *Agent
	set     *prompts.PromptSet
	tags    bool
	words   bool
	outside bool
	skills  string // the list of the agent's
}

type systemPrompt struct {
	text  string
	fixed int // its tokens with those of the tools
	guard *hud.LeakGuard
	set   *prompts.PromptSet
}

// maxSystems bounds the cache: sets that are no longer told stay in it until then.
const maxSystems = 256

// forget drops the messages of agents that have been replaced.
func (all *promptCache) forget() {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.all = nil
}

// prompt returns the agent's system message, with the tokens of its outside tools.
func (s *Shell) prompt(a *Agent, set AgentSettings, words bool) systemPrompt {
	tools := s.catalogueOf(a.ID)
	told := prompts.BuiltIn()
	if s.Prompts != nil {
		told = s.Prompts.Set(a.ID)
	}
	p := s.ownPrompt(systemKey{a, told, set.Tags, words, tools.outside, listSkills(tools.skills)})
	p.fixed += tools.extra
	return p
}

func (s *Shell) ownPrompt(key systemKey) systemPrompt {
	a := key.agent
	s.systems.mu.Lock()
	defer s.systems.mu.Unlock()
	if done, ok := s.systems.all[key]; ok {
		return done
	}
	text := systemText(a, key)
	fixed := s.fixedTokens(key)
	if used := key.set.Used(); len(used) > 0 { // their tokens are written down nowhere
		builtIn := key
		builtIn.set = prompts.BuiltIn()
		fixed += s.Counter.Count(text) - s.Counter.Count(systemText(a, builtIn))
	}
	if a.System != "" {
		text, fixed = a.System, hud.Bound(a.System)+toolTokens
	}
	guard := hud.NewLeakGuard(text + "\n" + besides(key.set))
	if key.skills != "" { // people may be told which there are
		told := key.set.Expand("skills", struct{ Name, Entity, Persona, Skills string }{a.Name, string(a.ID.Entity()), a.Persona, key.skills})
		text, fixed = text+"\n\n"+told, fixed+hud.Bound(told)
	}
	if s.systems.all == nil || len(s.systems.all) >= maxSystems {
		s.systems.all = map[systemKey]systemPrompt{}
	}
	s.systems.all[key] = systemPrompt{text, fixed, guard, key.set}
	return s.systems.all[key]
}

// fixedTokens returns what the built-in texts of a system message and the tools take.
func (s *Shell) fixedTokens(key systemKey) int {
	a := key.agent
	own := hud.Bound(a.Name) + hud.Bound(a.Persona) + hud.Bound(string(a.ID.Entity()))
	fixed := promptTokens + toolTokens + own
	if s.Files {
		fixed += fileToolTokens
	}
	if key.tags {
		fixed = tagPromptTokens + own
	}
	if key.words {
		fixed += wordsPromptTokens
	}
	if key.outside {
		fixed += outsidePromptTokens
	}
	return fixed
}

// besides are our texts that models are shown elsewhere than in a system message of a
// cycle: they may not go out either (SECURITY S4).
func besides(set *prompts.PromptSet) string {
	var texts []string
	for _, s := range prompts.AllSections() {
		if s.Mode != prompts.AlwaysShown {
			texts = append(texts, set.Text(s.Name))
		}
	}
	return strings.Join(texts, "\n")
}

// What the fixed texts take, in tokens, written down so that no vocabulary has
// to be loaded for them; a test counts them anew. An agent's name and persona
// come on top.
const (
	promptTokens        = 1110
	tagPromptTokens     = 1479
	wordsPromptTokens   = 51
	outsidePromptTokens = 114
	toolTokens          = 1619
	readFileTokens      = 145 // of read_file, where files are read
	fileToolTokens      = 208 // of send_file, where it is offered
)

func systemText(a *Agent, key systemKey) string {
	var texts []string
	for _, s := range prompts.AllSections() {
		switch s.Mode {
		case prompts.AlwaysShown:
		case prompts.TagsDialect:
			if !key.tags {
				continue
			}
		case prompts.WordAnswers:
			if !key.words {
				continue
			}
		case prompts.OutsideTools:
			if !key.outside {
				continue
			}
		default:
			continue
		}
		texts = append(texts, key.set.Expand(s.Name, struct{ Name, Entity, Persona string }{a.Name, string(a.ID.Entity()), a.Persona}))
	}
	return strings.TrimSpace(strings.Join(texts, "\n\n"))
}

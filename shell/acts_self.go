package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxRest bounds sleep and timers: one year.
const maxRest = 365 * 24 * 60 * 60

// minAgain is how far away what a timer's wake sets for itself is at least: timers that
// set timers cost tokens while no person is there.
const minAgain = time.Minute

// tooSoon reports whether a wake by a timer would be followed by another at once.
func (s *stepContext) tooSoon(due time.Duration) bool { return s.wake.Timer != nil && due < minAgain }

type done struct {
	Account string `json:"account,omitempty" jsonschema:"your line about this wake"`
}

func (a done) perform(s *stepContext) toolResult {
	s.stop, s.account = spaces.StopCompleted, strings.TrimSpace(a.Account)
	return s.done(map[string]any{})
}

type sleep struct {
	Seconds int `json:"seconds" jsonschema:"how long nothing shall wake you"`
}

func (a sleep) perform(s *stepContext) toolResult {
	if a.Seconds < 1 || a.Seconds > maxRest {
		return s.deny("bad_seconds", "seconds must be between 1 and a year.", "")
	}
	if s.tooSoon(time.Duration(a.Seconds) * time.Second) {
		return s.deny("too_soon", "A timer woke you: sleep for a minute or longer.", "Or just rest.")
	}
	due := s.setTimer(spaces.TimerSleep, a.Seconds, "")
	s.stop, s.stopDetail = spaces.StopSleeping, "until "+due.UTC().Format(time.RFC3339)
	return s.done(map[string]any{"until": due.UTC().Format(time.RFC3339)})
}

type timer struct {
	Seconds int    `json:"seconds" jsonschema:"from now"`
	Note    string `json:"note" jsonschema:"what to do then"`
}

func (a timer) perform(s *stepContext) toolResult {
	if a.Seconds < 1 || a.Seconds > maxRest {
		return s.deny("bad_seconds", "seconds must be between 1 and a year.", "")
	}
	if s.tooSoon(time.Duration(a.Seconds) * time.Second) {
		return s.deny("too_soon", "A timer woke you: the next is a minute away or more.", "Or do it now.")
	}
	if out := s.roomForPlans(1); !out.ok {
		return out
	}
	due := s.setTimer(spaces.TimerAct, a.Seconds, a.Note)
	return s.done(map[string]any{"at": due.UTC().Format(time.RFC3339)})
}

// about is the room that is meant by what is set for later: the active one, or, while
// there is none, that of the timer that woke the mind.
func (s *stepContext) about() spaces.SpaceID {
	if s.active == "" && s.wake.Timer != nil {
		return s.wake.Timer.Space
	}
	return s.active
}

func (s *stepContext) setTimer(kind spaces.TimerKind, seconds int, text string) time.Time {
	due := s.now.Add(time.Duration(seconds) * time.Second)
	s.timers = append(s.timers, spaces.WakeTimer{
		ID: s.newID(), Mind: s.wake.Cycle.Mind, Kind: kind, Space: s.about(), Note: text, Due: due, Cycle: s.wake.Cycle.ID,
		SetBy: s.asker(), SetAt: s.now,
	})
	return due
}

type bookmark struct {
	Label string `json:"label" jsonschema:"a few words to find this place again"`
}

func (a bookmark) perform(s *stepContext) toolResult {
	if strings.TrimSpace(a.Label) == "" {
		return s.deny("empty_text", "A bookmark needs a label.", "")
	}
	return s.keep(spaces.BookmarkSet{
		Label: a.Label, Space: s.active, Object: spaces.ChatObject, Events: s.inView(), Cycle: s.wake.Cycle.ID,
	})
}

type fork struct {
	Reason string `json:"reason" jsonschema:"what you want to try out"`
}

func (a fork) perform(s *stepContext) toolResult {
	if strings.TrimSpace(a.Reason) == "" {
		return s.deny("empty_text", "A fork needs a reason.", "")
	}
	if s.branch != "" {
		return s.deny("forked", "This is a rehearsal already.", "It ends when you rest.")
	}
	s.branch = rehearsalOf(s.wake.Cycle.ID)
	return s.done(map[string]any{"branch": string(s.branch)})
}

// rehearsalOf names the branch on which a cycle goes on once it has forked.
func rehearsalOf(c spaces.CycleID) spaces.BranchID { return spaces.BranchID("rehearsal:" + string(c)) }

type note struct {
	Text string `json:"text"`
}

func (a note) perform(s *stepContext) toolResult {
	if strings.TrimSpace(a.Text) == "" {
		return s.deny("empty_text", "The note is empty.", "")
	}
	return s.keep(spaces.NoteAdded{Text: a.Text, Label: "notes", Cycle: s.wake.Cycle.ID})
}

type goal struct {
	Text   string `json:"text" jsonschema:"the goal; the same text again changes its status"`
	Status string `json:"status,omitempty"`
}

// goalStatuses are the states of a goal, the default first.
var goalStatuses = []string{"active", "long-term", "done", "dropped"}

func (goal) values() map[string][]string { return map[string][]string{"status": goalStatuses} }

func (a goal) perform(s *stepContext) toolResult {
	a.Status = cmp.Or(a.Status, "active")
	if !slices.Contains(goalStatuses, a.Status) || strings.TrimSpace(a.Text) == "" {
		return s.deny("bad_goal", "A goal needs a text and one of the four statuses.", "active, long-term, done or dropped.")
	}
	return s.keep(spaces.GoalSet{Text: a.Text, Status: a.Status})
}

// memoryKinds are the kinds of memory (PRD-5.5-3).
var memoryKinds = []string{"user_fact", "decision", "space_knowledge", "preference"}

type remember struct {
	Fact string `json:"fact" jsonschema:"one sentence"`
	Kind string `json:"kind"`
}

func (remember) values() map[string][]string { return map[string][]string{"kind": memoryKinds} }

func (a remember) perform(s *stepContext) toolResult {
	fact := strings.TrimSpace(a.Fact)
	wrong, better := WrongFact(fact, s.settings.MemoryChars)
	switch {
	case !slices.Contains(memoryKinds, a.Kind):
		return s.deny("bad_kind", "There is no such kind of memory.", strings.Join(memoryKinds, ", "))
	case wrong != "":
		return s.deny("bad_fact", wrong, better)
	case s.quotes(fact):
		return s.deny("message_text", "That is what somebody wrote, word for word.", "Say what follows from it, about whom.")
	case s.knows(fact):
		return s.deny("known_fact", "You remember that already.", "")
	}
	id := "m" + s.newID()
	out := s.keep(spaces.MemoryAdded{ID: id, Fact: fact, What: a.Kind, Sources: s.inView(), Readers: s.readers(), Space: s.active})
	out.body["id"] = hud.Handle(id)
	return out
}

// WrongFact says what is wrong with a fact that is to be remembered in so many
// characters at most, and what would be better; nothing when it can be kept
// (PRD-5.5-3).
func WrongFact(fact string, most int) (wrong, better string) {
	switch {
	case strings.TrimSpace(fact) == "" || utf8.RuneCountInString(fact) > most:
		return fmt.Sprintf("A memory is one fact of at most %d characters.", most), "Lead with the fact, leave out the story."
	case strings.ContainsAny(fact, "\n{}"):
		return "A memory is a sentence, not raw output.", "Say the fact in one sentence."
	}
	return "", ""
}

// quotes reports whether a fact is no more than a message that woke the agent:
// the log keeps those (PRD-5.5-4).
func (s *stepContext) quotes(fact string) bool {
	return slices.ContainsFunc(s.wake.Events, func(e spaces.Event) bool {
		said, ok := e.Body.(spaces.MessagePosted)
		return ok && strings.EqualFold(strings.TrimSpace(said.Text), fact)
	})
}

// knows reports whether the agent remembers the fact already, or does so in
// this very step.
func (s *stepContext) knows(fact string) bool {
	return slices.ContainsFunc(s.view.Self.Memories.All, func(m spaces.Memory) bool { return strings.EqualFold(m.Fact, fact) }) ||
		slices.ContainsFunc(s.inner, func(b spaces.EventBody) bool {
			r, ok := b.(spaces.MemoryAdded)
			return ok && strings.EqualFold(r.Fact, fact)
		})
}

type forget struct {
	ID string `json:"id" jsonschema:"id of the memory or reminder"`
}

func (a forget) perform(s *stepContext) toolResult {
	for i := range s.view.Plans {
		if t := &s.view.Plans[i]; a.means(t.Name()) {
			return s.keep(spaces.MemoryRemoved{ID: t.Name()})
		}
	}
	for _, m := range s.view.Self.Memories.All {
		if a.means(m.ID) {
			return s.keep(spaces.MemoryRemoved{ID: m.ID})
		}
	}
	return s.deny("unknown_memory", "There is no memory or reminder with that id.", "look memories and look reminders show them.")
}

// means reports whether it names the id. Turns of before there were handles show
// ids whole.
func (a forget) means(id string) bool {
	named := strings.TrimSpace(a.ID)
	return named == hud.Handle(id) || named == id
}

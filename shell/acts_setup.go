package shell

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// How much one proposal has.
const (
	mostSetUpFacts  = 8
	mostSetUpPlans  = 5
	mostSetUpWishes = 5
	mostSetUpNote   = 200 // characters of a plan's note, and of a wish
)

// setUpKeys are the keys of the configuration that a wish may be about: what no act
// changes, and a room's operator can.
var setUpKeys = []string{"wake", "agents", "chats", "relay", "circle", "name", "persona"}

type setUp struct {
	Step    string      `json:"step"`
	Purpose string      `json:"purpose,omitempty" jsonschema:"propose: what the room is for"`
	Facts   []string    `json:"facts,omitempty" jsonschema:"as in remember"`
	Plans   []setUpPlan `json:"plans,omitempty"`
	Wishes  []setUpWish `json:"wishes,omitempty" jsonschema:"what only the operator can change"`
}

func (setUp) values() map[string][]string {
	return map[string][]string{"step": {"propose", "apply", "drop"}}
}

type setUpPlan struct {
	Cron string `json:"cron,omitempty"`
	At   string `json:"at,omitempty"`
	Note string `json:"note"`
}

type setUpWish struct {
	Key  string `json:"key" jsonschema:"wake, agents, chats, relay, circle, name or persona"`
	Want string `json:"want"`
}

func (a setUp) perform(s *stepContext) toolResult {
	room, out := s.room("")
	if room == nil {
		return out
	}
	if s.settings.Onboarding <= 0 {
		return s.deny("setup_off", "Rooms are not set up here.", "The operator has turned it off: say so.")
	}
	at := setUpIn(s.view.Self, room.ID(), s.now, s.setUps, s.inner)
	switch a.Step {
	case "propose":
		return a.propose(s, room, at)
	case "apply":
		return s.applySetUp(room, at)
	case "drop":
		return s.dropSetUp(room, at)
	}
	return s.deny("bad_step", "There is no such step.", "propose, apply or drop.")
}

// setUpOptions are the buttons below a proposal.
var setUpOptions = []string{"Yes", "No"}

// propose posts the plan in the room with buttons, notes that it is open, and ends the
// wake until people have answered it.
func (a setUp) propose(s *stepContext, room *hud.SharedRoom, at spaces.RoomOnboarding) toolResult {
	plan, due, out := a.plan(s)
	if plan == nil {
		return out
	}
	text, out := s.speech(room, proposal(plan, due, s, room)+spaces.OptionList(setUpOptions))
	if text == "" {
		return out
	}
	e := s.effect(spaces.ActSend, room)
	e.Text = text
	e.Chain = spaces.NextChain(s.wake.Consumed, e.Target, e.ID)
	if e.Branch != "" {
		return s.do(e)
	}
	if out = s.await(e, room, spaces.WaitSpec{Options: setUpOptions, Due: s.now.Add(setUpLasts)}); !out.ok {
		return out
	}
	s.noteSetUp(at, spaces.OnboardingNote{
		Space: room.ID(), State: spaces.SetUpProposed, Seen: e.Seen, Message: e.ID, Plan: plan,
		Sources: at.From(s.inView()), Readers: at.Common(s.readers()),
	})
	out.body["next"] = "They have been shown it and asked. A yes to it wakes you: by its buttons, or in words that reply to it."
	return out
}

// plan returns what is proposed and when each of its plans is due first, or a denial.
func (a setUp) plan(s *stepContext) (*spaces.OnboardingPlan, []time.Time, toolResult) {
	p := &spaces.OnboardingPlan{Purpose: strings.TrimSpace(a.Purpose)}
	if len(a.Facts) > mostSetUpFacts || len(a.Plans) > mostSetUpPlans || len(a.Wishes) > mostSetUpWishes {
		return nil, nil, s.deny("too_much", fmt.Sprintf("A proposal has at most %d facts, %d plans and %d wishes.", mostSetUpFacts, mostSetUpPlans, mostSetUpWishes), "Keep what matters most.")
	}
	for _, fact := range append([]string{p.Purpose}, a.Facts...) {
		fact = strings.TrimSpace(fact)
		if wrong, better := WrongFact(fact, s.settings.MemoryChars); wrong != "" {
			return nil, nil, s.deny("bad_fact", wrong, better)
		}
		if s.quotes(fact) {
			return nil, nil, s.deny("message_text", "That is what somebody wrote, word for word.", "Say what follows from it, about whom.")
		}
		p.Facts = append(p.Facts, fact)
	}
	p.Facts = slices.Clip(p.Facts[1:])
	due := make([]time.Time, 0, len(a.Plans))
	for _, x := range a.Plans {
		x.Note = strings.TrimSpace(x.Note)
		t, out := remind{Cron: x.Cron, At: x.At, Note: x.Note}.timer(s, s.active)
		if !out.ok {
			return nil, nil, out
		}
		if wrong, better := WrongFact(x.Note, mostSetUpNote); wrong != "" {
			return nil, nil, s.deny("bad_note", "A plan's note is one line of at most 200 characters.", better)
		}
		due = append(due, t.Due)
		p.Plans = append(p.Plans, spaces.PlannedTimer(x))
	}
	for _, x := range a.Wishes {
		x.Want = strings.TrimSpace(x.Want)
		if wrong, _ := WrongFact(x.Want, mostSetUpNote); wrong != "" || !slices.Contains(setUpKeys, x.Key) {
			return nil, nil, s.deny("bad_wish", "A wish has a key and one line of at most 200 characters.", "key is one of "+strings.Join(setUpKeys, ", ")+".")
		}
		p.Wishes = append(p.Wishes, spaces.OnboardingQuestion(x))
	}
	return p, due, toolResult{}
}

// applySetUp puts the open plan of the room into effect that a person has
// answered: all of it with this step, or nothing (PRD-6.5-5).
func (s *stepContext) applySetUp(room *hud.SharedRoom, at spaces.RoomOnboarding) toolResult {
	said := room.Chat.Find(at.Message)
	switch {
	case at.State == spaces.SetUpDone && at.Seen >= s.upto:
		return s.deny("not_proposed", "This has been set up already.", "Say what was set up.")
	case at.State != spaces.SetUpProposed || !live(at, s.now) || said == nil || said.Deleted || said.Failure != "":
		return s.deny("not_proposed", "No proposal stands in this room.", "Propose first; a person has to say yes.")
	case !approved(s.wake, room, said):
		return s.deny("not_approved", "No person here has said yes to the proposal.", "Ask them to press Yes below it, or to reply to it. What agents and bots say does not count.")
	}
	timers, out := s.setUpTimers(room, at.Plan.Plans)
	if !out.ok {
		return out
	}
	memories := s.setUpMemories(room, at)
	if s.branch != "" {
		return s.done(map[string]any{"rehearsed": true})
	}
	s.timers = append(s.timers, timers...)
	for i := range timers {
		s.bound = append(s.bound, timers[i].ID)
	}
	for _, m := range memories {
		s.inner, s.bound = append(s.inner, m), append(s.bound, m.ID)
	}
	s.noteSetUp(at, spaces.OnboardingNote{Space: room.ID(), State: spaces.SetUpDone, Seen: s.upto})
	var plans []map[string]any
	for _, t := range timers {
		plans = append(plans, map[string]any{"id": hud.Handle(t.Plan), "next": hud.ClockIn(t.Due)})
	}
	return s.done(map[string]any{
		"remembered": len(memories), "plans": plans,
		"next": "Say in one message what was set up and what only the operator can change, and offer a short tour of what people can do here.",
	})
}

// approved reports whether the answer of a person to a proposal woke the cycle, and was not
// no: a button below it, a reply to it, or, in their own chat, any words after it. What the
// words mean the model judges.
func approved(wake *spaces.Wake, room *hud.SharedRoom, proposal *spaces.ChatMessage) bool {
	own := func(e spaces.Event) bool {
		_, byPerson := personal(room, e)
		return byPerson && e.Space == room.ID()
	}
	for _, w := range wake.Waits {
		if w.Message != proposal.ID || w.Outcome != spaces.WaitReplied {
			continue
		}
		a := w.Answers[len(w.Answers)-1]
		said := func(e spaces.Event) bool { return e.ID == a.Event && own(e) }
		return a.Choice == 1 && a.Event == "" || a.Choice < 2 && slices.ContainsFunc(wake.Events, said)
	}
	return slices.ContainsFunc(wake.Events, func(e spaces.Event) bool {
		return own(e) && (e.ReplyTo == proposal.ID || room.Space().Direct && e.Seq > proposal.Seq)
	})
}

// declined reports whether a person's message of the room, or their answer to the
// proposal, woke the cycle.
func declined(wake *spaces.Wake, room *hud.SharedRoom, proposal spaces.EventID) bool {
	answered := func(w spaces.PendingWait) bool { return w.Message == proposal && w.Outcome == spaces.WaitReplied }
	return slices.ContainsFunc(wake.Waits, answered) || slices.ContainsFunc(wake.Events, func(e spaces.Event) bool {
		_, byPerson := personal(room, e)
		return byPerson && e.Space == room.ID()
	})
}

// setUpTimers returns the plans of a proposal as the act plan makes them, but for
// those that are there already.
func (s *stepContext) setUpTimers(room *hud.SharedRoom, plans []spaces.PlannedTimer) ([]spaces.WakeTimer, toolResult) {
	var timers []spaces.WakeTimer
	for _, x := range plans {
		t, out := remind{Cron: x.Cron, At: x.At, Note: x.Note}.timer(s, room.ID())
		if !out.ok {
			return nil, out
		}
		if !slices.ContainsFunc(slices.Concat(s.view.Plans, s.timers, timers), func(has spaces.WakeTimer) bool {
			return has.Space == t.Space && has.Cron == t.Cron && has.Note == t.Note && has.Due.Equal(t.Due)
		}) {
			timers = append(timers, t)
		}
	}
	return timers, s.roomForPlans(len(timers))
}

// setUpMemories returns the purpose and the facts of a proposal as memories, but for
// what is known already.
func (s *stepContext) setUpMemories(room *hud.SharedRoom, at spaces.RoomOnboarding) []spaces.MemoryAdded {
	var memories []spaces.MemoryAdded
	sources, readers := at.From(s.inView()), at.Common(s.readers())
	for _, fact := range append([]string{at.Plan.Purpose}, at.Plan.Facts...) {
		known := slices.ContainsFunc(memories, func(m spaces.MemoryAdded) bool { return strings.EqualFold(m.Fact, fact) })
		if known || s.knows(fact) {
			continue
		}
		memories = append(memories, spaces.MemoryAdded{
			ID: "m" + s.newID(), Fact: fact, What: "space_knowledge", Sources: sources, Readers: readers, Space: room.ID(),
		})
	}
	return memories
}

// dropSetUp ends a set-up that is not wanted.
func (s *stepContext) dropSetUp(room *hud.SharedRoom, at spaces.RoomOnboarding) toolResult {
	if !live(at, s.now) {
		return s.deny("not_open", "Nobody is setting up this room.", "There is nothing to drop.")
	}
	if !declined(s.wake, room, at.Message) {
		return s.deny("not_asked", "No person here has declined.", "What agents and bots say does not count.")
	}
	if s.branch == "" {
		s.noteSetUp(at, spaces.OnboardingNote{Space: room.ID(), State: spaces.SetUpDropped, Seen: s.upto})
	}
	return s.done(map[string]any{})
}

// falls reports whether something of the mind's own stands and falls with what the
// step does to rooms.
func (s *stepContext) falls(b spaces.EventBody) bool {
	if n, ok := b.(spaces.NoteAdded); ok {
		return n.SetUp != nil
	}
	m, ok := b.(spaces.MemoryAdded)
	return ok && slices.Contains(s.bound, m.ID)
}

// noteSetUp keeps how far a room's set-up has come. The buttons below an earlier proposal
// go away.
func (s *stepContext) noteSetUp(at spaces.RoomOnboarding, next spaces.OnboardingNote) {
	if at.Message != "" && at.Message != next.Message {
		s.givenUp = append(s.givenUp, at.Message)
	}
	s.inner = append(s.inner, setUpNote(s.wake.Cycle.ID, next))
}

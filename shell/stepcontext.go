package shell

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// A stepContext is what the acts of one step see and decide. Nothing on it has
// happened: the step's commit makes it so, whole or not at all.
type stepContext struct {
	wake     *spaces.Wake
	view     *hud.MindView
	active   spaces.SpaceID
	branch   spaces.BranchID // of every room, once the agent has forked
	upto     int64           // last event of the trigger space the agent was shown
	guard    *hud.LeakGuard
	settings AgentSettings
	links    linkNotes
	strict   bool // speech fails when others spoke meanwhile
	now      time.Time
	newID    func() string
	phase    spaces.Phase
	call     string                  // of the act being performed
	composed map[string]composedText // for the calls that asked for words
	setUps   []spaces.EventBody      // notes of them that the cycle has yet to commit
	lastFrame
	outside outsideView

	effects []spaces.RoomEffect
	inner   []spaces.EventBody
	timers  []spaces.WakeTimer
	bound   []string // ids of memories and timers that stand and fall with what the step does to rooms
	denials []spaces.Denial
	spoken  []string // what was done in rooms, as [doneIn] names it
	aims    []string // the same, as [aim] names it
	stepEnd
}

// A stepEnd is what the acts of a step say of the end of the cycle.
type stepEnd struct {
	stop       spaces.StopReason // set by an act that ends it
	stopDetail string
	more       bool             // the agent has something else to do after this step
	account    string           // of the cycle, as the agent gave it with an act
	givenUp    []spaces.EventID // questions whose answers are not waited for any longer
}

// A lastFrame is what a step knows of the frame that the model saw.
type lastFrame struct {
	size     int                // in tokens
	recalled []hud.RecalledLine // old lines that it showed
	prompts  *prompts.PromptSet
	spoke    int // messages that the cycle had said by then
	missions missionView
}

// An outsideView is what a step knows of outside tools.
type outsideView struct {
	tools   *ToolRegistry
	toolUse                            // what is known of tools that this step calls
	runs    []spaces.ToolRun           // calls of this step
	read    map[string]*spaces.ToolRun // runs whose results are read on in, by id
	texts   map[string]fileText        // of files, by the calls that read them
	// passages are those of files that answer searches, by their calls.
	passages map[string][]hud.FilePassage
	thread   spaces.ThreadID // of the call whose end woke the cycle
}

// A toolResult is what the model is told about an act.
type toolResult struct {
	ok   bool
	body map[string]any
	text string // a rendering, for acts that look
	refs []spaces.EventID
	note string // the denial's code
	// pending is true for a call of an outside tool: its result comes after the commit.
	pending bool
}

// String returns the tool result as the model reads it (CON-51).
func (o toolResult) String() string {
	if o.text != "" {
		return o.text
	}
	data, err := json.Marshal(o.body)
	if err != nil {
		panic("shell: outcome does not marshal: " + err.Error())
	}
	return string(data)
}

func (s *stepContext) done(body map[string]any) toolResult {
	body["success"] = true
	return toolResult{ok: true, body: body}
}

func (s *stepContext) shown(text string, refs []spaces.EventID) toolResult {
	return toolResult{ok: true, text: text, refs: refs}
}

// keep makes an inner event of what the act decided.
func (s *stepContext) keep(b spaces.EventBody) toolResult {
	s.inner = append(s.inner, b)
	return s.done(map[string]any{})
}

// do adds an effect on a room.
func (s *stepContext) do(e spaces.RoomEffect) toolResult {
	s.effects = append(s.effects, e)
	out := s.done(map[string]any{})
	if e.Kind == spaces.ActSend {
		out.body["messageId"] = hud.Handle(e.ID)
	}
	if e.Branch != "" {
		out.body["rehearsed"] = true
	}
	s.links.add(&out)
	out.refs = []spaces.EventID{e.ID}
	return out
}

// deny refuses the act being performed, as data (PRD-5.1). The caller fills in
// which act it was.
func (s *stepContext) deny(code, reason, hint string) toolResult {
	s.denials = append(s.denials, spaces.Denial{
		Agent: s.wake.Cycle.Mind.Agent, Code: code, Reason: reason, Hint: hint,
		Space: s.active, Cycle: s.wake.Cycle.ID, Phase: string(s.phase), At: s.now,
	})
	body := map[string]any{"success": false, "error": code, "message": reason}
	if hint != "" {
		body["hint"] = hint
	}
	return toolResult{body: body, note: code}
}

func (s *stepContext) noMessage(id string) toolResult {
	return s.deny("unknown_message", "There is no message "+hud.Quote(id)+" here.", "Message ids look like #a7; read_messages shows them.")
}

// room finds a space among the agent's own: by its short id, its name, or its
// id; empty means the active one.
func (s *stepContext) room(name string) (*hud.SharedRoom, toolResult) {
	if name == "" {
		if s.active == "" {
			return nil, s.deny("no_active_space", "No active space: nothing has been entered in this wake.", "Call enter_space with one of your spaces first.")
		}
		name = string(s.active)
	}
	named := s.named(name)
	switch len(named) {
	case 0:
		return nil, s.deny("not_a_member", "You are in no space "+hud.Quote(name)+".", "look spaces shows yours.")
	case 1:
		return named[0].Room, toolResult{}
	}
	return nil, s.deny("ambiguous_space", "Several of your spaces have that name.", "Use the id, such as s2.")
}

// named returns the agent's places that a name fits: one by its short id or its id,
// else all that people call so.
func (s *stepContext) named(name string) []*hud.RoomView {
	var called []*hud.RoomView
	for i := range s.view.Seats {
		seat := &s.view.Seats[i]
		switch {
		case !seat.Uplink.Live:
		case seat.Short == name || string(seat.Room.ID()) == name:
			return []*hud.RoomView{seat}
		case strings.EqualFold(seat.Room.Name(), name):
			called = append(called, seat)
		}
	}
	return called
}

// seat returns the agent's place of that name, or nil when there is no such one.
func (s *stepContext) seat(name string) *hud.RoomView {
	if named := s.named(name); len(named) == 1 {
		return named[0]
	}
	return nil
}

// looked finds a space to look into: one of the agent's own here, or one of
// another circle that the HUD has shown lines of.
func (s *stepContext) looked(name string) (*hud.SharedRoom, toolResult) {
	if seat := s.view.FindRoom(name); seat != nil && s.view.Seat(seat.Uplink.Space) == nil {
		return seat.Room, toolResult{}
	}
	return s.room(name)
}

func (s *stepContext) short(r *hud.SharedRoom) string {
	for _, seat := range s.view.Seats {
		if seat.Room == r {
			return seat.Short
		}
	}
	return string(r.ID())
}

// message finds a message by the id the HUD shows.
func (s *stepContext) message(r *hud.SharedRoom, id string) *spaces.ChatMessage {
	m := r.FindShort(id)
	if m == nil || m.Notice != nil || m.Deleted {
		return nil
	}
	return m
}

func (s *stepContext) self() spaces.EntityID { return s.wake.Cycle.Mind.Agent.Entity() }

// newest returns the newest event that woke the cycle, or "".
func (s *stepContext) newest() spaces.EventID {
	if len(s.wake.Events) == 0 {
		return ""
	}
	return s.wake.Events[len(s.wake.Events)-1].ID
}

// effect starts an effect on a room, in the thread the agent is talking in.
func (s *stepContext) effect(kind spaces.ActionKind, r *hud.SharedRoom) spaces.RoomEffect {
	e := spaces.RoomEffect{
		Kind: kind, Space: r.ID(), Branch: s.branch, ID: spaces.EventID(s.newID()), Seen: r.Upto(),
		Policy: s.settings.OnUnknown, MaxRun: spaces.MaxAgentRun,
	}
	if kind == spaces.ActSend {
		e.Feedback = s.links.settings(r.ID()).Feedback
	}
	if s.settings.Expires > 0 {
		e.Expires = s.now.Add(s.settings.Expires)
	}
	if r.ID() != s.wake.Cycle.Space && s.asker() != "" && s.wake.Timer == nil {
		e.MaxRun = 0 // a person elsewhere asked for it
	}
	if r.ID() == s.wake.Cycle.Space {
		e.Seen, e.MaxRun = s.upto, max(e.MaxRun, threadsThatWait(s.wake)) // each is owed an answer
		e.Strict = s.strict && kind == spaces.ActSend
		if n := len(s.wake.Events); n > 0 {
			e.Thread = s.wake.Events[n-1].Thread
		}
	}
	if t := s.wake.Timer; t != nil && r.ID() == t.Space {
		if t.Kind == spaces.TimerTool || t.Kind == spaces.TimerTask {
			e.Thread = s.outside.thread
		}
		if s.spoke == 0 && len(s.effects) == 0 && s.asker() != "" {
			e.MaxRun = owedRun(t)
		}
	}
	return e
}

// owedRun returns the bound on messages of agents in a row for the first message of a run
// that tells a person what they have asked for earlier: none for the result of a tool, the
// end of a mission, and a recurring reminder. Another one may have been set by a reminder, again and again.
func owedRun(t *spaces.WakeTimer) int {
	if t.Kind == spaces.TimerTool || t.Kind == spaces.TimerTask || t.Cron != "" {
		return 0
	}
	return 8 * spaces.MaxAgentRun
}

// inView returns the events the agent is looking at: those that woke it.
func (s *stepContext) inView() []spaces.EventID {
	ids := make([]spaces.EventID, 0, len(s.wake.Events))
	for _, e := range s.wake.Events {
		ids = append(ids, e.ID)
	}
	return ids
}

// readers returns who may learn what the agent concludes here: who is both in the
// room that woke it, whose words are its sources, and in the active one.
func (s *stepContext) readers() []spaces.EntityID {
	var rooms []spaces.SpaceID
	for _, id := range []spaces.SpaceID{s.wake.Cycle.Space, s.active} {
		if id != "" {
			rooms = append(rooms, id)
		}
	}
	return readersOf(s.view.Seats, rooms)
}

package hud

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A world is a mind with rooms, for tests.
type world struct {
	t     testing.TB
	v     *MindView
	at    time.Time
	seq   map[spaces.SpaceID]int64
	cycle int64
}

var kinds = map[string]spaces.EntityKind{"ada": spaces.Agent, "max": spaces.Agent, "feed": spaces.Bot}

func entity(name string) spaces.Entity {
	id := spaces.EntityID("e-" + name)
	if kinds[name] == spaces.Agent {
		id = spaces.AgentID(name).Entity()
	}
	kind := kinds[name]
	if kind == "" {
		kind = spaces.Human
	}
	return spaces.Entity{ID: id, Kind: kind, Name: strings.ToUpper(name[:1]) + name[1:]}
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	return &world{
		t: tb, at: time.Date(2026, 11, 20, 14, 5, 0, 0, time.UTC), seq: map[spaces.SpaceID]int64{},
		v: &MindView{
			Agent: "ada", Circle: "home", Self: &spaces.InnerState{},
			System: "You are Ada.", FixedTokens: 1000, Counter: &TokenCounter{},
		},
	}
}

// room adds a room with members and returns its id.
func (w *world) room(name string, members ...string) spaces.SpaceID {
	id := spaces.SpaceID("sp-" + strings.ToLower(name))
	r := NewRoom(spaces.Space{ID: id, Kind: spaces.Room, Name: name, Circle: "home", Direct: len(members) == 2})
	var ms []spaces.SpaceMember
	for i, m := range members {
		ms = append(ms, spaces.SpaceMember{Entity: entity(m), Since: int64(i)})
	}
	r.SetMembers(ms)
	w.v.Seats = append(w.v.Seats, RoomView{
		Room: r, Short: fmt.Sprint("s", len(w.v.Seats)+1),
		Uplink: spaces.Uplink{Mind: spaces.Mind{Agent: "ada", Circle: "home"}, Space: id, Live: true, OpenedAt: w.at},
	})
	return id
}

// add applies an event of a room, a minute after the last.
func (w *world) add(room spaces.SpaceID, who string, b spaces.EventBody, more ...func(*spaces.Event)) spaces.Event {
	w.seq[room]++
	w.at = w.at.Add(time.Minute)
	e := spaces.Event{
		Space: room, Branch: spaces.Primary, Seq: w.seq[room], At: w.at, Body: b,
		ID: spaces.EventID(fmt.Sprint(room, "/", w.seq[room])), Actor: entity(who).ID,
	}
	for _, f := range more {
		f(&e)
	}
	w.v.Seat(room).Room.Apply(e)
	return e
}

func (w *world) says(room spaces.SpaceID, who, text string) spaces.Event {
	return w.add(room, who, spaces.MessagePosted{Text: text})
}

func replyTo(id spaces.EventID) func(*spaces.Event) {
	return func(e *spaces.Event) { e.ReplyTo = id }
}

// wake shows what is new in the room as a turn of a new cycle.
func (w *world) wake(room spaces.SpaceID) {
	w.t.Helper()
	w.v.Active = room
	s := w.v.Seat(room)
	triggers := map[spaces.EventID]string{}
	if n := len(s.Room.Chat.Messages); n > 0 {
		triggers[s.Room.Chat.Messages[n-1].ID] = "direct"
	}
	t := w.v.Inbox(s, s.Uplink.Cursor, s.Room.Upto(), triggers, w.at)
	w.v.Current = append(w.v.Current, t)
}

// answers adds the turns of a thought and a sent message.
func (w *world) answers(room spaces.SpaceID, text string) {
	call := fmt.Sprint("c", w.cycle)
	e := w.says(room, "ada", text)
	w.v.Current = append(w.v.Current,
		spaces.TranscriptTurn{Role: spaces.RoleAssistant, Text: "<notes>I should answer.</notes>"},
		spaces.TranscriptTurn{Role: spaces.RoleAssistant, Calls: []spaces.TurnCall{{ID: call, Name: "send_message", Args: `{"text":` + Quote(text) + `}`}}},
		spaces.TranscriptTurn{Role: spaces.RoleTool, CallID: call, Text: `{"messageId":"` + Handle(e.ID) + `","success":true}`, Refs: []spaces.EventID{e.ID}},
	)
}

// rests closes the cycle.
func (w *world) rests(line string) {
	w.cycle++
	s := w.v.Seat(w.v.Active)
	s.Uplink.Cursor = s.Room.Upto()
	w.v.Closed = append(w.v.Closed, spaces.ClosedCycle{
		ID: spaces.CycleID(fmt.Sprint("cy", w.cycle)), N: w.cycle, Space: w.v.Active, Rest: line, Ended: w.at, Turns: w.v.Current,
	})
	w.v.Current = nil
}

// cut takes a keyframe and moves the absorbed cycles.
func (w *world) cut(cause string) FramePlan {
	k, p := w.v.Cut(cause)
	k.At = w.at
	for len(w.v.Closed) > 0 && w.v.Closed[0].N <= k.Upto {
		c := w.v.Closed[0]
		c.Turns = nil
		w.v.Earlier, w.v.Closed = append(w.v.Earlier, c), w.v.Closed[1:]
	}
	w.v.Keyframe = &k
	return p
}

func (w *world) tail() FrameTail {
	return w.v.Tail(TailInput{Now: w.at, Phase: "ENGAGEMENT: act, or rest.", Recalled: w.v.Recall("", w.v.Limits.withDefaults().RecallTokens)})
}

func (w *world) frame() Frame {
	w.t.Helper()
	f, err := w.v.Frame(w.tail())
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// String writes a frame as golden files have it.
func (f Frame) golden() string {
	var b strings.Builder
	for _, m := range f.Messages() {
		fmt.Fprintf(&b, "--- %s %s\n", m.Role, m.CallID)
		if m.Text != "" {
			b.WriteString(m.Text + "\n")
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "call %s %s %s\n", c.ID, c.Name, c.Args)
		}
	}
	return b.String()
}

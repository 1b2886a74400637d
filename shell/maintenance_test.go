package shell

import (
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/latch"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-5.2: our own bug in one mind stays with what met it: nothing is locked for good.
func TestAPanicLocksNobodyOut(t *testing.T) {
	id := spaces.Mind{Agent: "ada", Circle: "home"}
	s := New(Options{ // without a counter, so that counting panics
		Agents: []Agent{{ID: "ada", Name: "Ada"}}, Logger: slog.New(slog.DiscardHandler),
		Settings: func(spaces.AgentID, spaces.SpaceID) AgentSettings { return DefaultSettings() },
	})
	m := s.minds.get(id)
	m.loaded = true
	m.closed = []spaces.ClosedCycle{{N: 1, Turns: []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: strings.Repeat("many words ", 20_000)}}}}
	for name, do := range map[string]func(){
		"tending": func() { s.tend(t.Context(), wakeKey{mind: id}) },
		"cutting": func() { _ = m.cut(t.Context(), cycleConfig{agent: s.agent("ada"), settings: DefaultSettings()}, "") },
		"folding": func() {
			fold(&m.mu, hud.NewRoom(spaces.Space{}), []spaces.Event{{Seq: 1, Body: spaces.MessagePosted{}}}, func(spaces.Event) { panic("no") })
		},
	} {
		func() {
			defer func() { _ = recover() }()
			do()
		}()
		if !m.mu.TryLock() {
			t.Errorf("after %s the lock of the mind is held", name)
			m.mu = sync.Mutex{}
		} else {
			m.mu.Unlock()
		}
		if len(m.loading) > 0 {
			t.Errorf("after %s the latch of loading is held", name)
			m.loading = latch.New()
		}
	}
}

// A mind that rests has its rooms ready for a question that looks back at all of them.
func TestARestingMindIsPreparedForLooksBack(t *testing.T) {
	id := spaces.Mind{Agent: "ada", Circle: "home"}
	s := New(Options{
		Agents: []Agent{{ID: "ada", Name: "Ada"}}, Logger: slog.New(slog.DiscardHandler), Counter: new(hud.TokenCounter),
		Settings: func(spaces.AgentID, spaces.SpaceID) AgentSettings { return DefaultSettings() },
	})
	room := hud.NewRoom(spaces.Space{ID: "sp"})
	for n := range int64(2*preparedLines + 10) {
		room.Apply(spaces.Event{Seq: n + 1, ID: spaces.EventID(strconv.FormatInt(n, 10)), Actor: "e-kai", Body: spaces.MessagePosted{Text: "we take the train"}})
	}
	m := s.minds.get(id)
	m.loaded = true
	m.seats = []hud.RoomView{{Room: room, Uplink: spaces.Uplink{Mind: id, Space: "sp"}}}
	s.tend(t.Context(), wakeKey{id, "sp"})
	v := hud.MindView{Seats: m.seats}
	if hud.PrepareLookBacks(&v, 1) {
		t.Error("the mind rests, and lines are left to be read")
	}
}

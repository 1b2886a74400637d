package shell

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/spaces"
)

// A ledger is a record of one room and one mind that costs next to nothing, so that a
// benchmark measures the shell.
type ledger struct {
	LogReader
	uplink  spaces.Uplink
	members []spaces.SpaceMember
	events  []spaces.Event
	closed  int64
}

func (l *ledger) Space(context.Context, spaces.SpaceID) (spaces.Space, []spaces.SpaceMember, error) {
	return spaces.Space{ID: "s", Kind: spaces.Room, Name: "Family", Circle: "home"}, l.members, nil
}

func (l *ledger) Events(_ context.Context, _ spaces.SpaceID, _ spaces.BranchID, after int64, limit int) ([]spaces.Event, error) {
	return l.events[after:min(int(after)+limit, len(l.events))], nil
}

func (l *ledger) Uplinks(context.Context, spaces.Mind) ([]spaces.Uplink, error) {
	l.uplink.Head = int64(len(l.events))
	return []spaces.Uplink{l.uplink}, nil
}

func (l *ledger) Self(context.Context, spaces.Mind) ([]spaces.Event, error) { return nil, nil }

func (l *ledger) Plans(context.Context, spaces.Mind, int) ([]spaces.WakeTimer, error) {
	return nil, nil
}

func (l *ledger) Waits(context.Context, spaces.Mind) ([]spaces.PendingWait, error) { return nil, nil }

func (l *ledger) Keyframe(context.Context, spaces.Mind) (*spaces.Keyframe, error) { return nil, nil }

func (l *ledger) SpentBySenders(context.Context, time.Time, spaces.CycleID) (money.UsedTokens, error) {
	return money.UsedTokens{}, nil
}

func (l *ledger) AnswerForms(context.Context, spaces.AgentID, string, int) ([]spaces.AnswerForm, error) {
	return nil, nil
}

func (l *ledger) Spans(context.Context, spaces.Mind, spaces.SpaceID, int) ([]spaces.ConnectionSpan, error) {
	return nil, nil
}

func (l *ledger) Cycles(context.Context, spaces.Mind, int64, bool, int) ([]spaces.ClosedCycle, error) {
	return nil, nil
}

func (l *ledger) Spent(context.Context, time.Time, spaces.AgentID, spaces.SpaceID) (UsageToday, error) {
	return UsageToday{}, nil
}

func (l *ledger) Failures(context.Context, spaces.Mind, time.Time) ([]spaces.SendFailed, error) {
	return nil, nil
}

func (l *ledger) say(who spaces.EntityID, id, text string) spaces.Event {
	e := spaces.Event{
		Space: "s", Branch: spaces.Primary, Seq: int64(len(l.events)) + 1, ID: spaces.EventID(id), Actor: who, At: time.Now(),
		Root: spaces.EventID(id), Body: spaces.MessagePosted{Text: text},
	}
	l.events = append(l.events, e)
	return e
}

// A journal takes what the steps decide into the ledger.
type benchJournal struct {
	CycleStore
	ledger *ledger
}

func (j benchJournal) Commit(_ context.Context, c spaces.StepCommit) (spaces.CommitResult, error) {
	done := spaces.CommitResult{Head: int64(len(j.ledger.events))}
	for _, e := range c.Effect {
		done.Events = append(done.Events, j.ledger.say("agent:ada", string(e.ID), e.Text))
	}
	if c.Close != nil {
		j.ledger.closed++
		j.ledger.uplink.Cursor, done.N = c.Upto, j.ledger.closed
	}
	return done, nil
}

func (j benchJournal) Announce(context.Context, spaces.RoomNotice) error { return nil }

func (j benchJournal) Cut(context.Context, string, spaces.Keyframe, spaces.ContextCompacted) error {
	return nil
}

// answering thinks, says something, and rests.
type answering struct{ n int }

func (a *answering) Generate(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	a.n++
	u := llm.TokenUsage{Prompt: 1000, Output: 20}
	switch {
	case r.NoCalls:
		return llm.ModelResponse{Text: "Kai asks about lunch.", Finish: llm.Stopped, Usage: u}, nil
	case r.Messages[len(r.Messages)-2].Role == llm.Result:
		return llm.ModelResponse{Text: "Responded to Kai about lunch. Told him when. Nothing pending.", Finish: llm.Stopped, Usage: u}, nil
	}
	return llm.ModelResponse{
		Calls: []llm.ToolCall{{ID: fmt.Sprint("call_", a.n), Name: "send_message", Args: `{"text":"At noon, as always; bring the others."}`}}, Finish: llm.Called, Usage: u,
	}, nil
}

// words returns so many made-up words, others for each seed.
func words(n, seed int) string {
	r, text := rand.New(rand.NewPCG(1, uint64(seed))), ""
	for range n {
		text += " " + []string{"ma", "ko", "ri", "ten", "lu", "sa"}[r.IntN(6)] + []string{"pe", "do", "lim", "far", "nu", "gat", "bo"}[r.IntN(7)] + []string{"", "s", "n", "der", "ki"}[r.IntN(5)]
	}
	return text[1:]
}

// BenchmarkMessage is one message, from the wake to the rest line, with a model and a
// record that answer at once.
func BenchmarkMessage(b *testing.B) {
	p := wakeKey{spaces.Mind{Agent: "ada", Circle: "home"}, "s"}
	l := &ledger{uplink: spaces.Uplink{Mind: p.mind, Space: "s", Live: true}}
	for i, id := range []string{"agent:ada", "kai", "nova", "zoe"} {
		kind := spaces.Human
		if i == 0 {
			kind = spaces.Agent
		}
		l.members = append(l.members, spaces.SpaceMember{Since: int64(i), Entity: spaces.Entity{ID: spaces.EntityID(id), Name: "Name " + id, Kind: kind}})
	}
	n := 0
	s := New(Options{
		Journal: benchJournal{ledger: l}, Record: l, Agents: []Agent{{ID: "ada", Name: "Ada", Model: &answering{}}},
		Settings: func(spaces.AgentID, spaces.SpaceID) AgentSettings { return DefaultSettings() },
		Counter:  &hud.TokenCounter{}, NewID: func() string { n++; return fmt.Sprint("id-", n) }, Logger: slog.New(slog.DiscardHandler),
	})
	message := func() {
		e := l.say("kai", fmt.Sprint("e-", len(l.events)), "@Ada when do we "+words(8, len(l.events))+", and who is "+words(3, len(l.events))+"?")
		w := &spaces.Wake{
			Cycle:  spaces.Cycle{ID: spaces.CycleID(fmt.Sprint("c-", l.closed)), Mind: p.mind, Space: "s", Active: "s", Base: l.closed, Upto: e.Seq - 1, Wake: GateMention, Started: e.At, Authority: spaces.OfOwner},
			Rows:   []spaces.InboxRow{{Mind: p.mind, Space: "s", Seq: e.Seq, Event: e.ID, Reason: GateMention}},
			Events: []spaces.Event{e}, Consumed: []spaces.ConsumedRow{{Event: e.ID, Root: e.ID, At: e.Seq}}, Head: e.Seq,
		}
		s.mu.Lock()
		s.begins(p)
		s.mu.Unlock()
		if err := s.run(b.Context(), p, w); err != nil {
			b.Fatal(err)
		}
		s.finished(p, nil)
		s.tend(b.Context(), p)
	}
	for range 40 {
		message()
	}
	b.ReportAllocs()
	for b.Loop() {
		message()
	}
}

// BenchmarkMentions is what the gate asks of every message.
func BenchmarkMentions(b *testing.B) {
	members := make([]spaces.SpaceMember, 5000)
	for i := range members {
		name := words(2, i)
		members[i].Entity = spaces.Entity{ID: spaces.EntityID(fmt.Sprint("e", i)), Name: name, Handle: "h" + name}
	}
	for _, c := range []struct {
		name, text string
		of         int
	}{{"none", words(9, 1), 4}, {"one", "@" + words(9, 2), 4}, {"in a crowd", "@" + words(9, 77), 5000}, {"hostile", strings.Repeat("@m ", 1365), 5000}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ParseMentions(c.text, members[:c.of])
			}
		})
	}
}

package sqlite

import (
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// A bench is a room with one agent, and messages to it.
type bench struct {
	s    *sqlstore.Store
	room spaces.SpaceID
	mind spaces.Mind
	chat string
}

func newBench(b *testing.B) bench {
	b.Helper()
	return benchOf(b, openIn(b, b.TempDir()))
}

func benchOf(tb testing.TB, s *sqlstore.Store) bench {
	tb.Helper()
	return benchAt(tb, s, "home", "100")
}

// benchAt is one of several, a chat of its own circle.
func benchAt(tb testing.TB, s *sqlstore.Store, circle spaces.CircleID, chat string) bench {
	tb.Helper()
	return bench{s, openChat(tb, s, circle, chat), spaces.Mind{Agent: "ada", Circle: circle}, chat}
}

func (w bench) claim(tb testing.TB) (*spaces.Wake, error) {
	tb.Helper()
	return w.s.Shell().Claim(tb.Context(), spaces.WakeClaim{
		Mind: w.mind, Space: w.room, Holder: "p", TTL: time.Minute, At: start, Judge: letIn,
	})
}

// openRoom opens a room of one chat with ada in it.
func openRoom(tb testing.TB, s *sqlstore.Store) spaces.SpaceID {
	tb.Helper()
	return openChat(tb, s, "home", "100")
}

func openChat(tb testing.TB, s *sqlstore.Store, circle spaces.CircleID, chat string) spaces.SpaceID {
	tb.Helper()
	p, err := s.Border().Open(tb.Context(), spaces.OpenRequest{
		Name: "Family", Circle: circle, Agents: []spaces.AgentID{"ada"}, At: start,
		Chats: []spaces.ChatMapping{{Account: "telegram:1", Chat: chat, Live: true}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return p.Space
}

// message is the n-th message in a room.
func message(room spaces.SpaceID, n int) spaces.IngestBatch { return messageIn(room, "100", n) }

func messageIn(room spaces.SpaceID, chat string, n int) spaces.IngestBatch {
	id := strconv.Itoa(n)
	return spaces.IngestBatch{
		Account: "telegram:1", Cursor: []byte(id), At: start,
		Items: []spaces.IngestItem{{
			Event: spaces.Event{
				Space: room, Object: spaces.ChatObject, At: start, Source: "m" + id,
				Body: spaces.MessagePosted{Text: "Could you look at the numbers of last week, please? They look odd to me."},
			},
			From: spaces.PlatformIdentity{Platform: "telegram", User: "7", Kind: spaces.Human, Name: "Zoe"},
			Ref:  spaces.MessageRef{Account: "telegram:1", Chat: chat, Message: id},
		}},
	}
}

// work reports the processor's time for each of n messages, which says more than
// the clock where the disk is shared.
func work(b *testing.B) func(n int) {
	b.Helper()
	used := func() time.Duration {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	return func(n int) { b.ReportMetric(float64((used()-before).Microseconds())/float64(n), "cpu-µs/op") }
}

func BenchmarkRecordOne(b *testing.B) {
	w := newBench(b)
	b.ReportAllocs()
	n, report := 0, work(b)
	for b.Loop() {
		n++
		if _, err := w.s.Border().Record(b.Context(), message(w.room, n)); err != nil {
			b.Fatal(err)
		}
	}
	report(n)
}

func BenchmarkRecordGrouped(b *testing.B) {
	w := newBench(b)
	const writers = 64
	next := make(chan int)
	done := make(chan error, writers)
	for range writers {
		go func() {
			for n := range next {
				if _, err := w.s.Border().Record(b.Context(), message(w.room, n)); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	b.ReportAllocs()
	before, n, report := w.s.Commits(), 0, work(b)
	for b.Loop() {
		n++
		next <- n
	}
	close(next)
	for range writers {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	report(n)
	b.ReportMetric(float64(n)/float64(w.s.Commits()-before), "jobs/commit")
}

// BenchmarkFullMessagePath is everything the record does for one message and its
// answer: record, claim, two steps, and the settling of the send.
func BenchmarkFullMessagePath(b *testing.B) {
	w := newBench(b)
	b.ReportAllocs()
	n, report := 0, work(b)
	for b.Loop() {
		n++
		if err := w.converse(b, n); err != nil {
			b.Fatal(err)
		}
	}
	report(n)
}

// BenchmarkFullPathOfManyRooms is the same for fifty chats at once, whose writes
// share commits.
func BenchmarkFullPathOfManyRooms(b *testing.B) {
	const rooms = 50
	s := openIn(b, b.TempDir())
	next, done := make(chan int), make(chan error, rooms)
	for i := range rooms {
		w := benchAt(b, s, spaces.CircleID("home"+strconv.Itoa(i)), strconv.Itoa(100+i))
		go func() {
			for n := range next {
				if err := w.converse(b, n); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	b.ReportAllocs()
	before, n, report := s.Commits(), 0, work(b)
	for b.Loop() {
		n++
		next <- n
	}
	close(next)
	for range rooms {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	report(n)
	b.ReportMetric(float64(n)/float64(s.Commits()-before), "messages/commit")
}

func (w bench) converse(b *testing.B, n int) error {
	b.Helper()
	return w.take(b, n, messageIn(w.room, w.chat, n))
}

// take records what came in, answers it once and settles the send, the n-th.
func (w bench) take(b *testing.B, n int, came spaces.IngestBatch) error {
	b.Helper()
	if _, err := w.s.Border().Record(b.Context(), came); err != nil {
		return err
	}
	sent, err := w.answer(b)
	if err != nil {
		return err
	}
	return w.s.Border().Settle(b.Context(), start, []activity.SendResult{{
		Action: sent.ID, State: spaces.ActionSent, Ref: spaces.MessageRef{Account: "telegram:1", Chat: w.chat, Message: "o" + strconv.Itoa(n)},
	}})
}

// answer runs the cycle and returns the send, which is under way then.
func (w bench) answer(b *testing.B) (spaces.Action, error) {
	b.Helper()
	wake, err := w.claim(b)
	if err != nil {
		return spaces.Action{}, err
	}
	last := wake.Rows[len(wake.Rows)-1].Seq
	c := spaces.StepCommit{Lease: wake.Lease, Active: w.room, Upto: last, At: start, Judge: letIn}
	c.Step = spaces.Step{Cycle: wake.Cycle.ID, Phase: spaces.Contemplation, Usage: spaces.TokenUsage{Prompt: 900, Output: 40, Calls: 1}, At: start, Frame: make([]byte, 800)}
	c.Inner = []spaces.EventBody{spaces.ThoughtRecorded{Cycle: wake.Cycle.ID, Text: "She asks for numbers."}, spaces.StatesChanged{Moves: make([]spaces.StateTransition, 2)}}
	c.Turns = []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "INBOX …", Tokens: 40}, {Role: spaces.RoleAssistant, Text: "She asks for numbers.", Tokens: 8}}
	if _, err := w.s.Shell().Commit(b.Context(), c); err != nil {
		return spaces.Action{}, err
	}
	c.Step.N, c.Step.Phase = 1, spaces.Engagement
	id := spaces.EventID(newID())
	c.Inner = []spaces.EventBody{spaces.ToolCalled{Cycle: wake.Cycle.ID, Name: "send_message", Args: "{}"}, spaces.ToolReturned{Cycle: wake.Cycle.ID, OK: true}, spaces.StatesChanged{Moves: make([]spaces.StateTransition, 2)}}
	c.Effect = []spaces.RoomEffect{{
		Kind: spaces.ActSend, Space: w.room, ID: id, Text: "I looked: the export ran twice on Tuesday, so every sum is doubled.",
		Chain: spaces.NextChain(wake.Consumed, "", id), Seen: last, Strict: true, Expires: start.Add(time.Hour), Policy: spaces.ResendOnce,
	}}
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Responded to Zoe about numbers."}
	c.Leaves = func(spaces.Action) bool { return true }
	done, err := w.s.Shell().Commit(b.Context(), c)
	if err != nil {
		return spaces.Action{}, err
	}
	return done.Leaving[0], nil
}

func letIn(j spaces.GateInput) []spaces.GateDecision {
	out := make([]spaces.GateDecision, len(j.Rows))
	for i, r := range j.Rows {
		out[i] = spaces.GateDecision{Seq: r.Seq, Wake: true, Reason: "direct"}
	}
	return out
}

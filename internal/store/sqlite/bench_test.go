package sqlite

import (
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/record"
	"github.com/trestle-bridge/trestle/spaces"
)

// A bench is a room with one agent, and messages to it.
type bench struct {
	s    *record.Store
	room spaces.SpaceID
	mind spaces.Mind
}

func newBench(b *testing.B) bench {
	b.Helper()
	return benchOf(b, openIn(b, b.TempDir()))
}

func benchOf(tb testing.TB, s *record.Store) bench {
	tb.Helper()
	return bench{s, openRoom(tb, s), spaces.Mind{Agent: "ada", Circle: "home"}}
}

func (w bench) claim(tb testing.TB) (*spaces.Wake, error) {
	tb.Helper()
	return w.s.Shell().Claim(tb.Context(), spaces.Claim{
		Mind: w.mind, Space: w.room, Holder: "p", TTL: time.Minute, At: start, Judge: letIn,
	})
}

// openRoom opens a room of one chat with ada in it.
func openRoom(tb testing.TB, s *record.Store) spaces.SpaceID {
	tb.Helper()
	p, err := s.Border().Open(tb.Context(), spaces.Opening{
		Name: "Family", Circle: "home", Agents: []spaces.AgentID{"ada"}, At: start,
		Chats: []spaces.Mapping{{Account: "telegram:1", Chat: "100", Live: true}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return p.Space
}

// message is the n-th message in a room.
func message(room spaces.SpaceID, n int) spaces.Intake {
	id := strconv.Itoa(n)
	return spaces.Intake{
		Account: "telegram:1", Cursor: []byte(id), At: start,
		Items: []spaces.Incoming{{
			Event: spaces.Event{
				Space: room, Object: spaces.ChatObject, At: start, Source: "m" + id,
				Body: spaces.Said{Text: "Could you look at the numbers of last week, please? They look odd to me."},
			},
			From: spaces.Identity{Platform: "telegram", User: "7", Kind: spaces.Human, Name: "Zoe"},
			Ref:  spaces.Ref{Account: "telegram:1", Chat: "100", Message: id},
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
// answer: record, claim, two steps, claim and settle of the send.
func BenchmarkFullMessagePath(b *testing.B) {
	w := newBench(b)
	b.ReportAllocs()
	n, report := 0, work(b)
	for b.Loop() {
		n++
		if _, err := w.s.Border().Record(b.Context(), message(w.room, n)); err != nil {
			b.Fatal(err)
		}
		if err := w.answer(b); err != nil {
			b.Fatal(err)
		}
		if err := w.send(b, n); err != nil {
			b.Fatal(err)
		}
	}
	report(n)
}

func (w bench) answer(b *testing.B) error {
	b.Helper()
	wake, err := w.claim(b)
	if err != nil {
		return err
	}
	c := spaces.StepCommit{Lease: wake.Lease, Active: w.room, Upto: wake.Rows[0].Seq, At: start, Judge: letIn}
	c.Step = spaces.Step{Cycle: wake.Cycle.ID, Phase: spaces.Contemplation, Usage: spaces.Usage{Prompt: 900, Output: 40, Calls: 1}, At: start, Frame: make([]byte, 800)}
	c.Inner = []spaces.Body{spaces.Thought{Cycle: wake.Cycle.ID, Text: "She asks for numbers."}, spaces.Transitioned{Moves: make([]spaces.Transition, 2)}}
	c.Turns = []spaces.Turn{{Role: spaces.RoleUser, Text: "INBOX …", Tokens: 40}, {Role: spaces.RoleAssistant, Text: "She asks for numbers.", Tokens: 8}}
	if _, err := w.s.Shell().Commit(b.Context(), c); err != nil {
		return err
	}
	c.Step.N, c.Step.Phase = 1, spaces.Engagement
	id := spaces.EventID(newID())
	c.Inner = []spaces.Body{spaces.Acted{Cycle: wake.Cycle.ID, Name: "send_message", Args: "{}"}, spaces.Result{Cycle: wake.Cycle.ID, OK: true}, spaces.Transitioned{Moves: make([]spaces.Transition, 2)}}
	c.Effect = []spaces.Effect{{
		Kind: spaces.ActSend, Space: w.room, ID: id, Text: "I looked: the export ran twice on Tuesday, so every sum is doubled.",
		Chain: spaces.NextChain(wake.Consumed, "", id), Seen: wake.Rows[0].Seq, Strict: true, Expires: start.Add(time.Hour),
	}}
	c.Close = &spaces.Closing{Stop: spaces.StopCompleted, Rest: "Responded to Zoe about numbers."}
	_, err = w.s.Shell().Commit(b.Context(), c)
	return err
}

func (w bench) send(b *testing.B, n int) error {
	b.Helper()
	due, err := w.s.Border().Claim(b.Context(), "telegram:1", start, 10)
	if err != nil {
		return err
	}
	return w.s.Border().Settle(b.Context(), start, []activity.Settlement{{
		Action: due[0].ID, State: spaces.ActionSent, Ref: spaces.Ref{Account: "telegram:1", Chat: "100", Message: "o" + strconv.Itoa(n)},
	}})
}

func letIn(j spaces.Judged) []spaces.Verdict {
	out := make([]spaces.Verdict, len(j.Rows))
	for i, r := range j.Rows {
		out[i] = spaces.Verdict{Seq: r.Seq, Wake: true, Reason: "direct"}
	}
	return out
}

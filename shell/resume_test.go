package shell_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var errKilled = errors.New("killed")

// A reaper kills the process at the n-th point it passes. A dead process neither
// reads nor writes any more. One that is merciful only has the point fail.
type reaper struct {
	kill     func()
	merciful bool

	mu     sync.Mutex // guards all below, while a process runs
	at     int        // 0: never
	passed []string
	dead   bool
}

// pass notes a point, and returns an error once the process is dead.
func (r *reaper) pass(point string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead {
		return errKilled
	}
	r.passed = append(r.passed, point)
	if len(r.passed) == r.at {
		if !r.merciful {
			r.dead = true
			r.kill()
		}
		return errKilled
	}
	return nil
}

// A mortal record passes a point before and after everything it makes durable.
type mortal struct {
	ports
	reaper *reaper
}

func (m mortal) Claim(ctx context.Context, c spaces.WakeClaim) (*spaces.Wake, error) {
	return around(m.reaper, "claim", func() (*spaces.Wake, error) { return m.ports.Claim(ctx, c) })
}

func (m mortal) Commit(ctx context.Context, c spaces.StepCommit) (spaces.CommitResult, error) {
	return around(m.reaper, fmt.Sprintf("commit %d", c.Step.N), func() (spaces.CommitResult, error) { return m.ports.Commit(ctx, c) })
}

func (m mortal) Failures(ctx context.Context, id spaces.Mind, since time.Time) ([]spaces.SendFailed, error) {
	if err := m.reaper.pass("read"); err != nil {
		return nil, err
	}
	return m.ports.Failures(ctx, id, since)
}

func (m mortal) Cut(ctx context.Context, holder string, k spaces.Keyframe, c spaces.ContextCompacted) error {
	_, err := around(m.reaper, "cut", func() (struct{}, error) { return struct{}{}, m.ports.Cut(ctx, holder, k, c) })
	return err
}

func around[R any](r *reaper, what string, do func() (R, error)) (none R, err error) {
	if err := r.pass("before " + what); err != nil {
		return none, err
	}
	res, err := do()
	if err != nil {
		return none, err
	}
	return res, r.pass("after " + what)
}

// steady is the model of these tests: a thought, a note beside a look, a message,
// and rest. Asked again it says the same.
func steady(r *reaper, asked *int) llm.ChatModel {
	return mindful(func(_ context.Context, req llm.ModelRequest) (llm.ModelResponse, error) {
		if err := r.pass("before model"); err != nil {
			return llm.ModelResponse{}, err
		}
		*asked++
		res := telling("Responded to Kai about lunch. Told him when. Nothing pending.")
		switch n := acts(req); {
		case req.NoCalls:
			res = telling("Kai is hungry.\n<notes>Kai asks about lunch</notes>")
		case n == 0:
			res = calling(1, "note", `{"text":"lunch is at noon"}`)
		case n == 1:
			res = calling(2, "send_message", `{"text":"At noon."}`)
		}
		return res, r.pass("after model")
	})
}

// A life is what is left of one cycle, whatever happened on the way.
type life struct {
	Room, Inner []string
	Sends       []string
	Frames      []string // what the next cycle remembers of it
}

// live plays one cycle of four steps, killed once at the n-th point, or only failed
// there by the record.
func liveOnce(t *testing.T, n int, merciful bool) (got life, passed []string, asked int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, began := &reaper{at: n, merciful: merciful}, time.Now()
		w := newWorld(t, steady(r, &asked))
		room := w.room("kai", direct)
		w.ports = func(s sqlstore.AgentStore) ports { return mortal{s, r} }
		r.kill = func() { w.cancel() }
		w.says(room, "Kai", "when is lunch?")
		w.start()
		synctest.Wait()
		if n > 0 && !merciful {
			w.crash()
			passed = r.passed
			*r = reaper{kill: r.kill}
			w.start()
		}
		w.settle()
		w.stop()
		if n == 0 || merciful {
			passed = r.passed
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("it took %s until the cycle was over", took)
		}
		got = w.life(room)
		w.sound()
	})
	return got, passed, asked
}

// life tells what is in the record, without ids and times.
func (w *world) life(room spaces.SpaceID) (l life) {
	w.t.Helper()
	for _, e := range w.log(room) {
		l.Room = append(l.Room, tell(e))
	}
	for _, e := range w.inner(mind("Ada")) {
		switch e.Body.(type) {
		case spaces.SpanChanged, spaces.StatesChanged: // tell of the process, not of the cycle
		default:
			l.Inner = append(l.Inner, tell(e))
		}
	}
	due, err := w.store.Border().Claim(w.t.Context(), account, time.Now(), 10)
	w.ok(err)
	for _, a := range due {
		l.Sends = append(l.Sends, fmt.Sprintf("%d %s %q", a.Ordinal, a.Kind, a.Text))
	}
	closed, err := w.store.Shell().Cycles(w.t.Context(), mind("Ada"), 0, true, 10)
	w.ok(err)
	for _, c := range closed {
		for _, turn := range c.Turns {
			l.Frames = append(l.Frames, fmt.Sprintf("%d/%d %s %s %v", c.N, turn.N, turn.Role, w.plain(turn.Text), turn.Calls))
		}
	}
	return l
}

// plain takes the ids out of a text.
func (w *world) plain(text string) string {
	if before, _, found := strings.Cut(text, `"messageId":"`); found {
		return before + "messageId}"
	}
	if before, after, found := strings.Cut(text, "of what you asked ~"); found {
		_, after, _ = strings.Cut(after, " ")
		return before + "of what you asked " + after
	}
	return text
}

// tell renders an event without what a crash may change.
func tell(e spaces.Event) string {
	words := ""
	switch b := e.Body.(type) {
	case spaces.MessagePosted:
		words = b.Text
	case spaces.ThoughtRecorded:
		words = b.Text
	case spaces.NoteAdded:
		words = b.Label + " " + b.Text
	case spaces.ToolCalled:
		words = fmt.Sprintf("%d %s %s", b.Step, b.Name, b.Args)
	case spaces.ToolReturned:
		words = fmt.Sprintf("%d %v %s", b.Step, b.OK, b.Note)
	case spaces.CycleSummarised:
		words = fmt.Sprintf("%d %s", b.N, b.Text)
	case spaces.CycleStopped:
		words = string(b.Reason) + " " + b.Detail
	case spaces.CycleStarted:
		words = b.Reason
	case spaces.ContextCompacted:
		words = b.Cause
	default:
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %d %q", e.Body.Kind(), e.Actor, e.Depth, words))
}

// K7 – K10, K13 – K15, DELIVERY 2.3, CON-30, CON-34, I5, PRD-7.1-A2: wherever the process
// is killed, the next one leaves exactly the record that an undisturbed one leaves,
// with one message; what was answered and recorded is not asked again.
func TestAKilledCycleEndsAsIfNothingHappened(t *testing.T) {
	want, points, calls := liveOnce(t, 0, false)
	if len(want.Sends) != 1 || calls != 4 || len(points) < 20 {
		t.Fatalf("undisturbed: sends %q, %d calls, points %q", want.Sends, calls, points)
	}
	for n := 1; n <= len(points); n += len(points) / testutil.Repeats(len(points)) {
		t.Run(fmt.Sprintf("%02d %s", n, points[n-1]), func(t *testing.T) {
			got, passed, asked := liveOnce(t, n, false)
			if diff := cmp.Diff(points[:n], passed); diff != "" {
				t.Fatalf("the way to the kill (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the record (-undisturbed +killed):\n%s", diff)
			}
			again := 0 // the answer that was received and not recorded
			if p := points[n-1]; p == "after model" || strings.HasPrefix(p, "before commit") {
				again = 1
			}
			if asked != calls+again {
				t.Errorf("the model was asked %d times, want %d", asked, calls+again)
			}
		})
	}
}

// F35, F36, DELIVERY 2.7: where the record fails once, before or after it has made
// something durable, the process itself goes on with the cycle, long before its
// lease has run out, and leaves the record that an undisturbed one leaves.
func TestACycleThatBrokeOffGoesOn(t *testing.T) {
	want, points, _ := liveOnce(t, 0, true)
	for n, point := range points {
		if strings.Contains(point, "model") {
			continue
		}
		t.Run(fmt.Sprintf("%02d %s", n+1, point), func(t *testing.T) {
			got, _, _ := liveOnce(t, n+1, true)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the record (-undisturbed +failed once):\n%s", diff)
			}
		})
	}
}

// F35, DELIVERY 2.7: an intake whose commit failed says nothing of what its claims
// got. A cycle that broke off before is not forgotten by it, and one that it began
// after all is found; both go on long before their leases run out.
func TestAnIntakeThatFailedLeavesNoCycleBehind(t *testing.T) {
	errAway := errors.New("the server is away")
	for name, at := range map[string]int{"broke off before": 7, "began with it": 0} {
		t.Run(name, func(t *testing.T) {
			r := &reaper{at: at, merciful: true}
			asked := 0
			play(t, steady(r, &asked), func(w *world) {
				room := w.room("kai", direct)
				w.ports = func(s sqlstore.AgentStore) ports { return mortal{s, r} }
				w.start()
				synctest.Wait()
				in := spaces.IngestBatch{Account: account, Items: []spaces.IngestItem{w.update(room, "Kai", spaces.MessagePosted{Text: "when is lunch?"})}, At: time.Now()}
				var claims []spaces.WakeClaim
				in.Claims = func(ws []spaces.PendingWork) []spaces.WakeClaim { claims = w.shell.Claims(ws); return claims }
				done, err := w.store.Border().Record(w.t.Context(), in)
				w.ok(err)
				if at > 0 {
					w.shell.Claimed(claims, done.Woken, nil)
					synctest.Wait()
					claims = w.shell.Claims([]spaces.PendingWork{{Mind: mind("Ada"), Space: room}})
				}
				if len(claims) != 1 || w.shell.Idle() {
					w.t.Fatalf("%d claims, idle %v: the test has lost its way", len(claims), w.shell.Idle())
				}
				w.shell.Claimed(claims, nil, errAway)
				pass(15 * time.Second)
				if got := w.stops(mind("Ada")); len(got) != 1 {
					w.t.Errorf("%d cycles came to their end, want one; passed %q", len(got), r.passed)
				}
			})
		})
	}
}

// K27, I8: a process whose lease ran out while its model was thinking is
// refused; the one that took over has the only word.
func TestALateHolderIsRefused(t *testing.T) {
	var mu sync.Mutex // guards first
	first := true
	slow := mindful(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		mu.Lock()
		wait := first
		first = false
		mu.Unlock()
		if wait {
			<-time.After(time.Hour) // deaf to everything, as a paused process is
		}
		switch {
		case r.NoCalls:
			return telling("hm"), nil
		case acts(r) == 0:
			return calling(1, "send_message", `{"text":"once"}`), nil
		}
		return telling("Responded to Kai. Done."), nil
	})
	play(t, slow, func(w *world) {
		w.poll = 10 * time.Second
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "hello")
		synctest.Wait()
		late := w.end
		w.start() // another process on the same record
		pass(2 * time.Hour)
		w.settle()
		late()
		if got := w.spoken(room); len(got) != 1 {
			t.Errorf("said %q, want one message", got)
		}
		testutil.Same(t, "stop reasons", []spaces.StopReason{spaces.StopCompleted}, w.stops(mind("Ada")))
	})
}

// K13, DELIVERY 2.8: a cycle that spoke before its process ended does not speak
// again: neither when the model fails afterwards, nor when it asks for the same.
func TestWhatWasSaidBeforeAKillIsNotSaidAgain(t *testing.T) {
	for name, after := range map[string]func() (llm.ModelResponse, error){
		"the model fails": func() (llm.ModelResponse, error) {
			return llm.ModelResponse{}, &llm.Error{Kind: llm.Unavailable, Err: errors.New("down")}
		},
		"the model repeats itself": func() (llm.ModelResponse, error) { return calling(7, "send_message", `{"text":"once"}`), nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := &reaper{}
			resumed := false
			m := mindful(func(_ context.Context, req llm.ModelRequest) (llm.ModelResponse, error) {
				switch {
				case req.NoCalls:
					return telling("hm"), nil
				case acts(req) == 0:
					return calling(1, "send_message", `{"text":"once"}`), nil
				case resumed && acts(req) < 4:
					return after()
				}
				return telling("Responded to Kai. Done."), r.pass("model")
			})
			play(t, m, func(w *world) {
				r.at, r.kill = 1, func() { w.cancel() }
				room := w.room("kai", direct)
				w.says(room, "Kai", "hello")
				w.start()
				synctest.Wait()
				w.crash()
				r.at, r.dead, resumed = 0, false, true
				w.start()
				w.settle()
				pass(time.Minute) // longer than the first retry
				w.settle()
				testutil.Same(t, "said", []string{"once"}, w.spoken(room))
			})
		})
	}
}

// BLU-41: what came while nothing ran is marked as what wakes, also in a cycle that
// had looked again because of stale speech before its process ended.
func TestWhatCameBetweenProcessesIsMarked(t *testing.T) {
	for name, killed := range map[string]int{"right after it was stale": 2, "later": 3} { // in which call of engagement
		t.Run(name, func(t *testing.T) {
			r, resumed, calls := &reaper{at: killed - 1}, false, 0
			said := func() {}
			var marks []bool // of each request since that shows it
			m := mindful(func(_ context.Context, req llm.ModelRequest) (llm.ModelResponse, error) {
				if seen := fmt.Sprint(req.Messages); resumed && strings.Contains(seen, `"three"`) {
					marks = append(marks, strings.Contains(seen, `"three" ← TRIGGER`))
				}
				if req.NoCalls {
					return telling("hm"), nil
				}
				if calls++; calls == 1 {
					said() // its words are stale
					return calling(len(req.Messages), "send_message", `{"text":"here"}`), nil
				}
				if acts(req) == 0 {
					return calling(len(req.Messages), "send_message", `{"text":"here"}`), r.pass("model")
				}
				return telling("Responded to Kai. Done."), r.pass("model")
			})
			play(t, m, func(w *world) {
				r.kill = func() { w.cancel() }
				room := w.room("kai", direct)
				said = func() { w.says(room, "Kai", "two") }
				w.says(room, "Kai", "one")
				w.start()
				synctest.Wait()
				w.crash()
				w.shell = nil // nothing runs
				w.says(room, "Kai", "three")
				r.at, r.dead, resumed = 0, false, true
				w.start()
				w.settle()
				if len(marks) == 0 || !marks[0] {
					t.Errorf("requests that show it are marked %v", marks)
				}
			})
		})
	}
}

// I8, DESIGN 5: one mind is one consciousness over all processes: what it did in
// another one it knows in this.
func TestAMindKnowsWhatItDidInAnotherProcess(t *testing.T) {
	var mu sync.Mutex // guards rests and last
	rests, last := 0, ""
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		mu.Lock()
		defer mu.Unlock()
		last = whole(r)
		if r.NoCalls {
			return telling("hm"), nil
		}
		rests++
		return telling(fmt.Sprintf("Responded to Kai. Rest %d.", rests)), nil
	})
	play(t, m, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "one")
		w.settle()
		first := w.shell
		w.stop()
		w.start()
		w.says(room, "Kai", "two")
		w.settle()
		w.stop()

		w.shell = first
		ctx, cancel := context.WithCancel(w.t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = first.Run(ctx) })
		w.says(room, "Kai", "three")
		w.settle()
		cancel()
		running.Wait()
		for _, rest := range []string{"Rest 1.", "Rest 2."} {
			if strings.Count(last, rest) != 1 {
				t.Errorf("%q is %d times in what the model was shown, want once", rest, strings.Count(last, rest))
			}
		}
	})
}

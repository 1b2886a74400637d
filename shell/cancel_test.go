package shell_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// halts has a person stop runs, of which there must be so many.
func (w *world) halts(h spaces.StopRequest, runs int) spaces.StopResult {
	w.t.Helper()
	done, err := w.shell.Cancel(w.t.Context(), h)
	w.ok(err)
	if len(done.Runs) != runs {
		w.t.Errorf("%d runs were stopped, want %d", len(done.Runs), runs)
	}
	return done
}

// A held model lets so many calls through, and the rest only when it is released.
type held struct {
	llm.ChatModel
	pass    int
	release chan struct{}
}

func (h *held) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if h.pass--; h.pass >= 0 {
		return h.ChatModel.Generate(ctx, r)
	}
	select {
	case <-ctx.Done():
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	case <-h.release:
		return h.ChatModel.Generate(ctx, r)
	}
}

// consumed returns how many rows the runs in a room have consumed.
func (w *world) consumed(room spaces.SpaceID) int {
	w.t.Helper()
	n := 0
	for _, y := range w.runs(room) {
		run, err := w.store.Console().Run(w.t.Context(), string(y.ID))
		w.ok(err)
		for _, r := range run.Rows {
			if r.State == spaces.RowConsumed {
				n++
			}
		}
	}
	return n
}

// runs returns the runs of a room, newest first.
func (w *world) runs(room spaces.SpaceID) []spaces.Cycle {
	w.t.Helper()
	runs, err := w.store.Console().Runs(w.t.Context(), console.Filter{Space: room})
	w.ok(err)
	cycles := make([]spaces.Cycle, len(runs))
	for i, y := range runs {
		cycles[i] = y.Cycle
	}
	return cycles
}

// PRD-5.2-A5: a person's stop interrupts the model in mid-turn, ends the
// run by its name, consumes what woke it, and nothing of the turn gets out.
func TestAStopInMidTurnLetsNothingOut(t *testing.T) {
	for name, phase := range map[string]int{"while it thinks": 0, "while it acts": 1} {
		t.Run(name, func(t *testing.T) {
			m := &held{ChatModel: replier("never said"), pass: phase}
			play(t, m, func(w *world) {
				m.release = make(chan struct{})
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "hello")
				synctest.Wait()
				began := time.Now()
				w.halts(spaces.StopRequest{Space: room, Unsent: true}, 1)
				synctest.Wait()
				if took := time.Since(began); took > 0 {
					t.Errorf("the run ended after %s of waiting", took)
				}
				testutil.Same(t, "stop reasons", []spaces.StopReason{spaces.StopCancelled}, w.stops(mind("Ada")))
				close(m.release)
				w.settle()
				if said := w.spoken(room); len(said) > 0 {
					t.Errorf("it said %q after the stop", said)
				}
				if n := w.consumed(room); n != 1 {
					t.Errorf("%d rows are consumed, want 1", n)
				}
				w.says(room, "Kai", "and now?")
				w.settle()
				if said := w.spoken(room); len(said) != 1 {
					t.Errorf("after the stop a new message was answered with %q, want one answer", said)
				}
			})
		})
	}
}

// PRD-5.2-A5, I5: a stop between the model's answer and its commit wins: the step
// is refused whole.
func TestAStopBeforeTheCommitWins(t *testing.T) {
	var w *world
	var room spaces.SpaceID
	m := answering(func(n int, _ llm.ModelRequest) (llm.ModelResponse, error) {
		if n == 1 { // the word is stored while the answer is on its way
			_, err := w.store.Shell().Halt(w.t.Context(), spaces.StopRequest{Space: room, At: time.Now()})
			w.ok(err)
			return calling(1, "send_message", `{"text":"too late"}`), nil
		}
		return telling("Nothing to add."), nil
	})
	play(t, m, func(world *world) {
		w = world
		room = w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "hello")
		w.settle()
		if said := w.spoken(room); len(said) > 0 {
			t.Errorf("it said %q after the stop", said)
		}
		testutil.Same(t, "stop reasons", []spaces.StopReason{spaces.StopCancelled}, w.stops(mind("Ada")))
	})
}

// A stop survives the process: whoever takes the run up only closes it.
func TestAStoppedRunIsOnlyClosedAfterACrash(t *testing.T) {
	asked := 0
	hung := mindful(func(ctx context.Context, _ llm.ModelRequest) (llm.ModelResponse, error) {
		asked++
		<-ctx.Done()
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	})
	play(t, hung, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "hello")
		synctest.Wait()
		_, err := w.store.Shell().Halt(w.t.Context(), spaces.StopRequest{Space: room, At: time.Now()}) // by another process
		w.ok(err)
		w.crash()
		w.start()
		w.settle()
		if asked != 1 {
			t.Errorf("the model was asked %d times, want once", asked)
		}
		testutil.Same(t, "stop reasons", []spaces.StopReason{spaces.StopCancelled}, w.stops(mind("Ada")))
	})
}

// DESIGN 4, 6.1: what waits for a later attempt is stopped as well, and so is the
// chain between agents; what another room does goes on.
func TestAStopEndsTheChainAndNoOtherRoom(t *testing.T) {
	var healed atomic.Bool
	hi := replier("hi")
	m := mindful(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if !healed.Load() {
			return llm.ModelResponse{}, &llm.Error{Kind: llm.Unavailable, Err: context.DeadlineExceeded}
		}
		return hi.Generate(ctx, r)
	})
	play(t, m, func(w *world) {
		mine, theirs := w.room("mine", direct), w.room("theirs", direct)
		w.start()
		w.says(mine, "Kai", "one")
		w.says(theirs, "Zoe", "two")
		synctest.Wait() // both failed and wait for their next attempt
		if done := w.halts(spaces.StopRequest{Space: mine}, 0); done.Waiting != 1 {
			t.Errorf("%d waiting messages were stopped, want 1", done.Waiting)
		}
		healed.Store(true)
		pass(time.Minute)
		w.settle()
		if mine, theirs := w.spoken(mine), w.spoken(theirs); len(mine) != 0 || len(theirs) != 1 {
			t.Errorf("said %q where it was stopped and %q elsewhere, want nothing and one", mine, theirs)
		}
		told, err := w.store.Border().Last(w.t.Context(), mine, spaces.MessageRef{})
		w.ok(err)
		if len(told) != 1 || told[0].Reason != shell.GateStopped {
			t.Errorf("the message is told as %+v, want stopped", told)
		}
	})
}

// DELIVERY 2.2-7: what is decided and unsent is cancelled if that is asked, and
// the room is told once.
func TestAStopTakesBackWhatIsNotSent(t *testing.T) {
	for name, unsent := range map[string]bool{"asked": true, "not asked": false} {
		t.Run(name, func(t *testing.T) {
			spoke := false
			m := mindful(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				switch {
				case r.NoCalls:
					return telling("hm"), nil
				case !spoke:
					spoke = true
					return calling(1, "send_message", `{"text":"on its way"}`), nil
				}
				<-ctx.Done()
				return llm.ModelResponse{}, llm.Interrupted(ctx)
			})
			play(t, m, func(w *world) {
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "hello")
				synctest.Wait()
				want := 0
				if unsent {
					want = 1
				}
				h := spaces.StopRequest{Run: w.runs(room)[0].ID, Unsent: unsent, Say: "Stopped by a person."}
				if done := w.halts(h, 1); done.Unsent != want {
					t.Errorf("%d messages were taken back, want %d", done.Unsent, want)
				}
				w.settle()
				w.halts(h, 0) // a second word changes nothing
				due, err := w.store.Border().Claim(w.t.Context(), account, time.Now(), 10)
				w.ok(err)
				var texts []string
				for _, a := range due {
					texts = append(texts, a.Text)
				}
				first := []string{"on its way"} // the notice comes after it in the lane
				if unsent {
					first = []string{"Stopped by a person."}
				}
				testutil.Same(t, "to be sent", first, texts)
				failed := bodies[spaces.SendFailed](w.log(room))
				if len(failed) != want || unsent && failed[0].State != spaces.ActionCancelled {
					t.Errorf("the room's log holds %+v", failed)
				}
				w.settleAll(due)
			})
		})
	}
}

package shell_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// CON-36: whoever serves a call is done when the cycle is committed, and not before;
// a call for nothing is done at once, and one for an agent of others is not.
func TestCallIsServedWhenItsCycleIsCommitted(t *testing.T) {
	play(t, slow(2*time.Second, replier("noted")), func(w *world) {
		w.poll = time.Hour
		room := w.room("kai", direct)
		w.start()
		synctest.Wait()
		in := spaces.IngestBatch{Account: account, Items: []spaces.IngestItem{w.update(room, "Kai", spaces.MessagePosted{Text: "hello"})}, At: time.Now()}
		_, err := w.store.Border().Record(w.t.Context(), in)
		w.ok(err)
		call := spaces.PendingWork{Mind: mind("Ada"), Space: room}
		served := make(chan error, 1)
		go func() { served <- w.shell.Serve(w.t.Context(), call) }()
		pass(3 * time.Second) // within the second of its answers
		if len(served) > 0 || len(w.stops(mind("Ada"))) > 0 {
			w.t.Fatal("it was served before the cycle was committed")
		}
		w.ok(<-served)
		if got := w.stops(mind("Ada")); len(got) != 1 {
			w.t.Errorf("%d cycles were committed when it was served", len(got))
		}
		w.ok(w.shell.Serve(w.t.Context(), call))
		call.Mind.Agent = "somebody else"
		if err := w.shell.Serve(w.t.Context(), call); err == nil {
			w.t.Error("a call for an agent that is not here was served")
		}
	})
}

// CON-36: a cycle that did not come to its end leaves its call to others.
func TestCallOfAnInterruptedCycleIsNotServed(t *testing.T) {
	stuck := mindful(func(ctx context.Context, _ llm.ModelRequest) (llm.ModelResponse, error) {
		<-ctx.Done()
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	})
	play(t, stuck, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		served := make(chan error, 1)
		ctx := context.WithoutCancel(w.t.Context())
		go func() { served <- w.shell.Serve(ctx, spaces.PendingWork{Mind: mind("Ada"), Space: room}) }()
		w.ok(<-served) // there is nothing yet
		w.says(room, "Kai", "hello")
		synctest.Wait()
		go func() { served <- w.shell.Serve(ctx, spaces.PendingWork{Mind: mind("Ada"), Space: room}) }()
		synctest.Wait()
		w.stop()
		if err := <-served; !errors.Is(err, context.Canceled) {
			w.t.Errorf("got %v, want that the process stopped", err)
		}
	})
}

// K4, K15, I10: what waits for agents that no process serves any more does not hide what
// waits for others, however much and however old it is.
func TestAgentsThatAreGoneHideNobody(t *testing.T) {
	play(t, replier("noted"), func(w *world) {
		for n := range 9 {
			w.says(w.room("old"+strconv.Itoa(n), with("Bea"), circle(spaces.CircleID("own"+strconv.Itoa(n)))), "Kai", "@Bea hello")
		}
		<-time.After(time.Minute)
		room := w.room("kai", direct, with("Ada"))
		w.says(room, "Kai", "hello") // and nobody rings
		w.agents, w.cycles = w.agents[:1], 2
		w.start()
		pass(10 * time.Second)
		if got := w.spoken(room); len(got) != 1 {
			t.Errorf("Ada said %q", got)
		}
		w.says(room, "Kai", "again")
		w.shell.Look()
		pass(10 * time.Second)
		if got := w.spoken(room); len(got) != 2 {
			t.Errorf("later Ada said %q", got)
		}
	}, "Ada", "Bea")
}

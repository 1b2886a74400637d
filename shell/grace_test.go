package shell_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// DELIVERY K8, K28: a process that ends while a model thinks leaves the run to the next
// one: nothing has failed, and there is one run.
func TestAStopWhileAModelThinksIsNoFailure(t *testing.T) {
	var hung atomic.Bool
	m := mindful(func(ctx context.Context, _ llm.ModelRequest) (llm.ModelResponse, error) {
		if !hung.Swap(true) {
			<-ctx.Done()
			return llm.ModelResponse{}, ctx.Err()
		}
		return telling("Nothing to add."), nil
	})
	play(t, m, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "hello")
		synctest.Wait()
		w.crash()
		w.start()
		w.settle()
		testutil.Same(t, "stop reasons", []spaces.StopReason{spaces.StopSilent}, w.stops(mind("Ada")))
	})
}

package shell_test

import (
	"context"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// PRD-5.6-4, BLU-42: what was done in one room is not done in another: the same words may
// be said in each that is entered, and one may come back to a room. In one room they are
// said once, also by a process that goes on.
func TestTheSameIsDoneOnceInEachRoom(t *testing.T) {
	for _, crash := range []int{0, 3, 5, 7} {
		script := []struct{ name, args string }{
			{"enter_space", `{"space":"s2"}`},
			{"send_message", `{"text":"Dinner is at eight."}`},
			{"send_message", `{"text":"Dinner is at eight."}`}, // refused
			{"enter_space", `{"space":"s3"}`},
			{"send_message", `{"text":"Dinner is at eight."}`},
			{"enter_space", `{"space":"s2"}`},
			{"send_message", `{"text":"Bring chairs."}`},
		}
		calls := 0
		m := mindful(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
			if r.NoCalls {
				return telling("hm"), nil
			}
			n := acts(r)
			if calls++; calls == crash {
				<-ctx.Done()
				return llm.ModelResponse{}, llm.Interrupted(ctx)
			}
			if n == len(script) {
				return telling("Responded to Kai about dinner. Told both."), nil
			}
			return calling(n, script[n].name, script[n].args), nil
		})
		play(t, m, func(w *world) {
			room, office, family := w.room("kai", direct), w.room("office"), w.room("family")
			w.start()
			w.says(room, "Kai", "tell the office and the family that dinner is at eight, and the office to bring chairs")
			if crash > 0 {
				pass(time.Second)
				w.crash()
				w.start()
				pass(20 * time.Minute)
			}
			w.settle()
			testutil.Same(t, "said in the office", []string{"Dinner is at eight.", "Bring chairs."}, w.spoken(office))
			testutil.Same(t, "said in the family", []string{"Dinner is at eight."}, w.spoken(family))
		})
	}
}

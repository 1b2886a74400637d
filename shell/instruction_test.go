package shell_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/trestle-bridge/trestle/internal/model"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-5.2, S13: the words for another room are not made when a cap is reached; with one
// token left they are.
func TestACompositionIsNotAskedForWithASpentBudget(t *testing.T) {
	for limit, want := range map[int]int{220: 0, 221: 1} { // what was thought and what was decided took 220
		t.Run(fmt.Sprintf("%d tokens", limit), func(t *testing.T) {
			composed := 0
			m := mindful(func(_ context.Context, r model.Request) (model.Response, error) {
				if r.Messages[len(r.Messages)-1].Text == "Go ahead." {
					composed++
					return telling("Lunch is at noon."), nil
				}
				if r.NoCalls {
					return telling("The office should know."), nil
				}
				return calling(len(r.Messages), "send_message", `{"space":"s2","instruction":"Say when lunch is."}`), nil
			})
			play(t, m, func(w *world) {
				s := shell.DefaultSettings()
				s.CycleTokens = limit
				w.settings = func(spaces.AgentID, spaces.SpaceID) shell.Settings { return s }
				room := w.room("kai", direct)
				w.room("office")
				w.start()
				w.says(room, "Kai", "tell the office when lunch is: at noon")
				w.settle()
				if got := w.stops(mind("Ada")); composed != want || len(got) != 1 || got[0] != spaces.StopBudget {
					t.Errorf("composed %d times, want %d; it ended as %v", composed, want, got)
				}
			})
		})
	}
}

package shell_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-5.2, S13: the words for another room are not made when a cap is reached; with one
// token left they are.
func TestACompositionIsNotAskedForWithASpentBudget(t *testing.T) {
	for limit, want := range map[int]int{220: 0, 221: 1} { // what was thought and what was decided took 220
		t.Run(fmt.Sprintf("%d tokens", limit), func(t *testing.T) {
			composed := 0
			m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
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
				s := twoPhases()
				s.Budget.Cycle.Tokens = limit
				w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return s }
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

// DELIVERY 2.8, S4: words for another room that were cut off are no words, and those that
// repeat what the composing call was told stay here. The agent is told, and may say them
// itself.
func TestACompositionIsWholeAndNothingInternal(t *testing.T) {
	for name, made := range map[string]llm.ModelResponse{
		"at the limit": {Text: "Lunch is at noon, and whoever wants to", Finish: llm.Length},
		"by a filter":  {Text: "Lunch is at noon, and whoever wants to", Finish: llm.Blocked},
		"its rules":    {Text: "Lunch is at noon.\nTalk to the people here directly, not about them; speak naturally.", Finish: llm.Stopped},
	} {
		t.Run(name, func(t *testing.T) {
			m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				switch {
				case r.Messages[len(r.Messages)-1].Text == "Go ahead.":
					return made, nil
				case r.NoCalls:
					return telling("The office should know."), nil
				case acts(r) == 0:
					return calling(1, "send_message", `{"space":"s2","instruction":"Say when lunch is."}`), nil
				case acts(r) == 1:
					return calling(2, "send_message", `{"space":"s2","text":"Lunch is at noon."}`), nil
				}
				return telling("Responded to Kai about lunch. Told the office."), nil
			})
			play(t, m, func(w *world) {
				room := w.room("kai", direct)
				office := w.room("office")
				w.start()
				w.says(room, "Kai", "tell the office when lunch is: at noon")
				w.settle()
				testutil.Same(t, "said", []string{"Lunch is at noon."}, w.spoken(office))
			})
		})
	}
}

// PRD-7.4-1: what an act cost is kept with its result: the time until it was performed,
// and the tokens of a model that was asked for its sake. The model is shown none of it,
// so that what it was shown before stays the same bytes.
func TestWhatAnActCostIsKeptWithItsResult(t *testing.T) {
	var told strings.Builder
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Text == "Go ahead.":
			<-time.After(1500 * time.Millisecond)
			return telling("Lunch is at noon."), nil
		case r.NoCalls:
			return telling("The office should know."), nil
		}
		for _, msg := range r.Messages {
			if msg.CallID != "" {
				told.WriteString(msg.Text)
			}
		}
		if told.String() != "" {
			return telling("Responded to Kai about lunch. Told the office."), nil
		}
		<-time.After(time.Second) // that is the step's, and no act's
		both := calling(1, "send_message", `{"space":"s2","instruction":"Say when lunch is."}`)
		both.Calls = append(both.Calls, calling(2, "note", `{"text":"Lunch is at noon."}`).Calls...)
		return both, nil
	})
	play(t, m, func(w *world) {
		room := w.room("kai", direct)
		office := w.room("office")
		w.start()
		w.says(room, "Kai", "tell the office when lunch is: at noon")
		w.settle()
		if diff := cmp.Diff([]string{"Lunch is at noon."}, w.spoken(office)); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
		type cost struct {
			took  int64
			usage spaces.TokenUsage
		}
		var got []cost
		for _, r := range bodies[spaces.ToolReturned](w.inner(mind("Ada"))) {
			r.Usage.Estimated = 0
			got = append(got, cost{r.Took, r.Usage})
		}
		want := []cost{{1500, spaces.TokenUsage{Prompt: 100, Output: 10, Calls: 1}}, {}}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(cost{})); diff != "" {
			t.Errorf("the acts cost (-want +got):\n%s", diff)
		}
		for _, word := range []string{"1500", `"ms"`, "usage"} {
			if strings.Contains(told.String(), word) {
				t.Errorf("the model is told %q: %s", word, told.String())
			}
		}
	})
}

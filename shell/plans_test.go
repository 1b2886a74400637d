package shell_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// CON-13: a mind has fifty plans and timers at one time, and no more until it forgets
// one by the name that it is shown.
func TestAMindHasFiftyPlansAtMost(t *testing.T) {
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			return telling("hm"), nil
		}
		switch text := whole(r); acts(r) {
		case 0:
			many := llm.ModelResponse{Finish: llm.Called, Usage: llm.TokenUsage{Prompt: 100, Output: 10}}
			for i := range 51 {
				one := calling(i, "timer", fmt.Sprintf(`{"seconds":%d,"note":"look again"}`, 3600+i))
				many.Calls = append(many.Calls, one.Calls...)
			}
			return many, nil
		case 51:
			return calling(100, "view", `{"what":"plans"}`), nil
		case 52:
			_, after, _ := strings.Cut(text, "- timer ~")
			name, _, _ := strings.Cut(after, ":")
			return calling(101, "forget", `{"id":"~`+name+`"}`), nil
		case 53:
			return calling(102, "plan", `{"cron":"0 9 * * *","note":"the news"}`), nil
		}
		return telling("Responded to Kai about plans. Made them."), nil
	})
	play(t, m, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "plan a lot")
		w.settle()
		inner := w.inner(mind("Ada"))
		denied := bodies[spaces.CallDenied](inner)
		if len(denied) != 1 || denied[0].Denial.Code != "too_many_plans" {
			t.Errorf("denials: %+v", denied)
		}
		if forgot := bodies[spaces.MemoryRemoved](inner); len(forgot) != 1 {
			t.Errorf("forgotten: %+v", forgot)
		}
		plans, err := w.store.Shell().Plans(w.t.Context(), mind("Ada"), 100)
		if err != nil || len(plans) != 50 {
			t.Errorf("%d plans wait, %v", len(plans), err)
		}
	})
}

// A reminder that is set and said in one step costs one call.
func TestAReminderAndItsAnswerAreOneCall(t *testing.T) {
	calls := 0
	m := mindful(func(context.Context, llm.ModelRequest) (llm.ModelResponse, error) {
		calls++
		return llm.ModelResponse{Calls: []llm.ToolCall{
			{ID: "a", Name: "remind", Args: `{"note":"call the dentist","in":"300d"}`},
			{ID: "b", Name: "send_message", Args: `{"more":false,"text":"I will remind you in 300 days."}`},
		}}, nil
	})
	play(t, m, func(w *world) {
		set := twoPhases()
		set.Phases = shell.PhasesOne
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "remind me in 300 days to call the dentist")
		w.settle()
		testutil.Same(t, "calls", 1, calls)
		testutil.Same(t, "messages", 1, len(w.spoken(room)))
	})
}

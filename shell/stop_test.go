package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// answering is a model that thinks and then answers each engagement call with do.
func answering(do func(n int, r llm.ModelRequest) (llm.ModelResponse, error)) mindful {
	var n atomic.Int32
	return func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			return telling("hm"), nil
		}
		return do(int(n.Add(1)), r)
	}
}

// PRD-5.2-1, -2, -A1, -A4, -A5: every way a cycle can end has its own name; none
// ends without one.
func TestEveryEndHasItsOwnName(t *testing.T) {
	failing := func(k llm.ErrorKind) func(int, llm.ModelRequest) (llm.ModelResponse, error) {
		return func(int, llm.ModelRequest) (llm.ModelResponse, error) {
			return llm.ModelResponse{}, &llm.Error{Kind: k, Err: errors.New("no")}
		}
	}
	for _, c := range []struct {
		want     spaces.StopReason
		do       func(n int, r llm.ModelRequest) (llm.ModelResponse, error)
		settings func(*shell.AgentSettings)
		cancel   bool
	}{
		{want: spaces.StopCompleted, do: func(n int, _ llm.ModelRequest) (llm.ModelResponse, error) {
			if n == 1 {
				return calling(1, "send_message", `{"text":"hi"}`), nil
			}
			return telling("Responded to Kai. Greeted."), nil
		}},
		{want: spaces.StopSilent, do: func(int, llm.ModelRequest) (llm.ModelResponse, error) { return telling("Nothing to add."), nil }},
		{want: spaces.StopSleeping, do: func(int, llm.ModelRequest) (llm.ModelResponse, error) {
			return calling(1, "sleep", `{"seconds":60}`), nil
		}},
		{want: spaces.StopBudget, settings: func(s *shell.AgentSettings) { s.Budget.Cycle.Tokens = 110 }},
		{want: spaces.StopMaxRetries, do: failing(llm.Unavailable)},
		{want: spaces.StopTimeout, do: failing(llm.Timeout)},
		{want: spaces.StopModelError, do: failing(llm.Rejected)},
		{want: spaces.StopMaxSteps, settings: func(s *shell.AgentSettings) { s.MaxSteps = 3 }, do: func(n int, _ llm.ModelRequest) (llm.ModelResponse, error) {
			return calling(n, "note", `{"text":"`+strings.Repeat("x", n)+`"}`), nil
		}},
		{want: spaces.StopCoordinator, do: func(int, llm.ModelRequest) (llm.ModelResponse, error) { panic("a fault of ours") }},
		{want: spaces.StopCancelled, cancel: true},
	} {
		t.Run(string(c.want), func(t *testing.T) {
			m := answering(c.do)
			if c.cancel {
				m = func(ctx context.Context, _ llm.ModelRequest) (llm.ModelResponse, error) {
					<-ctx.Done()
					return llm.ModelResponse{}, llm.Interrupted(ctx)
				}
			}
			play(t, m, func(w *world) {
				set := twoPhases()
				if c.settings != nil {
					c.settings(&set)
				}
				w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "hello")
				synctest.Wait()
				if c.cancel {
					w.halts(spaces.StopRequest{Space: room}, 1)
				}
				synctest.Wait()
				stops := w.stops(mind("Ada"))
				testutil.Same(t, "stop reasons", []spaces.StopReason{c.want}, stops)
				live := slices.DeleteFunc(slices.Clone(w.bus.live), func(l live) bool { return l.kind == "context_compacted" }) // that follows in peace
				last := live[len(live)-1]
				if last.kind != "mission_stop" || last.content != string(c.want) {
					t.Errorf("the last live event is %s %q, want mission_stop %q", last.kind, last.content, c.want)
				}
			})
		})
	}
}

// PRD-5.2-4, -A2, S13: the budget is spent when the tokens used equal it; one
// token less allows another call.
func TestBudgetEndsAtEquality(t *testing.T) {
	for name, set := range map[string]func(s *shell.AgentSettings, limit int){
		"cycle": func(s *shell.AgentSettings, n int) { s.Budget.Cycle.Tokens = n },
		"agent": func(s *shell.AgentSettings, n int) { s.Budget.Agent.Tokens = n },
		"space": func(s *shell.AgentSettings, n int) { s.Budget.Space.Tokens = n },
		"all":   func(s *shell.AgentSettings, n int) { s.Budget.All.Tokens = n },

		// A token costs a hundredth of a cent.
		"cycle, money": func(s *shell.AgentSettings, n int) { s.Budget.Cycle = euros(n) },
		"agent, money": func(s *shell.AgentSettings, n int) { s.Budget.Agent = euros(n) },
		"space, money": func(s *shell.AgentSettings, n int) { s.Budget.Space = euros(n) },
		"all, money":   func(s *shell.AgentSettings, n int) { s.Budget.All = euros(n) },
	} {
		for limit, want := range map[int]spaces.StopReason{110: spaces.StopBudget, 111: spaces.StopSilent} {
			t.Run(name, func(t *testing.T) {
				m := answering(func(int, llm.ModelRequest) (llm.ModelResponse, error) { return telling("Nothing to add."), nil })
				play(t, m, func(w *world) {
					w.agents[0].Price = func(string) money.TokenPrice {
						return money.TokenPrice{Input: 100, Output: 100, Currency: "EUR"}
					}
					s := twoPhases()
					set(&s, limit) // a call takes 110
					w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return s }
					room := w.room("kai", direct)
					w.start()
					w.says(room, "Kai", "hello")
					w.settle()
					if diff := cmp.Diff([]spaces.StopReason{want}, w.stops(mind("Ada"))); diff != "" {
						t.Errorf("limit %d (-want +got):\n%s", limit, diff)
					}
					i := slices.IndexFunc(w.bus.live, func(l live) bool { return l.kind == "budget_warning" })
					if i < 0 {
						t.Fatalf("limit %d: nobody was warned", limit)
					}
					if spent := w.bus.live[i].metadata["share"] == 100; spent != (want == spaces.StopBudget) {
						t.Errorf("limit %d: warned of %v", limit, w.bus.live[i].metadata)
					}
				})
			})
		}
	}
}

// euros returns a limit of so many hundredths of a cent.
func euros(n int) money.SpendLimit {
	return money.SpendLimit{Amount: money.Amount{Micros: int64(n) * 100, Currency: "EUR"}}
}

// PRD-9-I1: with its day's budget spent an agent takes no further call, and the
// next day it does.
func TestASpentDayEndsAtMidnight(t *testing.T) {
	calls := 0
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		calls++
		return telling("Nothing to add."), nil
	})
	play(t, m, func(w *world) {
		s := twoPhases()
		s.Budget.Agent.Tokens = 220
		w.poll = time.Minute
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return s }
		room := w.room("kai", direct)
		w.start()
		for range 2 {
			w.says(room, "Kai", "hello")
			w.settle()
		}
		if calls != 2 {
			t.Errorf("%d calls on the first day, want 2", calls)
		}
		pass(24 * time.Hour)
		w.says(room, "Kai", "good morning")
		w.settle()
		if calls != 4 {
			t.Errorf("%d calls after midnight, want 4", calls)
		}
	})
}

// PRD-6.2-1, -2, -A1, -A3, -A4, PRD-10-10, SEQ-81: the vocabulary and its order; agent_assigned
// comes before the first thought, denials are in the stream, and every event
// has its time.
func TestLiveEventsTellACycleInOrder(t *testing.T) {
	m := answering(func(n int, _ llm.ModelRequest) (llm.ModelResponse, error) {
		switch n {
		case 1:
			return calling(1, "rm_rf", `{}`), nil
		case 2:
			return calling(2, "remember", `{"fact":"Kai likes tea","kind":"user_fact"}`), nil
		case 3:
			return calling(3, "send_message", `{"text":"hi"}`), nil
		}
		return telling("Responded to Kai. Greeted."), nil
	})
	play(t, m, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "hello")
		w.settle()
		want := []string{
			"gate_decision", "agent_assigned", "context_compacted", "task_state_change",
			"phase_change", "hud_rendered", "memory_injected", "agent_thinking", "task_state_change",
			"phase_change", "hud_rendered", "agent_thinking", "tool_resolved", "tool_executing", "tool_result",
			"task_state_change", "task_state_change", "tool_permission_denied",
			"hud_rendered", "agent_thinking", "tool_resolved", "tool_executing", "tool_result",
			"task_state_change", "task_state_change", "memory_stored",
			"hud_rendered", "memory_injected", "agent_thinking", "tool_resolved", "tool_executing", "tool_result",
			"task_state_change", "task_state_change",
			"hud_rendered", "agent_thinking", "task_state_change", "mission_stop",
		}
		testutil.Same(t, "live events", want, w.bus.kinds())
		w.bus.golden(t, "testdata/live_events.golden")
		for _, l := range w.bus.live {
			if l.at.IsZero() || l.metadata["mind"] != "ada/home" || l.metadata["space"] != string(room) {
				t.Errorf("%s has time %v and metadata %v", l.kind, l.at, l.metadata)
			}
		}
	})
}

// PRD-6.2-A2: what was recalled is told with its layer and count.
func TestRecalledLinesAreTold(t *testing.T) {
	m := llmtest.NewScripted(nil, llmtest.ScriptStep{Always: true, Response: telling("Nothing to add.")})
	play(t, m, func(w *world) {
		s := twoPhases()
		s.ContextTokens = 6500 // small: what was said at first is no longer in the log
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return s }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "the boiler's serial number is ZX-4711")
		w.settle()
		for range 30 {
			w.says(room, "Kai", strings.Repeat("chatter about the weather and the garden ", 12))
			w.settle()
		}
		w.says(room, "Kai", "which serial number does the boiler have?")
		w.settle()
		if !slices.ContainsFunc(w.bus.live, func(l live) bool { return l.kind == "memory_injected" }) {
			t.Fatal("nothing was recalled")
		}
		var last map[string]any
		for _, l := range w.bus.live {
			if l.kind == "memory_injected" {
				last = l.metadata
			}
		}
		layers, err := json.Marshal(last["layers"])
		testutil.OK(t, err)
		if !regexp.MustCompile(`^\[\{"layer":"keyframe","tokens":[1-9]\d*,"facts":0\}.*\{"layer":"recalled","tokens":[1-9]\d*,"facts":[1-9]\d*\}\]$`).Match(layers) {
			t.Errorf("layers are %s", layers)
		}
		if last["facts"] == 0 || last["tokens"] == 0 {
			t.Errorf("metadata %v", last)
		}
		if !strings.Contains(whole(m.Requests()[len(m.Requests())-1]), "ZX-4711") {
			t.Error("the number was not recalled")
		}
	})
}

// whole returns all the text of a request.
func whole(r llm.ModelRequest) string {
	var out strings.Builder
	for _, m := range r.Messages {
		out.WriteString(m.Text + "\n")
		for _, c := range m.Calls {
			out.WriteString(c.Name + " " + c.Args + "\n")
		}
	}
	return out.String()
}

// PRD-6.3-2, PRD-6.3-A3, PRD-6.3-A4: all moves of the machine stand in the inner log, unbroken from
// idle to idle, and the last one carries the stop reason.
func TestEveryMoveIsRecorded(t *testing.T) {
	m := answering(func(n int, _ llm.ModelRequest) (llm.ModelResponse, error) {
		if n%2 == 1 {
			return calling(n, "send_message", `{"text":"hi"}`), nil
		}
		return telling("Responded to Kai. Greeted."), nil
	})
	play(t, m, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "hello")
		w.settle()
		w.says(room, "Kai", "again")
		w.settle()
		cycles := map[spaces.CycleID][]spaces.StateTransition{}
		for _, b := range bodies[spaces.StatesChanged](w.inner(mind("Ada"))) {
			for _, move := range b.Moves {
				cycles[move.Cycle] = append(cycles[move.Cycle], move)
			}
		}
		if len(cycles) != 2 {
			t.Fatalf("%d cycles moved, want 2", len(cycles))
		}
		for id, moves := range cycles {
			var states []spaces.ShellState
			at := spaces.Idle
			for _, move := range moves {
				if move.From != at || move.By == "" || move.Reason == "" || move.At.IsZero() {
					t.Errorf("%s stands at %s, and the move is %+v", id, at, move)
				}
				at = move.To
				states = append(states, at)
			}
			want := []spaces.ShellState{spaces.Contemplating, spaces.Engaging, spaces.Acting, spaces.Engaging, spaces.Idle}
			if diff := cmp.Diff(want, states); diff != "" {
				t.Errorf("%s (-want +got):\n%s", id, diff)
			}
			if last := moves[len(moves)-1]; last.Stop != spaces.StopCompleted {
				t.Errorf("%s ends with %q", id, last.Stop)
			}
		}
	})
}

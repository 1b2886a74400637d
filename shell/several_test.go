package shell_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A call that a model makes while it was asked to think is not lost: it is the first step
// of engagement, without asking again.
func TestACallMadeWhileThinkingIsDone(t *testing.T) {
	asked := 0
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if asked++; asked > 1 {
			return calling(asked, "done", `{}`), nil
		}
		return calling(asked, "send_message", `{"text":"Forty-two.","account":"Responded to Kai about sums."}`), nil
	})
	play(t, m, func(w *world) {
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return twoPhases() }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "what is six times seven?")
		w.settle()
		testutil.Same(t, "said", []string{"Forty-two."}, w.spoken(room))
		if asked != 2 { // once to think, and once for what the harness has it leave to do
			t.Errorf("the model was asked %d times", asked)
		}
	})
}

// Different things are done in one step: a reaction and an answer, messages to two rooms.
// Of two messages to one room the second is refused, and may be said in the next step.
func TestDifferentActsShareAStep(t *testing.T) {
	n := 0
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		n++
		if n > 1 {
			return calling(n, "done", `{}`), nil
		}
		return llm.ModelResponse{Finish: llm.Called, Calls: []llm.ToolCall{
			{ID: "a", Name: "react", Args: `{"message":"#3","emoji":"👍"}`},
			{ID: "b", Name: "send_message", Args: `{"text":"Done here."}`},
			{ID: "c", Name: "send_message", Args: `{"text":"Kai is late.","space":"s2"}`},
			{ID: "d", Name: "send_message", Args: `{"text":"And once more."}`},
		}}, nil
	})
	play(t, m, func(w *world) {
		home, other := w.room("kai", direct), w.room("kitchen")
		w.start()
		w.says(home, "Kai", "tell the kitchen I am late")
		w.settle()
		testutil.Same(t, "said here", []string{"Done here."}, w.spoken(home))
		testutil.Same(t, "said there", []string{"Kai is late."}, w.spoken(other))
		reacted := 0
		for _, e := range w.log(home) {
			if _, ok := e.Body.(spaces.ReactionAdded); ok {
				reacted++
			}
		}
		if reacted != 1 {
			t.Errorf("%d reactions", reacted)
		}
	})
}

// After agents have said enough in a row in a room, what a person asks for elsewhere still
// goes there.
func TestAPersonsWordGoesToARoomWhereAgentsSpokeEnough(t *testing.T) {
	var calls atomic.Int32 // by two agents at once
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		n := int(calls.Add(1))
		if frame := whole(r); strings.Contains(frame[strings.LastIndex(frame, "INBOX"):], "tell the kitchen") {
			return calling(n, "send_message", `{"text":"Dinner is ready.","space":"kitchen"}`), nil
		}
		return calling(n, "send_message", fmt.Sprintf(`{"text":"and %d"}`, n)), nil
	})
	play(t, m, func(w *world) {
		kitchen, hall := w.room("kitchen", func(o *spaces.OpenRequest) { o.Wake = spaces.WakeAll }), w.room("hall")
		w.start()
		w.says(kitchen, "Kai", "talk among yourselves")
		w.settle()
		pass(time.Minute)
		before := len(w.spoken(kitchen))
		w.says(hall, "Kai", "@Ada tell the kitchen")
		w.settle()
		said := w.spoken(kitchen)
		if len(said) <= before || said[before] != "Dinner is ready." {
			t.Errorf("after %d messages the kitchen hears %q", before, said[before:])
		}
	}, "Ada", "Max")
}

// A recurring reminder goes on in a room where no person writes; an agent's talk does not.
func TestARecurringReminderGoesOnWhereNoPersonWrites(t *testing.T) {
	const times = 2 * spaces.MaxAgentRun
	var calls atomic.Int32
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		n := int(calls.Add(1))
		if n == 1 {
			return calling(n, "remind", `{"cron":"0 * * * *","note":"standup"}`), nil
		}
		return calling(n, "send_message", fmt.Sprintf(`{"text":"Standup, and %d"}`, n)), nil
	})
	play(t, m, func(w *world) {
		room := w.room("kitchen")
		w.start()
		w.says(room, "Kai", "@Ada remind us of the standup")
		w.settle()
		before := len(w.spoken(room))
		for range times {
			pass(time.Hour)
			w.settle()
		}
		if said := len(w.spoken(room)) - before; said != times {
			t.Errorf("reminded %d times of %d", said, times)
		}
	}, "Ada")
}

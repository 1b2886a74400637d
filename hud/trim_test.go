package hud

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// CON-17: a cycle that said many long things still fits, with all that
// people said to it and with what each of its own messages began with.
func TestCycleOfManyLongMessagesFits(t *testing.T) {
	w := newWorld(t)
	id := w.room("Work", "kai", "ada")
	w.v.Limits = ViewLimits{ContextTokens: 6000, MaxOutputTokens: 500}
	w.says(id, "kai", "tell me everything about the budget")
	w.wake(id)
	before := len(w.v.Current)
	for n := range 12 {
		call := fmt.Sprintf("c%d", n)
		args, err := json.Marshal(map[string]string{"text": fmt.Sprintf("chapter %d ", n) + strings.Repeat("of the long account of the budget\n", 80), "reply_to": "#3"})
		if err != nil {
			t.Fatal(err)
		}
		w.v.Current = append(w.v.Current,
			spaces.TranscriptTurn{Role: spaces.RoleAssistant, Calls: []spaces.TurnCall{{ID: call, Name: "send_message", Args: string(args)}}},
			spaces.TranscriptTurn{Role: spaces.RoleTool, CallID: call, Text: "{}"})
	}
	f := w.frame()
	text := f.golden()
	for n := range 12 {
		if !strings.Contains(text, fmt.Sprintf("chapter %d ", n)) {
			t.Errorf("the frame does not tell of chapter %d", n)
		}
	}
	if !strings.Contains(text, "tell me everything") || strings.Count(text, `reply_to`) != 12 {
		t.Errorf("the frame lacks what woke the agent, or what its messages answer:\n%s", text)
	}
	for _, m := range f.Messages() {
		for _, c := range m.Calls {
			if !json.Valid([]byte(c.Args)) {
				t.Errorf("arguments %s", c.Args)
			}
		}
	}
	if long := w.v.Current[before].Calls[0].Args; len(long) < 1000 {
		t.Error("the log itself was cut")
	}
}

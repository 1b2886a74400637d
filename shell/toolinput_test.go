package shell_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A tool that asks for a choice is called again with it, and with its own state: once,
// also in another process. Without a choice it is not called again, and the agent is told.
func TestAToolIsCalledAgainWithTheChoice(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(w *world, code string)
		said  string
		calls int
		edit  string
	}{
		"chosen": {func(w *world, code string) {
			w.crash()
			w.start()
			for _, choice := range []int{0, 3, 2, 1} { // a plain yes and an option that is none change nothing
				d := spaces.ToolDecision{Code: code, By: "kai", Allow: true, Choice: choice, Outcome: "Chosen: m.", At: time.Now()}
				_, decided, err := w.store.Shell().DecideRun(w.t.Context(), d)
				w.ok(err)
				if decided != (choice == 2) {
					w.t.Errorf("option %d was decided: %v", choice, decided)
				}
			}
		}, "18 °C in m", 2, "Chosen: m."},
		"declined": {func(w *world, code string) {
			_, _, err := w.store.Shell().DecideRun(w.t.Context(), spaces.ToolDecision{Code: code, By: "kai", Outcome: "No.", At: time.Now()})
			w.ok(err)
		}, "weather was not finished", 1, "No."},
		"no choice": {func(*world, string) { pass(24*time.Hour + time.Minute) }, "weather was not finished", 1, "Not finished: no one decided in time."},
	} {
		t.Run(name, func(t *testing.T) {
			box := weather(func(_ context.Context, use shell.ToolUse) (shell.ToolAnswer, error) {
				if use.Input.Choice == 0 {
					return shell.ToolAnswer{Input: spaces.ToolInput{Question: "Which size?", Options: []string{"s", "m"}, State: "state-1"}}, nil
				}
				if use.Input.State != "state-1" {
					return shell.ToolAnswer{Failed: true}, nil
				}
				return shell.ToolAnswer{Text: "18 °C in " + use.Input.Options[use.Input.Choice-1]}, nil
			})
			play(t, asking(t, "weather", `{"place":"Bern"}`), func(w *world) {
				w.settings, w.tools = onePhase, box
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "how is the weather?")
				w.settle()
				asked := w.actionsDue()
				if len(asked) != 1 || len(asked[0].Choices) != 3 || !strings.Contains(asked[0].Text, "\"Which size?\"\n\n1. s\n2. m") || strings.Contains(asked[0].Text, "state-1") {
					t.Fatalf("asked %+v", asked)
				}
				code := strings.Fields(asked[0].Choices[0].Value)[1]
				c.end(w, code)
				w.settle()
				pass(2 * time.Second)
				w.settle()
				if said := w.spoken(room); len(said) != 1 || !strings.Contains(said[0], c.said) {
					t.Errorf("said %q, want %q", said, c.said)
				}
				if n := len(box.calls()); n != c.calls {
					t.Errorf("called %d times, want %d", n, c.calls)
				}
				var edits []string
				for _, a := range w.actionsDue() {
					if a.Kind == spaces.ActEdit {
						edits = append(edits, a.Text[strings.LastIndexByte(a.Text, '\n')+1:])
					}
				}
				testutil.Same(t, "edits", []string{c.edit}, edits)
			})
		})
	}
}

package shell_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// S4: a model that repeats the end of what it was shown, as small ones do, gets neither
// the words on the phase out nor those on setting up a room.
func TestTheEndOfAFrameDoesNotGoOut(t *testing.T) {
	for _, c := range []struct{ name, asked, line string }{
		{"contemplation", "hello", "CONTEMPLATION. "},
		{"engagement", "hello", "ENGAGEMENT. "},
		{"one phase", "hello", "Answer with one call"},
		{"a set-up", "set up this room", "- Once you know enough"},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := ""
			m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				for line := range strings.Lines(whole(r)) {
					if strings.HasPrefix(line, c.line) {
						seen = strings.TrimSpace(line)
					}
				}
				switch {
				case r.NoCalls:
					return telling("hm"), nil
				case acts(r) > 1 || seen == "":
					return telling("Responded to Kai. Greeted."), nil
				case acts(r) == 1:
					return calling(2, "send_message", `{"text":"Hello."}`), nil
				}
				args, err := json.Marshal(map[string]string{"text": "Hello. " + seen})
				return calling(1, "send_message", string(args)), err
			})
			play(t, m, func(w *world) {
				w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
					s := twoPhases()
					if s.Phases = shell.PhasesTwo; c.name == "one phase" {
						s.Phases = shell.PhasesOne
					}
					return s
				}
				hall := w.room("hall")
				w.start()
				w.says(hall, "Kai", "@Ada "+c.asked)
				w.settle()
				if seen == "" {
					t.Fatal("it was not shown that")
				}
				testutil.Same(t, "said", []string{"Hello."}, w.spoken(hall))
			})
		})
	}
}

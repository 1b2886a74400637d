package shell_test

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// DELIVERY 2.8: an act in the middle of which an answer was cut off is not done, in the
// tags dialect either: nobody reads half a message. What was closed by then is.
func TestHalfATagIsNoAct(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		finish       llm.FinishReason
		said         []string
	}{
		{"at the limit", `<msg k="NONCE">Dear Kai, the first thing to`, llm.Length, []string{"short"}},
		{"by a filter", `<msg k="NONCE">Dear Kai, the first thing to`, llm.Blocked, []string{"short"}},
		{"behind a whole one", `<msg k="NONCE">one</msg><note k="NONCE">Kai asked for the first`, llm.Length, []string{"one", "short"}},
		{"behind all of them", `<msg k="NONCE">one</msg> and now I`, llm.Length, []string{"one", "short"}},
		{"not at all", `<msg k="NONCE">one`, llm.Stopped, []string{"one", "short"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cut := llm.ModelResponse{Text: c.answer, Finish: c.finish, Usage: llm.TokenUsage{Prompt: 100, Output: 10}}
			m := llmtest.NewScripted(nil,
				llmtest.ScriptStep{Response: cut},
				llmtest.ScriptStep{Response: telling(`<msg k="NONCE">short</msg> Responded to Kai about it. Answered.`)},
			)
			play(t, m, func(w *world) {
				w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
					s := twoPhases()
					s.Tags, s.Phases = true, shell.PhasesOne
					return s
				}
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "what is there to do?")
				w.settle()
				testutil.Same(t, "said", c.said, w.spoken(room))
				for _, n := range bodies[spaces.NoteAdded](w.inner(mind("Ada"))) {
					if strings.Contains(n.Text, "asked for the first") {
						t.Errorf("half a note is kept: %q", n.Text)
					}
				}
			})
		})
	}
}

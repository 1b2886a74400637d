package shell_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// questioner asks with these arguments when a person writes, and says what it was told of
// the end.
func questioner(args string) (model mindful, heard *[]string) {
	heard = new([]string)
	return func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		for _, m := range slices.Backward(r.Messages) {
			if m.Role == llm.Result && !strings.Contains(m.Text, "waitingFor") || m.Role == llm.User && strings.HasPrefix(m.Text, "RESULT") {
				*heard = append(*heard, m.Text)
				return telling("Nothing to add."), nil
			}
		}
		if acts(r) == 0 {
			return calling(1, "ask", args), nil
		}
		return telling("Nothing to add."), nil
	}, heard
}

// TOOLS 4: the question has buttons, and the run goes on with what was chosen, once, also
// in another process; with words; and with the end of its time.
func TestAQuestionWakesWithItsAnswer(t *testing.T) {
	const args = `{"question":"Which day?","options":["Tuesday","Wednesday"],"timeout":"2h"}`
	ends := map[string]struct {
		end  func(w *world, room spaces.SpaceID, run spaces.CycleID, by spaces.EntityID)
		want string
		text string
	}{
		"a press": {func(w *world, room spaces.SpaceID, run spaces.CycleID, by spaces.EntityID) {
			w.crash()
			w.start()
			for choice := range 2 {
				_, taken, err := w.store.Shell().AnswerQuestion(w.t.Context(), spaces.QuestionAnswer{Run: run, Spaces: []spaces.SpaceID{room}, Who: by, Choice: 2 - choice, At: time.Now()})
				w.ok(err)
				if taken != (choice == 0) {
					w.t.Errorf("press %d counted: %v", choice, taken)
				}
			}
		}, `chose 2 "Wednesday"`, "Kai chose: Wednesday"},
		"an option in words": {func(w *world, room spaces.SpaceID, _ spaces.CycleID, _ spaces.EntityID) { w.says(room, "Kai", "1") }, `chose 1 "Tuesday"`, "Kai chose: Tuesday"},
		"other words": {func(w *world, room spaces.SpaceID, _ spaces.CycleID, _ spaces.EntityID) {
			w.says(room, "Kai", "neither")
		}, "Kai (human) replied", "Kai answered in words."},
		"no answer": {func(*world, spaces.SpaceID, spaces.CycleID, spaces.EntityID) { pass(2*time.Hour + time.Minute) }, "timeout, of what you asked", "No one answered in time."},
	}
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			model, heard := questioner(args)
			play(t, model, func(w *world) {
				w.settings = onePhase
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "ask me which day")
				w.settle()
				asked := w.actionsDue()
				if len(asked) != 1 || len(asked[0].Choices) != 2 || !strings.HasSuffix(asked[0].Text, "1. Tuesday\n2. Wednesday") {
					t.Fatalf("asked %+v", asked)
				}
				run := spaces.CycleID(strings.Fields(asked[0].Choices[0].Value)[1])
				by, err := w.store.Shell().EntityOf(w.t.Context(), spaces.PlatformIdentity{Platform: "telegram", User: "u-Kai", Kind: spaces.Human, Name: "Kai"})
				w.ok(err)
				c.end(w, room, run, by)
				w.settle()
				var edits []string
				for _, a := range w.actionsDue() {
					if a.Kind == spaces.ActEdit {
						edits = append(edits, a.Text)
					}
				}
				testutil.Same(t, "edits", []string{"Which day?\n\n" + c.text}, edits)
				if len(*heard) != 1 || !strings.Contains((*heard)[0], c.want) {
					t.Errorf("told %q, want %q once", *heard, c.want)
				}
			})
		})
	}
}

// A question that people could not answer is refused with what is wrong.
func TestQuestionsThatNobodyCouldAnswerAreRefused(t *testing.T) {
	long := strings.Repeat("x", 76)
	for args, want := range map[string]string{
		`{"question":"When?","options":["six"]}`:                                   "bad_options",
		`{"question":"When?","options":["1","2","3","4","5","6","7","8","9"]}`:     "bad_options",
		`{"question":"When?","options":["six"," SIX "]}`:                           "bad_options",
		`{"question":"When?","options":["six",""]}`:                                "bad_options",
		`{"question":"When?","options":["six","` + long + `"]}`:                    "bad_options",
		`{"question":" ","options":["six","later"]}`:                               "empty_text",
		`{"question":"When?","options":["six","later"],"who":"Zoe"}`:               "unknown_person",
		`{"question":"When?","options":["six","later"],"who":"Ada"}`:               "unknown_person",
		`{"question":"When?","options":["six","later"],"timeout":"5s"}`:            "bad_timeout",
		`{"question":"When?","options":["six","later"],"timeout":"8d"}`:            "bad_timeout",
		`{"question":"When?","options":["six","later"],"timeout":"when they can"}`: "bad_timeout",
	} {
		model, heard := questioner(args)
		play(t, model, func(w *world) {
			w.settings = onePhase
			room := w.room("kai", direct)
			w.start()
			w.says(room, "Kai", "ask me")
			w.settle()
			if len(*heard) == 0 || !strings.Contains((*heard)[0], want) || len(w.spoken(room)) > 0 {
				t.Errorf("%s: told %q, want %s", args, *heard, want)
			}
		})
	}
}

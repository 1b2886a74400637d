package hud

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// recalls returns the words recalled for a question, the worthiest first.
func (w *world) recalls(question string, budget int) []string {
	var texts []string
	for _, r := range w.v.Recall(question, budget) {
		texts = append(texts, w.v.Seat(r.Space).Room.Chat.Messages[r.Line].Text)
	}
	return texts
}

// chatters fills a room with lines about nothing.
func (w *world) chatters(id spaces.SpaceID, n int) {
	for i := range n {
		w.says(id, []string{"kai", "nova", "sage"}[i%3], "nothing but "+words[i%len(words)]+" again and again")
	}
}

// A line is found by its speaker, by words of the same kin, by words
// that are spelled alike, and by what it answers.
func TestLinesAreFoundByMoreThanTheirWords(t *testing.T) {
	for name, c := range map[string]struct{ said, question string }{
		"speaker":      {"my shoulder is better", "what about the shoulder of Sage?"},
		"kin":          {"our holiday went well", "how was the trip?"},
		"spelling":     {"the plubmer comes at nine", "when does the plumber come?"},
		"another form": {"we had a celebration upstairs", "what was celebrated?"},
	} {
		w := newWorld(t)
		id := w.room("Family", "kai", "nova", "sage", "ada")
		w.chatters(id, 30)
		w.says(id, "sage", c.said)
		w.chatters(id, 30)
		w.v.Active = id
		if got := w.recalls(c.question, 200); !slices.Contains(got, c.said) {
			t.Errorf("%s: %q recalls %q", name, c.question, got)
		}
	}
}

// SEQ-44, SEQ-54, SEQ-74: an answer is recalled with its question, also when that is far
// before it.
func TestARecalledAnswerHasItsQuestion(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "sage", "ada")
	asked := w.says(id, "kai", "which one did you take in the end?")
	w.chatters(id, 20)
	w.add(id, "nova", spaces.MessagePosted{Text: "the turquoise marimba"}, replyTo(asked.ID))
	w.chatters(id, 20)
	w.v.Active = id
	got := w.recalls("who has a marimba?", 120)
	if !slices.Contains(got, "the turquoise marimba") || !slices.Contains(got, "which one did you take in the end?") {
		t.Errorf("recalled %q", got)
	}
}

// Other rooms of the mind count less, and still count.
func TestOtherRoomsAreInSoftFocus(t *testing.T) {
	w := newWorld(t)
	here, there := w.room("Family", "kai", "nova", "ada"), w.room("Work", "kai", "sage", "ada")
	w.says(there, "sage", "the turquoise marimba is sold")
	w.says(there, "sage", "the zither is sold")
	w.says(here, "kai", "the turquoise marimba is tuned")
	w.v.Active = here
	if got := w.recalls("what about the marimba?", 400); len(got) < 2 || got[0] != "the turquoise marimba is tuned" || !slices.Contains(got, "the turquoise marimba is sold") {
		t.Errorf("recalled %q", got)
	}
	if got := w.recalls("what about the zither?", 400); len(got) == 0 || got[0] != "the zither is sold" {
		t.Errorf("recalled %q", got)
	}
}

// Recalled lines, rendered, have no more tokens than they may.
func TestRecalledLinesKeepToTheirBudget(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "sage", "ada")
	for i := range 400 {
		w.says(id, []string{"kai", "nova", "sage"}[i%3], strings.Repeat("the garden and the "+words[i%len(words)]+" ", 1+i%5))
	}
	w.v.Active = id
	for _, budget := range []int{0, 20, 60, 200, 1500, 4000} {
		text := w.v.Tail(TailInput{Recalled: w.v.Recall("what about the garden?", budget)}).Recalled
		if n := (&TokenCounter{}).Count(text + "\n"); n > budget && text != "" {
			t.Errorf("%d tokens for %d:\n%s", n, budget, text)
		} else if budget >= 200 && n < budget*8/10 {
			t.Errorf("only %d tokens of %d are used", n, budget)
		}
	}
}

// Of lines that fit alike, those said at the time asked for come first.
func TestLinesOfATimeAskedForComeFirst(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "ada")
	for _, month := range []time.Month{2, 5, 8} {
		w.at = time.Date(2026, month, 9, 12, 0, 0, 0, time.UTC)
		w.says(id, "kai", "the piano was tuned again")
	}
	w.v.Active = id
	got := w.v.Recall("what about the piano in May?", 1000)
	if len(got) == 0 || got[0].Line != 1 {
		t.Errorf("recalled %+v, want the line of May first", got)
	}
}

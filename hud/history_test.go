package hud

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// A line that has nothing to do with what is asked is not relevant, wherever it
// is among those that have.
func TestALineThatAnswersNothingIsNotRelevant(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "ada")
	for i := range 30 {
		w.at = w.at.Add(recall.ConversationGap)
		w.says(id, "nova", []string{"the piano is here", "hello everybody", "good night"}[i%3])
	}
	w.v.Seats[0].Uplink.Cursor = w.v.Seats[0].Room.Upto()
	w.at = w.at.Add(recall.ConversationGap)
	w.says(id, "kai", "what about the piano?")
	w.wake(id)
	w.rests("Told Kai.")
	told := 0
	for _, item := range w.cut(CutFirst).Items {
		seq, ok := parseShortID(item.What)
		if !ok || seq > 30 {
			continue
		}
		told++
		asked := seq%3 == 1
		if relevant := !strings.HasPrefix(item.Why, "relevance 0.00"); relevant != asked {
			t.Errorf("line %d: %s", seq, item.Why)
		}
	}
	if told != 30 {
		t.Errorf("told are %d lines", told)
	}
}

// A line that answers another has it as a stub when the frame shows it nowhere else,
// and the stub counts towards the budget.
func TestAnElementPaysForTheStubOfWhatItAnswers(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "ada")
	w.v.Active = id
	e := w.says(id, "kai", "when does the train leave on Saturday, and from where?")
	w.add(id, "nova", spaces.MessagePosted{Text: "at nine"}, replyTo(e.ID))
	w.add(id, "kai", spaces.MessagePosted{Text: "too early"}, replyTo(e.ID))
	s := w.v.Seat(id)
	s.Uplink.Cursor = s.Room.Upto()
	h := (&keyframeBuilder{v: w.v}).history(s, w.v.query("train"), func(spaces.EventID) bool { return false }, 1000, 0)
	last := h.elements[len(h.elements)-1]
	if len(last.lines) != 1 || last.lines[0] != 2 {
		t.Fatalf("the last element has lines %v", last.lines)
	}
	if stub := last.Forms[0].Tokens - w.v.lineTokens(s, 2); stub < 10 {
		t.Errorf("the stub is charged %d tokens", stub)
	}
}

func TestOverlapIsTheShareOfTermsThatAreFound(t *testing.T) {
	q := recall.NewQuery("garden, piano and train")
	for text, want := range map[string]float64{"": 0, "The train!": 1. / 3, "a garden, the piano, a garden": 2. / 3, "trains, pianos, gardens": 1} {
		if got := recall.Overlap(text, q.Terms()); got != want {
			t.Errorf("overlap of %q is %v, want %v", text, got, want)
		}
	}
}

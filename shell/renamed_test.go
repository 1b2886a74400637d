package shell_test

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// BLU-11: who has taken another name is shown and called by it from their next
// words on, though nobody came or left.
func TestWhoTakesAnotherNameIsCalledByIt(t *testing.T) {
	k := &keeper{ChatModel: replier("hi @Karim")}
	play(t, k, func(w *world) {
		hall := w.room("hall")
		w.start()
		w.says(hall, "Kai", "@Ada are you there?")
		w.settle()
		in := w.update(hall, "Kai", spaces.MessagePosted{Text: "@Ada and now?"})
		in.From.Name = "Karim"
		w.record(in)
		w.settle()
		if last := k.frame(); !strings.Contains(last, "[hall] Karim (human)") {
			t.Errorf("the frame has the old name:\n%s", last[strings.Index(last, "YOUR SPACES"):])
		}
		var called []spaces.EntityID
		for _, said := range bodies[spaces.MessagePosted](w.log(hall)) {
			called = append(called, said.Mentions...)
		}
		if len(called) != 1 {
			t.Errorf("the answers call %v, want them once", called)
		}
	})
}

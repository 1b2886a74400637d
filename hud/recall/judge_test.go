package recall

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// What is judged ahead is what a look back would have found, and each line is judged once.
func TestLinesAreJudgedAheadOfALookBack(t *testing.T) {
	chat := spaces.NewChat()
	x := NewIndex(chat, func(id spaces.EntityID) string { return string(id) })
	say := func(text string) {
		n := chat.Upto + 1
		chat.Apply(spaces.Event{Seq: n, ID: spaces.EventID(fmt.Sprint(n)), Actor: "kai", Body: spaces.MessagePosted{Text: text}})
	}
	for i := range 10 {
		say([]string{"we agreed to take the train at 9:14", "hm", "why not?"}[i%3])
	}
	for _, want := range []int{4, 4, 2, 0} {
		if got := x.Judge(4); got != want {
			t.Fatalf("%d lines are judged at once, want %d", got, want)
		}
	}
	if slices.Contains(x.decisive, 0) {
		t.Errorf("some lines are not judged: %v", x.decisive)
	}
	say("settled: we meet on 3 May")
	chat.Apply(spaces.Event{Seq: 12, ID: "12", Actor: "kai", Body: spaces.MessageEdited{Target: "1", Text: "hm"}})
	x.MarkChanged(0)
	if got := x.Judge(4); got != 1 {
		t.Errorf("%d lines are judged after one more", got)
	}
	for _, i := range []int{0, 10} {
		if got, want := x.Decisiveness(i), Decisiveness(chat.Messages[i].Text); got < want-0.01 || got > want {
			t.Errorf("line %d is judged %v, want %v", i, got, want)
		}
	}
}

package hud

import (
	"strings"
	"testing"
)

// PRD-6.5-A8: the part about setting up a room comes before the end of the frame, and
// takes no room when it is empty.
func TestATailHasASetUpOnlyWhereThereIsOne(t *testing.T) {
	w := newWorld(t)
	w.v.Active = w.room("Family", "kai", "ada")
	in := TailInput{Now: w.at, Phase: "ENGAGEMENT.", Options: "TAKEN FROM YOU HERE: react"}
	without := w.v.Tail(in).String()
	in.SetUp = "NEW ROOM: nobody has set it up."
	with := w.v.Tail(in).String()
	if head, rest, _ := strings.Cut(with, in.SetUp+"\n"); head+rest != without || !strings.HasPrefix(rest, "ACTIVE SPACE: ") {
		t.Errorf("with a set-up it is\n%s\nwithout\n%s", with, without)
	}
}

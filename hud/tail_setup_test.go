package hud

import (
	"strings"
	"testing"
)

// PRD-6.5-A8: what is said of setting up a room comes before what the frame ends
// with, and takes nothing where nothing is said.
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

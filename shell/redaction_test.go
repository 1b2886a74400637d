package shell

import (
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// DESIGN 2: with a message go all its words, those of its edits and the names of
// its files.
func TestTheNamesOfFilesGoWithTheirMessage(t *testing.T) {
	room := hud.NewRoom(spaces.Space{ID: "sp"})
	for i, b := range []spaces.EventBody{
		spaces.MessagePosted{Text: "look at this", Attachments: []spaces.FileAttachment{{Kind: "file", Name: "divorce papers.pdf"}}},
		spaces.MessageEdited{Target: "e1", Text: "look at that"},
	} {
		room.Apply(spaces.Event{Space: "sp", Seq: int64(i + 1), ID: spaces.EventID([]string{"e1", "e2"}[i]), Actor: "kai", Body: b})
	}
	gone, ok := erasedBy(room, spaces.Event{Space: "sp", Seq: 3, ID: "e3", Actor: "kai", Body: spaces.MessageDeleted{Target: "e1"}})
	slices.Sort(gone.words)
	if want := []string{hud.FileMark("e1"), "divorce papers.pdf", "look at that", "look at this"}; !ok || !slices.Equal(slices.Compact(gone.words), want) {
		t.Fatalf("gone are %q", gone.words)
	}
	if got := hud.NewRedaction(gone.words...).Text(`s1 1: #1 Kai +file "divorce papers.pdf"`); got != `s1 1: #1 Kai +file "[deleted]"` {
		t.Errorf("redacted: %s", got)
	}
}

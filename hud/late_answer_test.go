package hud

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// SEQ-74: what a message answers counts also where only the receipt of what it answers
// tells that, and whether a person looked before it came or not.
func TestAnAnswerIsLinkedWhenItsQuestionIsFoundLater(t *testing.T) {
	ref := spaces.MessageRef{Account: "telegram:1", Chat: "100", Message: "7"}
	var found [2][]float64
	for looked := range found {
		w := newWorld(t)
		id := w.room("Work", "kai", "nova", "ada")
		asked := w.says(id, "ada", "which wallpaper shall we have")
		for n := range 6 {
			w.says(id, "nova", fmt.Sprintf("something else number%d", n))
		}
		w.add(id, "kai", spaces.MessagePosted{Text: "the green one", ReplyRef: ref})
		if looked == 1 {
			w.v.Recall("wallpaper", 200)
		}
		w.add(id, "ada", spaces.ActionDelivered{Message: asked.ID, Action: "a1", Refs: []spaces.MessageRef{ref}})
		found[looked] = scores(w.v, "wallpaper")
	}
	if !slices.Equal(found[0], found[1]) {
		t.Errorf("nobody looked before: %v\nsomebody did:       %v", found[0], found[1])
	}
}

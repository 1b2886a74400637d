package web

import (
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// A message is shown with what was done to it later, and without what was taken back.
func TestMessagesAreShownAsTheyStandNow(t *testing.T) {
	ref := spaces.MessageRef{Account: "local:local", Chat: "home", Message: "m1"}
	b := chatBuilder{words: func(reason string) string { return reason }, woke: map[spaces.EventID][]console.GateMark{}}
	for i, body := range []spaces.EventBody{
		spaces.MessagePosted{Text: "soup at six", Ref: ref},
		spaces.ReactionAdded{Ref: ref, Emoji: "👍"},
		spaces.ReactionAdded{Target: "e0", Emoji: "🎉"},
		spaces.ReactionRemoved{Ref: ref, Emoji: "👍"},
		spaces.MessageEdited{Ref: ref, Text: "soup at seven"},
	} {
		b.add(console.LogLine{Event: spaces.Event{ID: spaces.EventID("e" + string(rune('0'+i))), Actor: "maya", Body: body}})
	}
	if len(b.lines) != 1 || b.lines[0].Text != "soup at seven" || !slices.Equal(b.lines[0].Notes, []string{"🎉 maya", "edited"}) {
		t.Errorf("shown as %+v", b.lines)
	}
	b.add(console.LogLine{Event: spaces.Event{ID: "e5", Actor: "maya", Body: spaces.MessageDeleted{Ref: ref}}})
	if !b.lines[0].Deleted {
		t.Error("a deleted message is shown")
	}
}

package hud

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/spaces"
)

// SEQ-43, SEQ-44, SEQ-46: the analysis of a cut tells the time its lines span, how many
// there are to a conversation, how they hang together, and which matter in any case.
func TestACutTellsWhatItFound(t *testing.T) {
	w := newWorld(t)
	room, quiet := w.room("Work", "kai", "sage", "ada"), w.room("Den", "kai", "ada")
	thread := func(e *spaces.Event) { e.Thread = "t1" }
	first := w.says(room, "kai", "the pump is broken")
	w.says(room, "sage", "which pump?")
	asked := w.add(room, "kai", spaces.MessagePosted{Text: "the big one, @Sage"}, replyTo(first.ID))
	w.says(room, "ada", "I call the plumber")
	w.add(room, "kai", spaces.MessagePosted{Text: "@Ada thanks", Mentions: []spaces.EntityID{entity("ada").ID, entity("sage").ID}})
	w.at = w.at.Add(30 * time.Hour)
	w.add(room, "kai", spaces.MessagePosted{Text: "lunch?"}, thread)
	w.add(room, "sage", spaces.MessagePosted{Text: "at noon"}, thread)
	w.add(room, "sage", spaces.MessagePinned{Target: asked.ID})
	w.v.Active = quiet
	for i := range w.v.Seats {
		w.v.Seats[i].Uplink.Cursor = w.v.Seats[i].Room.Upto()
	}
	_, plan := w.v.Cut(CutFirst)
	want := []CompactionAnalysis{{
		Space: "s1", Lines: 7, From: first.At, To: w.at.Add(-time.Minute), Talks: 2, Density: 3.5,
		Edges: []LineEdge{
			{"#3", "#1", RepliesTo},
			{"#5", "#4", Addresses},
			{"#5", "#2", Addresses},
			{"#7", "#6", SameThread},
		},
		Important: []string{"#3", "#5"},
	}}
	if diff := cmp.Diff(want, plan.Analyses); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

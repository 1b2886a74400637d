package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/spaces"
)

// SECURITY S5, DESIGN 2: where words stand is kept by room and model, replaced when it
// is asked again, counted, and gone with an edit or a deletion of the words; what was
// asked of words that have changed since is counted and not kept.
func meanings(t *testing.T, w *world) {
	room := w.family()
	texts := []string{"we sail on friday", "the boiler leaks", "bring the tent"}
	var said []spaces.IngestItem
	var lines []spaces.MessageEmbedding
	for i, text := range texts {
		in := w.message(room, "zoe", text)
		w.record(in)
		e := w.last(room)
		said = append(said, in)
		lines = append(lines, spaces.MessageEmbedding{Event: e.ID, Seq: e.Seq, Vector: spaces.EmbeddingVector{int8(i), -127, 127}})
	}
	known := func(model string, after, upto int64, want ...spaces.MessageEmbedding) {
		t.Helper()
		got, err := w.s.Shell.Meanings(t.Context(), room, model, after, upto)
		w.ok(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("known by %s (-want +got):\n%s", model, diff)
		}
	}
	upto := lines[2].Seq
	meant := spaces.EmbeddingResult{Space: room, Model: "small", Upto: upto, All: lines, Usage: spaces.TokenUsage{Prompt: 12, Calls: 1}, At: w.now}
	before, err := w.s.Shell.Spent(t.Context(), w.now, ada.Agent, room)
	w.ok(err)
	w.ok(w.s.Shell.Mean(t.Context(), meant))
	known("small", 0, upto, lines...)
	known("small", lines[0].Seq, lines[1].Seq, lines[1])
	known("large", 0, upto)
	meant.Model = "large"
	w.ok(w.s.Shell.Mean(t.Context(), meant))
	known("small", 0, upto)
	known("large", 0, upto, lines...)

	w.record(w.fact(room, "zoe", spaces.MessageEdited{Ref: said[0].Ref, Text: "we sail on saturday"}))
	known("large", 0, upto, lines[1], lines[2])
	w.is(w.s.Shell.Mean(t.Context(), meant), spaces.ErrStale)
	known("large", 0, upto, lines[1], lines[2])
	w.record(w.fact(room, "zoe", spaces.MessageDeleted{Ref: said[1].Ref}))
	known("large", 0, upto, lines[2])

	w.ok(w.s.Shell.Mean(t.Context(), spaces.EmbeddingResult{Space: room, Model: "large", Usage: spaces.TokenUsage{Prompt: 3, Calls: 1}, At: w.now}))
	after, err := w.s.Shell.Spent(t.Context(), w.now, ada.Agent, room)
	w.ok(err)
	if after.All.Tokens != before.All.Tokens+3*12+3 || after.Space.Tokens != before.Space.Tokens+3*12+3 || after.Agent != before.Agent {
		t.Errorf("spent are %+v, before it %+v", after, before)
	}
}

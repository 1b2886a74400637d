package hud

import (
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// SEQ-47, SEQ-71: a plan tells how strongly each part is compressed, from 1 to 5.
func TestPlanTellsLevels(t *testing.T) {
	got := levelsOf([]PlanItem{
		{Area: "spaces", Form: Full},
		{Area: "history s1", Form: Full, Score: 8},
		{Area: "history s1", Form: Trimmed, Score: 2},
		{Area: "history s2", Form: OneLine, Score: 5},
		{Area: "history s2", Form: Nothing, Score: 1},
		{Area: "notes", Form: Nothing, Score: 4},
	})
	want := []CompressionLevel{
		{"all", 3, 0.52}, {"spaces", 1, 1}, {"history s1", 2, 0.85}, {"history s2", 4, 0.2}, {"notes", 5, 0},
	}
	testutil.Same(t, "levels", want, got)
}

// SEQ-33, SEQ-41, SEQ-48: the tighter the budget of a cut, the higher the levels of its plan.
func TestATighterCutHasHigherLevels(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "sage", "ada")
	w.chatters(id, 400)
	w.v.Active = id
	w.v.Seats[0].Uplink.Cursor = w.v.Seats[0].Room.Upto()
	before := 1
	for _, context := range []int{32_000, 12_000, 6_000, 3_500} {
		w.v.Limits = ViewLimits{ContextTokens: context, MaxOutputTokens: 500}
		_, plan := w.v.Cut(CutFirst)
		if len(plan.Levels) == 0 || plan.Levels[0].Of != "all" || plan.Levels[0].Level < before {
			t.Errorf("a context of %d is at %+v, a larger one at %d", context, plan.Levels, before)
			continue
		}
		before = plan.Levels[0].Level
	}
	if before < 2 {
		t.Errorf("the tightest cut is at level %d", before)
	}
}

package hud

import (
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// Causes of a compaction, as [spaces.Compacted] stores them.
const (
	CutFirst     = "first"
	CutHighWater = "high_water"
	CutGuard     = "guard"
	CutTurns     = "turns"
	CutRedaction = "redaction"
	CutFresh     = "fresh"
	CutAsked     = "asked" // by a person
	CutFrame     = "frame" // one frame was too long; only its plan is stored
)

// NeedsCut reports whether the context should be compacted before the next cycle, and
// the cause: there is history that no keyframe shows yet; or keyframe, turns and a
// tail of that many tokens exceed the high-water mark of the budget; or they and the
// fixed tokens exceed Limits.Guard of the model's window (guard). Tokens are counted
// only when the number of bytes does not prove that they fit.
func (v *MindView) NeedsCut(tailTokens int) (cause string, need bool) {
	if v.Keyframe == nil && len(v.Closed) == 0 && v.hasHistory() {
		return CutFirst, true
	}
	c := newCompaction(v)
	if c.within(min(c.high, c.guard) - tailTokens) {
		return "", false
	}
	if c.guard < c.high {
		return CutGuard, true
	}
	return CutHighWater, true
}

// Guarded reports whether keyframe, turns and a tail of that many tokens stay within
// Limits.Guard of the model's window, whether they exceed the high-water mark or not.
func (v *MindView) Guarded(tailTokens int) bool {
	c := newCompaction(v)
	return c.within(c.guard - tailTokens)
}

// hasHistory reports whether there is anything that a first keyframe would show.
func (v *MindView) hasHistory() bool {
	if len(v.Plans) > 0 {
		return true
	}
	if s := v.Self; s != nil && len(s.Notes.All)+len(s.Goals.All)+len(s.Memories.All)+len(s.Bookmarks.Bookmarks) > 0 {
		return true
	}
	for i := range v.Seats {
		s := &v.Seats[i]
		if from, to := s.Room.messagesIn(s.Uplink.Fresh, s.Uplink.Cursor); to > from {
			return true
		}
	}
	return false
}

// Cut returns a new keyframe that absorbs the older cycles, so that keyframe and
// turns are left at the low-water mark. The newest closed cycles stay verbatim:
// Limits.FullCycles of them in three fifths of that, Limits.MinRecentCycles in
// three quarters, Limits.KeepTurns in seven eighths. A compaction by turns, or by a
// person's word, has no such need: it keeps Limits.KeepTurns whatever they take, and leaves of the others
// two fifths, or Limits.SummaryTokens. The plan lists every element. The caller sets
// the keyframe's At, which must not be before anything in the view.
func (v *MindView) Cut(cause string) (spaces.Keyframe, FramePlan) {
	c := newCompaction(v)
	low := min(c.budget*c.limits.LowWater/100, min(c.high, c.guard)*5/8)
	room := max(low-v.Counter.turns(v.Current), 0)
	kept, spent := c.keepRecent(room)
	tokens := max(room-spent, low/8)
	if cause == CutTurns || cause == CutAsked {
		kept = min(c.limits.KeepTurns, len(v.Closed))
		gone := v.Counter.cycles(v.Closed[:len(v.Closed)-kept])
		spent = v.Counter.cycles(v.Closed[len(v.Closed)-kept:])
		tokens = min(tokens, v.Counter.keyframe(v.Keyframe)+max(gone*2/5, c.limits.SummaryTokens))
	}
	k, plan := newKeyframe(v, cause, tokens, kept)
	plan.Kept, plan.Levels = spent, levelsOf(plan.Items)
	return k, plan
}

// Settle counts turns of closed cycles and lines of the active room that are not
// counted yet, once the number of bytes no longer proves that the context is below its
// low-water mark. Called after every cycle it counts little each time, and a later
// compaction finds the counts.
func (v *MindView) Settle() {
	c := newCompaction(v)
	if c.bound() <= c.budget*c.limits.LowWater/100 {
		return
	}
	v.Count()
	if s := v.Seat(v.Active); s != nil {
		v.countNewest(s)
	}
}

// Count returns the exact tokens of keyframe and turns, and stores the counts in them.
func (v *MindView) Count() int {
	if v.Keyframe == nil && len(v.Closed)+len(v.Current) == 0 {
		return 0
	}
	return v.Counter.keyframe(v.Keyframe) + v.Counter.cycles(v.Closed) + v.Counter.turns(v.Current)
}

// A compaction holds the token limits at which a view is compacted.
type compaction struct {
	v           *MindView
	limits      ViewLimits
	budget      int
	high, guard int // tokens of keyframe, turns and tail above which the context is compacted
}

func newCompaction(v *MindView) compaction {
	l, budget := v.Limits.withDefaults(), v.Budget()
	return compaction{
		v: v, limits: l, budget: budget,
		high: budget * l.HighWater / 100, guard: max(l.ContextTokens*l.Guard/100-v.FixedTokens, budget/3),
	}
}

// within reports whether keyframe and turns have at most mark tokens.
func (c *compaction) within(mark int) bool {
	bound := c.bound()
	if bound <= mark {
		return true
	}
	bound -= boundKeyframe(c.v.Keyframe) - c.v.Counter.keyframe(c.v.Keyframe)
	for t := range c.v.turns() {
		if bound <= mark {
			return true
		}
		bound -= boundTurn(t) - c.v.Counter.Turn(t)
	}
	return bound <= mark
}

// bound returns a number no smaller than the tokens of keyframe and turns, without
// counting any.
func (c *compaction) bound() int {
	n := boundKeyframe(c.v.Keyframe)
	for t := range c.v.turns() {
		n += boundTurn(t)
	}
	return n
}

// keepRecent returns how many of the newest closed cycles stay verbatim when keyframe
// and turns may have that many tokens, and their tokens. The last one stays unless it
// alone takes most of the budget.
func (c *compaction) keepRecent(tokens int) (kept, spent int) {
	l := c.limits
	stays := func(kept, spent int) bool {
		return kept <= l.FullCycles && spent <= tokens*3/5 || kept <= l.MinRecentCycles && spent <= tokens*3/4 ||
			kept <= l.KeepTurns && spent <= tokens*7/8 || kept == 1 && spent <= c.budget/2
	}
	for _, closed := range slices.Backward(c.v.Closed) {
		n := c.v.Counter.turns(closed.Turns)
		if !stays(kept+1, spent+n) {
			break
		}
		spent += n
		kept++
	}
	return kept, spent
}

package hud

import (
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// Why a context is cut, as [spaces.Compacted] has it.
const (
	CutFirst     = "first"
	CutHighWater = "high_water"
	CutGuard     = "guard"
	CutTurns     = "turns"
	CutRedaction = "redaction"
	CutFresh     = "fresh"
	CutFrame     = "frame" // one frame was too long; nothing is recorded but its plan
)

// NeedsCut reports whether the context should be cut before the next cycle, and
// why: there is history that no keyframe shows yet; or keyframe, turns and a
// tail of that many tokens pass the high-water mark of the budget; or they and
// the fixed tokens pass Limits.Guard of the model's window (guard). Tokens are counted
// only when the bytes alone do not prove that all is well.
func (v *View) NeedsCut(tailTokens int) (cause string, need bool) {
	if v.Keyframe == nil && len(v.Closed) == 0 && v.hasHistory() {
		return CutFirst, true
	}
	high, guard := v.marks()
	if v.withinMark(min(high, guard) - tailTokens) {
		return "", false
	}
	if guard < high {
		return CutGuard, true
	}
	return CutHighWater, true
}

// Guarded reports whether keyframe, turns and a tail of that many tokens stay within
// Limits.Guard of the model's window, past the high-water mark or not.
func (v *View) Guarded(tailTokens int) bool {
	_, guard := v.marks()
	return v.withinMark(guard - tailTokens)
}

// marks returns the tokens of keyframe, turns and tail at which to cut.
func (v *View) marks() (high, guard int) {
	l := v.Limits.withDefaults()
	high = v.Budget() * l.HighWater / 100
	return high, max(l.ContextTokens*l.Guard/100-v.FixedTokens, v.Budget()/3)
}

func (v *View) hasHistory() bool {
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

// withinMark reports whether keyframe and turns have at most mark tokens.
func (v *View) withinMark(mark int) bool {
	bound := v.size()
	if bound <= mark {
		return true
	}
	bound -= keyframeBound(v.Keyframe) - v.keyframeTokens()
	for t := range v.turns() {
		if bound <= mark {
			return true
		}
		bound -= boundTurn(t) - v.Counter.Turn(t)
	}
	return bound <= mark
}

// turns yields the turns of all closed cycles and of the open one.
func (v *View) turns() iter.Seq[*spaces.TranscriptTurn] { return eachTurn(v.Closed, v.Current) }

// keyframeBound returns what a keyframe takes, or a bound where nobody has
// counted it.
func keyframeBound(k *spaces.Keyframe) int {
	switch {
	case k == nil:
		return 0
	case k.Tokens > 0:
		return k.Tokens
	}
	return messageOverhead + Bound(k.Text)
}

// keyframeTokens counts the keyframe and keeps the count in it.
func (v *View) keyframeTokens() int {
	if v.Keyframe != nil && v.Keyframe.Tokens == 0 {
		v.Keyframe.Tokens = messageOverhead + v.Counter.Count(v.Keyframe.Text)
	}
	return keyframeBound(v.Keyframe)
}

// Cut makes a new keyframe that absorbs the older cycles, so that keyframe and
// turns are left at the low-water mark. The newest closed cycles stay verbatim:
// Limits.FullCycles of them in three fifths of that, Limits.MinRecentCycles in
// three quarters, Limits.KeepTurns in seven eighths. A cut by turns is under no
// such pressure: it keeps Limits.KeepTurns whatever they take, and leaves of the
// others two fifths, or Limits.SummaryTokens (PRD-6.4). The plan lists every
// element. The keyframe's At is left to the caller; it must be no
// earlier than what the view holds.
func (v *View) Cut(cause string) (spaces.Keyframe, Plan) {
	l := v.Limits.withDefaults()
	high, guard := v.marks()
	low := min(v.Budget()*l.LowWater/100, min(high, guard)*5/8)
	room := max(low-v.turnsTokens(v.Current), 0)
	kept, spent := v.recent(room)
	tokens := max(room-spent, low/8)
	if cause == CutTurns {
		kept = min(l.KeepTurns, len(v.Closed))
		gone := v.cyclesTokens(v.Closed[:len(v.Closed)-kept])
		spent = v.cyclesTokens(v.Closed[len(v.Closed)-kept:])
		tokens = min(tokens, v.keyframeTokens()+max(gone*2/5, l.SummaryTokens))
	}
	k, plan := v.keyframe(cause, tokens, kept)
	plan.Kept, plan.Levels = spent, levels(plan.Items)
	return k, plan
}

func (v *View) cyclesTokens(cs []spaces.ClosedCycle) int {
	n := 0
	for i := range cs {
		n += v.turnsTokens(cs[i].Turns)
	}
	return n
}

// recent returns how many of the newest closed cycles stay verbatim when
// keyframe and turns may have that many tokens, and what they take. The last one
// stays unless it alone would take most of the budget.
func (v *View) recent(tokens int) (kept, spent int) {
	l := v.Limits.withDefaults()
	stays := func(kept, spent int) bool {
		return kept <= l.FullCycles && spent <= tokens*3/5 || kept <= l.MinRecentCycles && spent <= tokens*3/4 ||
			kept <= l.KeepTurns && spent <= tokens*7/8 || kept == 1 && spent <= v.Budget()/2
	}
	for _, c := range slices.Backward(v.Closed) {
		n := v.turnsTokens(c.Turns)
		if !stays(kept+1, spent+n) {
			break
		}
		spent += n
		kept++
	}
	return kept, spent
}

// Settle counts the turns of closed cycles and the lines of the active room that
// nobody has counted, once the bytes no longer prove that the context is below
// its low-water mark. Asked for after every cycle it counts little each time, and
// a later cut finds it done.
func (v *View) Settle() {
	l := v.Limits.withDefaults()
	if v.size() <= v.Budget()*l.LowWater/100 {
		return
	}
	v.Count()
	if s := v.Seat(v.Active); s != nil {
		v.gaugeNewest(s)
	}
}

// Count returns the exact tokens of keyframe and turns, and keeps what it counts
// with them.
func (v *View) Count() int {
	if v.Keyframe == nil && len(v.Closed)+len(v.Current) == 0 {
		return 0
	}
	return v.keyframeTokens() + v.cyclesTokens(v.Closed) + v.turnsTokens(v.Current)
}

// size returns the tokens of keyframe and turns, or a bound of those that nobody
// has counted.
func (v *View) size() int {
	n := keyframeBound(v.Keyframe)
	for t := range v.turns() {
		n += boundTurn(t)
	}
	return n
}

func (v *View) turnsTokens(ts []spaces.TranscriptTurn) int {
	n := 0
	for i := range ts {
		n += v.Counter.Turn(&ts[i])
	}
	return n
}

// keyframe renders everything but the newest kept cycles within the tokens.
func (v *View) keyframe(cause string, tokens, kept int) (spaces.Keyframe, Plan) {
	k := spaces.Keyframe{Mind: spaces.Mind{Agent: v.Agent, Circle: v.Circle}, N: 1, Cause: cause}
	if v.Keyframe != nil {
		k.N, k.Upto = v.Keyframe.N+1, v.Keyframe.Upto
	}
	absorbed := v.Closed[:len(v.Closed)-kept]
	if n := len(absorbed); n > 0 {
		k.Upto = absorbed[n-1].N
	}
	plan := Plan{Cause: cause, Budget: tokens}
	if v.small() {
		v.bounded = true
		c := v.compose(v.delegates(absorbed, v.Closed[len(absorbed):], tokens), tokens-messageOverhead)
		v.bounded = false
		if bound := messageOverhead + Bound(c.text); c.whole && bound <= tokens {
			c.into(&k, &plan)
			plan.Tokens = bound
			if len(v.Closed) > 0 { // the vocabulary is at hand: turns have been counted
				k.Tokens = messageOverhead + v.Counter.Count(k.Text)
				plan.Tokens, plan.Exact = k.Tokens, true
			}
			return k, plan
		}
	}
	ds := v.delegates(absorbed, v.Closed[len(absorbed):], tokens)
	plan.Exact = true
	for room := tokens - messageOverhead; ; {
		v.compose(ds, room).into(&k, &plan)
		k.Tokens = messageOverhead + v.Counter.Count(k.Text)
		plan.Tokens = k.Tokens
		if k.Tokens <= tokens || k.Text == "" {
			return k, plan
		}
		room -= max(k.Tokens-tokens, room/50, 1) // what joins the elements took more than was set aside
		if room <= 0 {
			k.Text, k.Refs, k.Tokens = "", nil, 0
			plan.Tokens, plan.Items, plan.Bundles, plan.Analyses = 0, nil, nil, nil
			return k, plan
		}
	}
}

// A keyframeText is a keyframe's text with what the plan tells of it.
type keyframeText struct {
	text    string
	refs    []spaces.EventID
	items   []PlanItem
	bundles []SpanBundle
	found   []Analysis
	whole   bool // every element has its richest form
}

func (c keyframeText) into(k *spaces.Keyframe, p *Plan) {
	k.Text, k.Refs, p.Items, p.Bundles, p.Analyses = c.text, c.refs, c.items, c.bundles, c.found
}

// compose chooses a form for every element of the delegates within the tokens
// and joins the sections by blank lines (SEQ-33, SEQ-80).
func (v *View) compose(ds []Delegate, tokens int) keyframeText {
	var out keyframeText
	l := v.Limits.withDefaults()
	n := 0
	for _, d := range ds {
		n += len(d.Elements())
	}
	all, starts := make([]Element, 0, n), make([]int, 0, len(ds)+1)
	for _, d := range ds {
		starts = append(starts, len(all))
		es := d.Elements()
		if len(es) > 0 {
			tokens -= d.Overhead()
		}
		all = append(all, es...)
	}
	starts = append(starts, len(all))
	if l.LevelStart > 1 || l.LevelMax < maxLevel {
		for i := range all {
			all[i].at(l.LevelStart, l.LevelMax)
		}
	}
	chosen := Fit(all, tokens)
	out.whole = !slices.ContainsFunc(chosen, func(form int) bool { return form != 0 })
	var sections []string
	out.items = slices.Grow(out.items, len(all))
	for i, d := range ds {
		part := make([]Chosen, 0, starts[i+1]-starts[i])
		for k := starts[i]; k < starts[i+1]; k++ {
			c := Chosen{Element: &all[k]}
			item := PlanItem{Area: all[k].Area, What: all[k].What, Form: Nothing, Score: score(all[k].Value), Why: all[k].Why}
			if f := chosen[k]; f >= 0 {
				c.Form = &all[k].Forms[f]
				item.Form, item.Tokens = c.Form.Name, c.Form.Tokens
			}
			part, out.items = append(part, c), append(out.items, item)
		}
		section, shows := d.Section(part)
		if section != "" {
			sections, out.refs = append(sections, section), append(out.refs, shows...)
		}
		if h, ok := d.(*history); ok {
			out.bundles = append(out.bundles, h.told(part)...)
			if a := h.analyse(); a.Lines > 0 {
				out.found = append(out.found, a)
			}
		}
	}
	out.text = strings.Join(sections, "\n\n")
	return out
}

// score is a value as a plan tells it: to a hundredth.
func score(value float64) float64 { return math.Round(value*100) / 100 }

// small reports whether there is so little behind the view that all of it may
// well fit: then bounds are tried before anything is counted.
func (v *View) small() bool {
	lines := 0
	for i := range v.Seats {
		lines += len(v.Seats[i].Room.Chat.Messages)
	}
	return lines <= 200
}

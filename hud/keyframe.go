package hud

import (
	"math"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// A keyframeBuilder renders the keyframe of a view within a number of tokens. Each
// part of the keyframe is a [Delegate]: the builder asks all of them for their
// elements, chooses a form for each element, and joins the sections.
type keyframeBuilder struct {
	v        *MindView
	tokens   int
	absorbed []spaces.ClosedCycle // replaced by the keyframe
	kept     []spaces.ClosedCycle // left as turns behind it
	bounded  bool                 // counts are bounds, while it is tried whether everything fits anyway
	plain    bool                 // what is left out is not summarised: a frame waits
}

// newKeyframe renders everything but the newest kept cycles within the tokens.
func newKeyframe(v *MindView, cause string, tokens, kept int) (spaces.Keyframe, FramePlan) {
	k := spaces.Keyframe{Mind: spaces.Mind{Agent: v.Agent, Circle: v.Circle}, N: 1, Cause: cause}
	if v.Keyframe != nil {
		k.N, k.Upto = v.Keyframe.N+1, v.Keyframe.Upto
	}
	split := len(v.Closed) - kept
	if split > 0 {
		k.Upto = v.Closed[split-1].N
	}
	b := keyframeBuilder{v: v, tokens: tokens, absorbed: v.Closed[:split], kept: v.Closed[split:], plain: cause == CutFrame}
	plan := FramePlan{Cause: cause, Budget: tokens}
	if !b.buildWhole(&k, &plan) {
		b.buildFitting(&k, &plan)
	}
	return k, plan
}

// buildWhole builds a keyframe that shows all elements in full, if there is little
// history and bounds alone prove that it fits.
func (b *keyframeBuilder) buildWhole(k *spaces.Keyframe, plan *FramePlan) bool {
	if !b.smallHistory() {
		return false
	}
	b.bounded = true
	c := b.compose(b.delegates(), b.tokens-messageOverhead)
	b.bounded = false
	bound := messageOverhead + Bound(c.text)
	if !c.whole || bound > b.tokens {
		return false
	}
	c.into(k, plan)
	plan.Tokens = bound
	if len(b.v.Closed) > 0 { // turns were counted, so the vocabulary is loaded already
		k.Tokens = messageOverhead + b.v.Counter.Count(k.Text)
		plan.Tokens, plan.Exact = k.Tokens, true
	}
	return true
}

// buildFitting builds a keyframe with exact counts. What joins the elements may take
// more than was reserved; then it builds again with fewer tokens.
func (b *keyframeBuilder) buildFitting(k *spaces.Keyframe, plan *FramePlan) {
	ds := b.delegates()
	plan.Exact = true
	for room := b.tokens - messageOverhead; ; {
		b.compose(ds, room).into(k, plan)
		k.Tokens = messageOverhead + b.v.Counter.Count(k.Text)
		plan.Tokens = k.Tokens
		if k.Tokens <= b.tokens || k.Text == "" {
			return
		}
		room -= max(k.Tokens-b.tokens, room/50, 1)
		if room <= 0 {
			k.Text, k.Refs, k.Tokens = "", nil, 0
			plan.Tokens, plan.Items, plan.Bundles, plan.Analyses = 0, nil, nil, nil
			return
		}
	}
}

// smallHistory reports whether the rooms have so few lines that all of them may fit.
func (b *keyframeBuilder) smallHistory() bool {
	lines := 0
	for i := range b.v.Seats {
		lines += len(b.v.Seats[i].Room.Chat.Messages)
	}
	return lines <= 200
}

// delegates returns the parts of the keyframe in their order: what changes least
// first, the active room last.
func (b *keyframeBuilder) delegates() []Delegate {
	q := b.v.query("")
	terms := q.Terms()
	inTurns := b.inKeptTurns()
	ds := []Delegate{
		b.spaceList(), b.goalList(), b.planList(), b.memoryList(terms), b.noteList(terms), b.bookmarkList(), b.fileList(),
		b.summaryList(terms),
	}
	share := 0.0
	for i := range b.v.Seats {
		share += b.v.focus(&b.v.Seats[i])
	}
	reserve := float64(b.tokens*b.v.Limits.withDefaults().NewestShare) / 100
	var active Delegate
	for i := range b.v.Seats {
		s := &b.v.Seats[i]
		h := b.history(s, q, inTurns, b.tokens, int(reserve*b.v.focus(s)/share))
		if s.Uplink.Space == b.v.Active {
			active = h
			continue
		}
		ds = append(ds, h)
	}
	if active != nil {
		ds = append(ds, active)
	}
	return ds
}

// inKeptTurns returns a function that reports whether a message is shown by a turn
// that stays behind the keyframe.
func (b *keyframeBuilder) inKeptTurns() func(spaces.EventID) bool {
	shown := map[spaces.EventID]struct{}{}
	for t := range eachTurn(b.kept, b.v.Current) {
		for _, id := range t.Refs {
			shown[id] = struct{}{}
		}
	}
	return func(id spaces.EventID) bool { _, ok := shown[id]; return ok }
}

// A keyframeText is a keyframe's text with what the plan says about it.
type keyframeText struct {
	text     string
	refs     []spaces.EventID
	items    []PlanItem
	bundles  []SpanBundle
	analyses []CompactionAnalysis
	whole    bool // every element has its richest form
}

func (c keyframeText) into(k *spaces.Keyframe, p *FramePlan) {
	k.Text, k.Refs, p.Items, p.Bundles, p.Analyses = c.text, c.refs, c.items, c.bundles, c.analyses
}

// compose chooses a form for every element of the delegates within the tokens and
// joins the sections by blank lines.
func (b *keyframeBuilder) compose(ds []Delegate, tokens int) keyframeText {
	var out keyframeText
	l := b.v.Limits.withDefaults()
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
			all[i].restrictLevels(l.LevelStart, l.LevelMax)
		}
	}
	chosen := FitForms(all, tokens)
	out.whole = !slices.ContainsFunc(chosen, func(form int) bool { return form != 0 })
	var summaries map[Delegate][]ChosenElement
	if !out.whole && !b.bounded && !b.plain {
		chosen, summaries = b.summarise(ds, starts, all, chosen, tokens)
	}
	var sections []string
	out.items = slices.Grow(out.items, len(all))
	for i, d := range ds {
		part := make([]ChosenElement, 0, starts[i+1]-starts[i])
		for k := starts[i]; k < starts[i+1]; k++ {
			c := ChosenElement{Element: &all[k]}
			item := PlanItem{Area: all[k].Area, What: all[k].What, Form: Nothing, Score: roundScore(all[k].Value), Why: all[k].Why}
			if f := chosen[k]; f >= 0 {
				c.Form = &all[k].Forms[f]
				item.Form, item.Tokens = c.Form.Name, c.Form.Tokens
			}
			part, out.items = append(part, c), append(out.items, item)
		}
		for _, c := range summaries[d] {
			part, out.items = append(part, c), append(out.items, summaryItem(c))
		}
		section, shows := d.Section(part)
		if section != "" {
			sections, out.refs = append(sections, section), append(out.refs, shows...)
		}
		if h, ok := d.(*history); ok {
			out.bundles = append(out.bundles, h.spanBundles(part)...)
			if a := h.analyse(); a.Lines > 0 {
				out.analyses = append(out.analyses, a)
			}
		}
	}
	out.text = strings.Join(sections, "\n\n")
	return out
}

// roundScore rounds a value to a hundredth, as plans show it.
func roundScore(value float64) float64 { return math.Round(value*100) / 100 }

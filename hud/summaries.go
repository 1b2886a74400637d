package hud

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// summariesHeader is the header of the agent's own summaries of old cycles.
const summariesHeader = "[EARLIER CYCLES — self-summaries]"

// summaryList is the layered list of self-summaries: behind the kept
// cycles, which are shown in full, one line each up to Limits.SummariesSingle in
// all, older ones in groups with their range and what was decided. It needs no
// model; where a model has summarised a group, its summary is shown instead.
type summaryList struct{ section }

func (b *keyframeBuilder) summaryList(terms []string) *summaryList {
	l := b.v.Limits.withDefaults()
	all := accounted(slices.Concat(b.v.Earlier, b.absorbed))
	s := &summaryList{section{header: summariesHeader}}
	single := 0
	for _, group := range GroupCycles(all, len(b.kept), l) {
		s.elements = append(s.elements, b.groupElement(group, terms, (len(all)-single)/10))
		single += len(group)
	}
	for i := single; i < len(all); i++ {
		s.elements = append(s.elements, b.summaryElement(&all[i], terms, len(all)-1-i))
	}
	return s
}

// accounted returns those of the cycles that left an account.
func accounted(cs []spaces.ClosedCycle) []spaces.ClosedCycle {
	return slices.DeleteFunc(cs, func(c spaces.ClosedCycle) bool { return c.Rest == "" })
}

// GroupCycles returns those of the cycles of old that a keyframe shows in groups, when
// as many newer ones stay in full: the oldest first, the last group perhaps not
// whole yet. It may reorder all.
func GroupCycles(all []spaces.ClosedCycle, kept int, l ViewLimits) [][]spaces.ClosedCycle {
	l, all = l.withDefaults(), accounted(all)
	single := max(0, len(all)-max(0, l.SummariesSingle-kept))
	return slices.Collect(slices.Chunk(all[:single], l.SummariesGrouped))
}

// Section renders the header without a colon.
func (s *summaryList) Section(chosen []ChosenElement) (string, []spaces.EventID) {
	text, refs := s.section.Section(chosen)
	return strings.Replace(text, ":", "", 1), refs
}

func (b *keyframeBuilder) summaryElement(c *spaces.ClosedCycle, terms []string, rank int) Element {
	name := "Cycle " + strconv.FormatInt(c.N, 10)
	rel := b.answered(c, terms)
	e := Element{
		Area: "summaries", What: name, Why: reason(rel, rank),
		Value: valueSummary * (0.4 + rel) * recency(rank, 15),
		Forms: []Form{b.form(Full, name+": "+gutter(c.Rest), 1)},
	}
	if short := textformat.ClipRunes(c.Rest, 100); short != c.Rest {
		e.Forms = append(e.Forms, b.form(OneLine, name+": "+gutter(short), 0.5))
	}
	return e
}

// answered returns how well the beginning of a cycle's summary matches the terms.
func (b *keyframeBuilder) answered(c *spaces.ClosedCycle, terms []string) float64 {
	return recall.Overlap(textformat.ClipRunes(c.Rest, b.v.Limits.withDefaults().Snippet), terms)
}

// groupElement makes one element of many old cycles: the range, how many, and
// the beginnings of the accounts that say most about the terms.
func (b *keyframeBuilder) groupElement(cs []spaces.ClosedCycle, terms []string, rank int) Element {
	name := "Cycles " + strconv.FormatInt(cs[0].N, 10) + "–" + strconv.FormatInt(cs[len(cs)-1].N, 10)
	best, worth := make([]int, len(cs)), make([]float64, len(cs))
	rel, snippet := 0.0, b.v.Limits.withDefaults().Snippet
	for i := range best {
		answered := b.answered(&cs[i], terms)
		best[i], worth[i] = i, answered+decisionWeight*recall.Decisiveness(textformat.ClipRunes(cs[i].Rest, snippet))
		rel = max(rel, answered)
	}
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	e := Element{
		Area: "summaries", What: name, Why: reason(rel, rank),
		Value: valueGroup * (0.4 + rel) * recency(rank, 15),
	}
	head := name + " (" + strconv.Itoa(len(cs)) + ")"
	for _, f := range []struct {
		form     FormName
		n, chars int
		fidelity float64
	}{{Full, 8, 160, 1}, {Essential, 3, 120, 0.6}, {CountOnly, 0, 0, 0.15}} {
		picked := slices.Sorted(slices.Values(best[:min(f.n, len(best))]))
		accounts := make([]string, 0, len(picked))
		for _, i := range picked {
			accounts = append(accounts, gutter(textformat.ClipRunes(cs[i].Rest, f.chars)))
		}
		text := head
		if len(accounts) > 0 {
			text += ": " + strings.Join(accounts, " / ")
		}
		e.Forms = append(e.Forms, b.form(f.form, text, f.fidelity))
	}
	for i := range b.v.Digests {
		if d := &b.v.Digests[i]; d.First == cs[0].N && d.Last == cs[len(cs)-1].N {
			e.Why += ", digest by " + d.Model
			e.Forms[0] = b.form(Full, head+": "+gutter(d.Text), 1)
		}
	}
	return e
}

// decisionWeight is how much a decision counts in a group of accounts against an answer:
// no account of anything else says as much.
const decisionWeight = 2

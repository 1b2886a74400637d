package hud

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/trestle-bridge/trestle/spaces"
)

// A FormName is how much of an element is shown.
type FormName string

// The forms of elements, from richest to poorest.
const (
	Full      FormName = "full"
	Trimmed   FormName = "trimmed"
	Essential FormName = "essential"
	OneLine   FormName = "one_line"
	CountOnly FormName = "count"
	Nothing   FormName = "nothing"
)

// A Form is one way to show an element.
type Form struct {
	Name     FormName
	Text     string
	Tokens   int     // exact, or a bound while everything fits anyway
	Fidelity float64 // how much of the element survives, 0 to 1
	limit    int     // of the words of history lines
	quotes   []int   // lines that Text shows whole, where it summarises left out ones
}

// An Element is one thing that can be shown. Its forms go from richest to
// poorest; leaving it out is always possible.
type Element struct {
	Area  string // the section it belongs to
	What  string // which one it is, for the plan
	Value float64
	Why   string // what the value is made of, for the plan
	Forms []Form
	lines []int // of the room, for history
	above int   // the first line that a summary leaves out; it stands before the next one
}

// A ChosenElement is an element in the form it got.
type ChosenElement struct {
	Element *Element
	Form    *Form // nil: left out
}

// A Delegate renders one kind of object: first into elements in all
// their forms, then, once the forms are chosen, into its section.
type Delegate interface {
	// Elements returns the elements in the order in which they are rendered.
	Elements() []Element
	// Section renders the chosen forms, in the same order, with the messages whose
	// words they show. An empty text means that the section is left out.
	Section(chosen []ChosenElement) (text string, refs []spaces.EventID)
	// Overhead returns the tokens of the section around its elements, at most.
	Overhead() int
}

// recency falls from 1 to about a half as the rank, counted from the newest, reaches
// half, and on towards 0.2.
func recency(rank, half int) float64 {
	return 0.2 + 0.8*math.Exp2(-float64(rank)/float64(half)*1.415)
}

// reason describes for a plan what a value was computed from.
func reason(relevance float64, rank int, more ...string) string {
	b := strconv.AppendFloat(append(make([]byte, 0, 64), "relevance "...), relevance, 'f', 2, 64)
	b = strconv.AppendInt(append(b, ", rank "...), int64(rank), 10)
	for _, m := range more {
		b = append(append(b, ", "...), m...)
	}
	return string(b)
}

// FitForms chooses one form, or none, for every element so that the value shown is
// as large as possible and the tokens stay within budget. It is the greedy
// solution of the multiple-choice knapsack over the convex hull of each
// element's forms: within one element of the best, deterministic, O(n log n).
// The result holds the index of the form of each element, -1 for nothing.
func FitForms(elements []Element, budget int) []int {
	chosen := make([]int, len(elements))
	steps := make([]fitStep, 0, 2*len(elements))
	for i := range elements {
		chosen[i] = -1
		steps = appendHull(steps, i, &elements[i])
	}
	slices.SortFunc(steps, func(a, b fitStep) int { // the steps of one element are never equal
		return cmp.Or(cmp.Compare(b.slope, a.slope), cmp.Compare(a.element, b.element))
	})
	left := budget
	blocked := make([]bool, len(elements))
	for _, s := range steps {
		if blocked[s.element] {
			continue
		}
		if s.cost > left {
			blocked[s.element] = true // richer forms would skip this step
			continue
		}
		left -= s.cost
		chosen[s.element] = s.form
	}
	return chosen
}

// A fitStep makes one element one form richer.
type fitStep struct {
	element, form int
	cost          int
	slope         float64 // value gained per token
}

// appendHull appends the steps along the upper convex hull of the element's
// forms, from nothing to the richest that is worth its tokens.
func appendHull(steps []fitStep, i int, e *Element) []fitStep {
	type point struct {
		form, tokens int
		value        float64
	}
	var few [8]point // as many forms as most have
	var fewer [len(few)]int
	points, order := append(few[:0], point{-1, 0, 0}), fewer[:0]
	for f := range e.Forms {
		order = append(order, f)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(e.Forms[a].Tokens, e.Forms[b].Tokens) })
	slope := func(a, b point) float64 { return (b.value - a.value) / float64(max(1, b.tokens-a.tokens)) }
	for _, f := range order {
		p := point{f, e.Forms[f].Tokens, e.Value * e.Forms[f].Fidelity}
		if p.value <= points[len(points)-1].value {
			continue
		}
		for len(points) > 1 && slope(points[len(points)-2], points[len(points)-1]) <= slope(points[len(points)-1], p) {
			points = points[:len(points)-1]
		}
		points = append(points, p)
	}
	for k := 1; k < len(points); k++ {
		a, b := points[k-1], points[k]
		steps = append(steps, fitStep{i, b.form, b.tokens - a.tokens, slope(a, b)})
	}
	return steps
}

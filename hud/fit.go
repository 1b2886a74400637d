package hud

import (
	"cmp"
	"slices"
)

// Fit chooses one form, or none, for every element so that the value shown is
// as large as possible and the tokens stay within budget. It is the greedy
// solution of the multiple-choice knapsack over the convex hull of each
// element's forms: within one element of the best, deterministic, O(n log n).
// The result holds the index of the form of each element, -1 for nothing.
func Fit(elements []Element, budget int) []int {
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

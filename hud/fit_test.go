package hud

import (
	"testing"

	"pgregory.net/rapid"
)

// SEQ-48, SEQ-49, SEQ-63: never over the budget whatever the values say, and
// within one element of the best choice there is.
func TestFitIsWithinOneElementOfTheBest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		es := make([]Element, rapid.IntRange(0, 7).Draw(rt, "elements"))
		most := 0.0
		for i := range es {
			es[i].Value = float64(rapid.IntRange(0, 1000).Draw(rt, "value"))
			most = max(most, es[i].Value)
			for range rapid.IntRange(1, 3).Draw(rt, "forms") {
				es[i].Forms = append(es[i].Forms, Form{
					Tokens: rapid.IntRange(1, 60).Draw(rt, "tokens"), Fidelity: float64(rapid.IntRange(1, 10).Draw(rt, "fidelity")) / 10,
				})
			}
		}
		budget := rapid.IntRange(0, 150).Draw(rt, "budget")
		tokens, value := 0, 0.0
		for i, f := range FitForms(es, budget) {
			if f >= 0 {
				tokens += es[i].Forms[f].Tokens
				value += es[i].Value * es[i].Forms[f].Fidelity
			}
		}
		if tokens > budget {
			rt.Fatalf("%d tokens chosen, %d allowed", tokens, budget)
		}
		if optimum := optimal(es, budget); value < optimum-most-1e-9 {
			rt.Fatalf("value %v, best %v, greatest element %v", value, optimum, most)
		}
	})
}

func optimal(es []Element, budget int) float64 {
	if len(es) == 0 {
		return 0
	}
	top := optimal(es[1:], budget)
	for _, f := range es[0].Forms {
		if f.Tokens <= budget {
			top = max(top, es[0].Value*f.Fidelity+optimal(es[1:], budget-f.Tokens))
		}
	}
	return top
}

// Of elements that are worth the same the first is shown.
func TestFitTakesTheFirstOfEquals(t *testing.T) {
	es := make([]Element, 40)
	for i := range es {
		es[i] = Element{Value: 1, Forms: []Form{{Tokens: 10, Fidelity: 1}}}
	}
	for i, form := range FitForms(es, 200) {
		if shown := form == 0; shown != (i < 20) {
			t.Errorf("element %d has form %d", i, form)
		}
	}
}

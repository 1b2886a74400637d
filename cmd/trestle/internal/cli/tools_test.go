package cli

import (
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-7.4-1: explain says what an act cost; of one that took no time it says nothing.
func TestExplainSaysWhatAnActCost(t *testing.T) {
	for want, got := range map[string]string{
		"":               costOfAct(0, spaces.TokenUsage{}),
		", took 1200 ms": costOfAct(1200, spaces.TokenUsage{}),
		", took 1200 ms, 90 tokens in (40 cached), 7 out": costOfAct(1200, spaces.TokenUsage{Prompt: 90, Cached: 40, Output: 7, Calls: 1}),
	} {
		if got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

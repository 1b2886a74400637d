package hud

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

// CON-28, CON-29, CON-25, CON-48: after a cut the last ten cycles are whole, those up to
// the fiftieth have a line each, and older ones share lines of thirty with their
// range and what was decided.
func TestTheLogIsShownInThreeLayers(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	for i := range 140 {
		line := fmt.Sprintf("Responded to Kai about day %d.", i+1)
		if i == 7 {
			line = "Responded to Kai about the trip. We decided to leave on May 3."
		}
		w.says(id, "kai", fmt.Sprintf("what about day %d?", i+1))
		w.wake(id)
		w.rests(line)
	}
	w.cut(CutHighWater)
	if n := len(w.v.Closed); n != 10 || w.v.Closed[0].N != 131 {
		t.Fatalf("%d cycles stay in full, from %d", n, w.v.Closed[0].N)
	}
	text := w.v.Keyframe.Text
	single := strings.Count(text, "\nCycle ")
	if single != 40 || !strings.Contains(text, "\nCycle 91: ") || strings.Contains(text, "\nCycle 90: ") {
		t.Errorf("%d summaries stand alone:\n%s", single, text)
	}
	for _, want := range []string{"\nCycles 1–30 (30)", "\nCycles 31–60 (30)", "\nCycles 61–90 (30)", "decided to leave on May 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("the keyframe lacks %q:\n%s", want, text)
		}
	}
}

// PRD-6.4-A2: whatever the cause and whatever the turns take, the last four stay
// word for word as long as they fit into seven eighths of what a cut leaves; a
// cut by turns keeps four and no more.
func TestTheLastFourTurnsStayVerbatim(t *testing.T) {
	counter := &TokenCounter{}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.v.Counter = counter
		id := w.room("Family", "kai", "ada")
		w.v.Limits = ViewLimits{ContextTokens: 9000, MaxOutputTokens: 1000}
		for i := range rapid.IntRange(1, 30).Draw(rt, "cycles") {
			w.says(id, "kai", strings.Repeat("garden ", rapid.IntRange(1, 300).Draw(rt, "words")))
			w.wake(id)
			w.rests(fmt.Sprintf("Responded to Kai about it, %d.", i))
		}
		before := slices.Clone(w.v.Closed)
		cause := rapid.SampledFrom([]string{CutTurns, CutAsked, CutHighWater, CutRedaction}).Draw(rt, "cause")
		room := w.v.Budget() / 2
		w.cut(cause)
		fit := 0
		for spent := 0; fit < min(4, len(before)); fit++ {
			if spent += w.v.Counter.turns(before[len(before)-1-fit].Turns); spent > room*7/8 {
				break
			}
		}
		kept := len(w.v.Closed)
		if (cause == CutTurns || cause == CutAsked) && kept != min(4, len(before)) || kept < fit {
			rt.Fatalf("%d of %d cycles stay after a cut by %s, %d would fit", kept, len(before), cause, fit)
		}
		for i, c := range w.v.Closed {
			if was := before[len(before)-kept+i]; was.N != c.N || !slices.EqualFunc(was.Turns, c.Turns, sameTurn) {
				rt.Fatalf("cycle %d is not what it was", was.N)
			}
		}
	})
}

func sameTurn(a, b spaces.TranscriptTurn) bool { return a.Text == b.Text && a.Role == b.Role }

// The counts of turns are taken as cycles close, once it matters, so
// that a cut finds them; and the plan's sum is what keyframe and turns take.
func TestACutFindsItsTurnsCounted(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	w.v.Limits = ViewLimits{ContextTokens: 9000, MaxOutputTokens: 1000}
	for i := 0; ; i++ {
		w.says(id, "kai", fmt.Sprintf("what about the %s of day %d?", words[i%len(words)], i))
		w.wake(id)
		w.rests("Responded to Kai.")
		w.v.Settle()
		if _, need := w.v.NeedsCut(200); need {
			break
		}
	}
	for _, c := range w.v.Closed {
		for _, turn := range c.Turns {
			if turn.Tokens == 0 {
				t.Fatalf("cycle %d is not counted although the context is full", c.N)
			}
		}
	}
	plan := w.cut(CutHighWater)
	if got := w.v.Count(); got != plan.Tokens+plan.Kept {
		t.Errorf("the plan says %d + %d tokens, there are %d", plan.Tokens, plan.Kept, got)
	}
}

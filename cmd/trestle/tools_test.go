package main

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-7.2-1: what has changed since a run is said in words: its version is in the record,
// although the configuration and with it the acts are others by now.
func TestActsAreComparedWithThoseOfARun(t *testing.T) {
	story := newStory(t)
	story.config = append(story.config, "\nattachments: {send: true}\n"...)
	got := story.play(t, "$ trestle tools diff $ACTS\n$ trestle tools\n")
	if want := "from $ACTS to HASH\n  added    send_file\n"; !strings.Contains(got, want) {
		t.Errorf("it is not said that %q:\n%s", want, got)
	}
	if want := "$ACTS   20 "; !strings.Contains(got, want) || !strings.Contains(got, "version HASH\n") {
		t.Errorf("the list of versions lacks %q:\n%s", want, got)
	}
}

// PRD-7.4-1: explain says what an act cost; of one that took no time it says nothing.
func TestExplainSaysWhatAnActCost(t *testing.T) {
	for want, got := range map[string]string{
		"":               costOfAct(0, spaces.Usage{}),
		", took 1200 ms": costOfAct(1200, spaces.Usage{}),
		", took 1200 ms, 90 tokens in (40 cached), 7 out": costOfAct(1200, spaces.Usage{Prompt: 90, Cached: 40, Output: 7, Calls: 1}),
	} {
		if got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

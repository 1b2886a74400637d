package api

import (
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// A step shows what was thought in it, and not what was thought in another.
func TestAThoughtIsShownWithItsStep(t *testing.T) {
	inner := []spaces.Event{
		{Body: spaces.ThoughtRecorded{Text: "first"}},
		{Body: spaces.ThoughtRecorded{Step: 2, Text: "third"}},
	}
	for n, want := range []string{"first", "", "third"} {
		if got := thoughtIn(inner, spaces.Step{N: n}); got != want {
			t.Errorf("step %d shows the thought %q, want %q", n, got, want)
		}
	}
}

package main

import (
	"strings"
	"testing"
)

// PRD-7.2-1: what has changed since a run is said in words: its version is in the record,
// although the configuration and with it the acts are others by now.
func TestActsAreComparedWithThoseOfARun(t *testing.T) {
	story := tellStory(t)
	story.config = append(story.config, "\nattachments: {send: true}\n"...)
	got := story.play(t, "$ trestle tools diff $ACTS\n$ trestle tools\n")
	if want := "from $ACTS to HASH\n  added    send_file\n"; !strings.Contains(got, want) {
		t.Errorf("it is not said that %q:\n%s", want, got)
	}
	if want := "$ACTS   20 "; !strings.Contains(got, want) || !strings.Contains(got, "version HASH\n") {
		t.Errorf("the list of versions lacks %q:\n%s", want, got)
	}
}

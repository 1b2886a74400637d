package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var paintedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ECOSYSTEM 3.1: on a terminal times are relative, in the same columns; words
// of people stay what they are.
func TestTerminalGetsRelativeTimesInTheSameColumns(t *testing.T) {
	text := "PART       STATE       SINCE                  REASON\n" +
		"telegram   connected   2026-03-01T11:57:00Z   fine\n" +
		"acme       degraded    2026-02-26T12:00:00Z   deaf\n" +
		"2026-03-01T11:59:48Z   Bob   \"see you at 2026-03-01T11:00:00\"\n" +
		"run 7, woken by mention at 2026-03-01T10:00:00Z\n" +
		"due   2026-03-01T12:10:00Z   tea\n"
	want := "PART       STATE       SINCE                  REASON\n" +
		"telegram   connected   3 m ago                fine\n" +
		"acme       degraded    3 d ago                deaf\n" +
		"12 s ago               Bob   \"see you at 2026-03-01T11:00:00\"\n" +
		"run 7, woken by mention at 2 h ago\n" +
		"due   10 m from now          tea\n"
	if diff := cmp.Diff(want, forTerminal(text, paintedAt, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestColourMarksHeadingsAndStates(t *testing.T) {
	text := "PART   STATE\nacme   degraded   deaf\nguild   connected\nmodel   FAIL   no key\nprivacy   warn   on\n\"it   failed   again\"\n"
	got := forTerminal(text, paintedAt, true)
	for _, want := range []string{bold + "PART   STATE" + unpaint, red + "degraded" + unpaint, red + "FAIL" + unpaint, yellow + "warn" + unpaint} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%q", want, got)
		}
	}
	if strings.Contains(got, red+"connected") {
		t.Errorf("what is well is red: %q", got)
	}
}

// ECOSYSTEM 3.1: never a colour in a pipe, whatever the environment says.
func TestPipeGetsNoColours(t *testing.T) {
	s := aTalk(t)
	for _, args := range [][]string{{"status"}, {"runs"}, {"doctor", "config"}, {"config", "check"}} {
		out, errs, _ := s.do(t, "", args...)
		if strings.Contains(out+errs, "\x1b[") {
			t.Errorf("%v: %q", args, out)
		}
	}
	if p := (&Environment{Out: &strings.Builder{}, Lookup: func(string) (string, bool) { return "", false }}); p.coloured() {
		t.Error("a builder is taken for a terminal")
	}
}

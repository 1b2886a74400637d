package discord

import (
	"regexp"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/markup"
	"github.com/trestle-bridge/trestle/adapters/markup/markuptest"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// linked matches what Discord makes a link of: it wants a scheme.
var linked = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*:/\S*`)

// Of a text that was judged nothing leaves that Discord would link, that
// calls everybody or that is internal.
func TestNothingHostileLeaves(t *testing.T) {
	texts := testutil.Repeats(100_000)
	source, guard, d := markuptest.NewTextSource(1), hud.NewLeakGuard(markuptest.SystemPrompt), newDialect()
	sent := 0
	for range texts {
		md := source.Next()
		if _, leaks := guard.Leak(md); leaks {
			continue
		}
		sent++
		judged, _ := markup.Guard(md, func(a string) bool { return a == "https://ok.org" })
		for _, part := range d.split(judged, maxUnits) {
			words, spans := readMarkdown(part, mentionNames{})
			seen := markuptest.Shown(words, spans)
			seen.Plain = strings.Join(linked.FindAllString(seen.Plain, -1), " ")
			if faults := seen.Faults(); faults != nil {
				t.Fatalf("%q\n judged %q\n leaves as %q\n which %q", md, judged, part, faults)
			}
		}
	}
	if sent < texts/2 {
		t.Errorf("only %d texts were sent", sent)
	}
}

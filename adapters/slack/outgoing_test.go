package slack

import (
	"testing"

	"github.com/trestle-bridge/trestle/adapters/markup"
	"github.com/trestle-bridge/trestle/adapters/markup/markuptest"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Of a text that was judged nothing leaves that Slack would link, that
// calls everybody or that is internal.
func TestNothingHostileLeaves(t *testing.T) {
	texts := testutil.Repeats(100_000)
	source, guard, c, r := markuptest.NewTextSource(1), hud.NewLeakGuard(markuptest.SystemPrompt), new(Client), alone(t)
	sent := 0
	for range texts {
		md := source.Next()
		if _, leaks := guard.Leak(md); leaks {
			continue
		}
		sent++
		judged, _ := markup.Guard(md, func(a string) bool { return a == "https://ok.org" })
		for _, part := range c.Split(judged) {
			read := rich.Read(back(r, part))
			if faults := markuptest.Shown(read.Words, read.Spans).Faults(); faults != nil {
				t.Fatalf("%q\n judged %q\n leaves as %q\n which %q", md, judged, part, faults)
			}
		}
	}
	if sent < texts/2 {
		t.Errorf("only %d texts were sent", sent)
	}
}

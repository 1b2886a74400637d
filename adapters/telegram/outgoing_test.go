package telegram

import (
	"testing"
	"unicode/utf16"

	"github.com/trestle-bridge/trestle/adapters/markup"
	"github.com/trestle-bridge/trestle/adapters/markup/markuptest"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Of a text that was judged nothing leaves that Telegram would link, that
// calls everybody or that is internal.
func TestNothingHostileLeaves(t *testing.T) {
	texts := testutil.Repeats(100_000)
	source, guard, m := markuptest.NewTextSource(1), hud.NewLeakGuard(markuptest.SystemPrompt), newMarkdown()
	sent := 0
	for range texts {
		md := source.Next()
		if _, leaks := guard.Leak(md); leaks {
			continue
		}
		sent++
		judged, _ := markup.Guard(md, func(a string) bool { return a == "https://ok.org" })
		for _, part := range m.split(judged, maxUnits) {
			text, tags, err := checkHTML(part)
			if err != nil {
				t.Fatalf("%q becomes %q: %v", judged, part, err)
			}
			if faults := shown(text, tags).Faults(); faults != nil {
				t.Fatalf("%q\n judged %q\n leaves as %q\n which %q", md, judged, part, faults)
			}
		}
	}
	if sent < texts/2 {
		t.Errorf("only %d texts were sent", sent)
	}
}

// shown returns a message as Telegram shows it.
func shown(text string, tags []seenTag) markuptest.SentPart {
	p := markuptest.SentPart{Words: text}
	units := utf16.Encode([]rune(text))
	for _, tag := range tags {
		switch tag.Type {
		case "Code", "Pre", "PreCode":
			for i := tag.Offset; i < tag.Offset+tag.Length; i++ {
				units[i] = ' '
			}
		case "TextUrl":
			p.Links = append(p.Links, tag.Arg)
		}
	}
	p.Plain = string(utf16.Decode(units))
	return p
}

package hud

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

// lines counts text as [Counter.Count] does a long one.
func lines(t interface{ Fatal(...any) }, c *Counter, text string) (byLines, whole int) {
	count := func(s string) int {
		n, err := c.codec.Count(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	whole = count(text)
	for text != "" {
		line := firstLine(text)
		byLines += count(line)
		text = text[len(line):]
	}
	return byLines, whole
}

// CON-18: a long text has as many tokens by its lines as it has as a whole.
func TestLinesHaveTheTokensOfTheWhole(t *testing.T) {
	var c Counter
	c.Count("load")
	bits := []string{
		"\n", "\n", "\n", " ", " ", "\r", "\t", "\v", "\f", "\u00a0", "\u2028", "\u3000", "\u0085", "\u200b", "/", "!", "[", "↩", "…", "👍",
		"ñ", "日本", "'s", "a", "kai", "Nova", "12", "7", "\xff", ":", "~", "-", "\x00",
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 60).Draw(rt, "text"), "")
		if byLines, whole := lines(rt, &c, text); byLines != whole {
			rt.Fatalf("got %d tokens by lines, want %d: %q", byLines, whole, text)
		}
	})
}

func FuzzCountByLines(f *testing.F) {
	for _, seed := range []string{
		"kai: hello\n nova: and you?\n", "a\n\n b\n  \n c", "!\n/usr\n / bin\n", "one.\r\n\r\n two\r\n", "x \n y\n\n\n[z]\n",
		"\u2028\n\u00a0\n \u3000\nend", "-\n\t\n=\n\v\n~", "…\n ñ\n 日本\n👍\n#12 ↩ kai: ok\n", "(\n/\n)\n", "\u200b\n/a",
	} {
		f.Add(seed)
	}
	var c Counter
	c.Count("load")
	f.Fuzz(func(t *testing.T, text string) {
		if byLines, whole := lines(t, &c, text); byLines != whole {
			t.Errorf("got %d tokens by lines, want %d: %q", byLines, whole, text)
		}
	})
}

// A line that is counted is counted again once it has changed, whatever its form.
func TestEditedLineIsCountedAgain(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	w.v.Active = id
	e := w.says(id, "kai", strings.Repeat("We decided nothing of importance today. ", 20))
	s := w.v.Seat(id)
	w.v.gaugeNewest(s)
	before := s.Room.gauges[0]
	if before.tokens[0] == 0 || before.tokens[1] == 0 || before.tokens[2] == 0 || before.tokens[2] >= before.tokens[0] {
		t.Fatalf("got %v, want every form counted", before.tokens)
	}
	if !s.Room.decides(0) {
		t.Error("a decision was not seen")
	}
	w.add(id, "kai", spaces.Edited{Target: e.ID, Text: "Never mind."})
	if got := w.v.lineTokens(s, 0); got >= int(before.tokens[2]) {
		t.Errorf("got %d tokens for the new words, want fewer than %d", got, before.tokens[2])
	}
	if s.Room.decides(0) {
		t.Error("a decision was seen in words that are gone")
	}
}

package hud

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

// inAll counts text as a whole.
func inAll(t interface{ Fatal(...any) }, text string) int {
	n, err := loaded().Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// CON-18: a text has as many tokens by its words as it has as a whole.
func TestWordsHaveTheTokensOfTheWhole(t *testing.T) {
	var c TokenCounter
	bits := []string{
		"\n", "\n", "\n", " ", " ", "\r", "\t", "\v", "\f", "\u00a0", "\u2028", "\u3000", "\u0085", "\u200b", "/", "!", "[", "↩", "…", "👍",
		"ñ", "日本", "'s", "a", "kai", "Nova", "12", "7", "\xff", ":", "~", "-", "\x00", "\x7f", "´", "\u0301",
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 60).Draw(rt, "text"), "")
		if got, want := c.Count(text), inAll(rt, text); got != want {
			rt.Fatalf("got %d tokens by words, want %d: %q", got, want, text)
		}
	})
}

func FuzzCountByWords(f *testing.F) {
	for _, seed := range []string{
		"kai: hello\n nova: and you?\n", "a\n\n b\n  \n c", "!\n/usr\n / bin\n", "one.\r\n\r\n two\r\n", "x \n y\n\n\n[z]\n",
		"\u2028\n\u00a0\n \u3000\nend", "-\n\t\n=\n\v\n~", "…\n ñ\n 日本\n👍\n#12 ↩ kai: ok\n", "(\n/\n)\n", "\u200b\n/a", "it 's, don 't\t  I 'LL  12 345 6", "a \n b !\n c  \n/ d",
	} {
		f.Add(seed)
	}
	var c TokenCounter
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := c.Count(text), inAll(t, text); got != want {
			t.Errorf("got %d tokens by words, want %d: %q", got, want, text)
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
	w.v.countNewest(s)
	before := s.Room.cache[0]
	if before.tokens[0] == 0 || before.tokens[1] == 0 || before.tokens[2] == 0 || before.tokens[2] >= before.tokens[0] {
		t.Fatalf("got %v, want every form counted", before.tokens)
	}
	if !s.Room.decides(0) {
		t.Error("a decision was not seen")
	}
	w.add(id, "kai", spaces.MessageEdited{Target: e.ID, Text: "Never mind."})
	if got := w.v.lineTokens(s, 0); got >= int(before.tokens[2]) {
		t.Errorf("got %d tokens for the new words, want fewer than %d", got, before.tokens[2])
	}
	if s.Room.decides(0) {
		t.Error("a decision was seen in words that are gone")
	}
}

// A tail is another each time: where its bound fits beside what is kept, it is not
// counted.
func TestTailIsCountedOnlyWhereItMatters(t *testing.T) {
	for _, c := range []struct {
		tail  int // bytes
		exact bool
	}{{1000, false}, {3000, true}} {
		w := newWorld(t)
		w.v.Current = []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: strings.Repeat("a long word ", 500)}}
		w.v.Limits = ViewLimits{ContextTokens: 4000, MaxOutputTokens: 500}
		w.v.FixedTokens = 0
		tail := FrameTail{Text: strings.Repeat("and more ", c.tail/9)}
		f, err := w.v.Frame(tail)
		if err != nil {
			t.Fatal(err)
		}
		if f.Plan.Exact != c.exact || w.v.Current[0].Tokens == 0 {
			t.Errorf("with a tail of %d bytes: exact %t, %d tokens of the turn are known; want %t, and all of them", c.tail, f.Plan.Exact, w.v.Current[0].Tokens, c.exact)
		}
		if n := exact(w.v, f); n > f.Tokens || c.exact && n != f.Tokens {
			t.Errorf("got %d tokens, want %d", f.Tokens, n)
		}
	}
}

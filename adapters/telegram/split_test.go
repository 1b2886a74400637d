package telegram

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// bare returns s without white space and invisible characters: a cut may drop these.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || markup.Blank(string(r)) {
			return -1
		}
		return r
	}, s)
}

// wantWhole checks what every cut must keep, whatever the text and the limit.
func wantWhole(t interface {
	Helper()
	Errorf(string, ...any)
}, md string, limit int,
) {
	t.Helper()
	m := newMarkdown()
	var joined strings.Builder
	for i, part := range m.split(md, limit) {
		text, _, err := checkHTML(part)
		if err != nil {
			t.Errorf("part %d of %q is refused: %v\n%s", i, md, err, part)
		}
		if n := len(utf16.Encode([]rune(text))); n > max(limit, 2) {
			t.Errorf("part %d of %q has %d units, limit %d", i, md, n, limit)
		}
		if len(part) > maxMarkup || markup.Blank(text) || !utf8.ValidString(part) {
			t.Errorf("part %d of %q: %d bytes, %q", i, md, len(part), text)
		}
		if got := stripHTML(part); got != text {
			t.Errorf("plain text of part %d is %q, want %q", i, got, text)
		}
		joined.WriteString(text)
	}
	if diff := cmp.Diff(bare(m.Read(md).Words), bare(joined.String())); diff != "" {
		t.Errorf("cut at %d, %q loses words (-whole +parts):\n%s", limit, md, diff)
	}
}

func TestEmphasisBesideWidePunctuation(t *testing.T) {
	got := newMarkdown().split("边界：**社区显示：**第一。含**「重点」**内容。~~旧。~~新", maxUnits)
	if diff := cmp.Diff([]string{"边界：<b>社区显示：</b>第一。含<b>「重点」</b>内容。<s>旧。</s>新"}, got); diff != "" {
		t.Error(diff)
	}
}

// SEQ-97, DELIVERY 2.6 R-TG
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"", " \n ", "**bold `code` _it_**", "```go\na\n\nb\n```\n> q\n> > r\n- l\n  1. m", "| a | b |\n|--|--|\n| c | d |",
		"[x](https://a.b) ![i](http://c.d) ||s|| ~~t~~", "👨‍👩‍👧‍👦🇩🇪e\u0301\u200b", "<b>&amp;", strings.Repeat("word ", 2000),
	} {
		f.Add(seed, uint16(20))
		f.Add(seed, uint16(4096))
	}
	f.Fuzz(func(t *testing.T, md string, limit uint16) { wantWhole(t, md, int(limit)+2) })
}

// SEQ-97
func TestAnyCutKeepsEveryWord(t *testing.T) {
	pieces := []string{
		"word ", "**", "_", "`", "```\n", "\n", "\n\n", "> ", "- ", "1. ", "# ", "[link](https://example.org/x)", "||", "~~", "<b>", "&amp;",
		"😀", "👨‍👩‍👧", "🇩🇪", "e\u0301", "漢字。", "\u200b", "\t", "    ", "| a | b |\n|---|---|\n", "| c | d |\n", "Sentence one. Two! ",
	}
	rapid.Check(t, func(t *rapid.T) {
		md := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 80).Draw(t, "pieces"), "")
		wantWhole(t, md, rapid.IntRange(2, 200).Draw(t, "limit"))
	})
}

func TestSplitTakesTheBestPlace(t *testing.T) {
	m := newMarkdown()
	for _, test := range []struct {
		name, md string
		limit    int
		want     []string
	}{
		{"nothing", " \n\u200b\n", 10, nil},
		{"fits", "one two", 10, []string{"one two"}},
		{"paragraph before line", "aaaa\n\nbbbb\ncc dd", 14, []string{"aaaa\n\nbbbb", "cc dd"}},
		{"line before sentence", "aaa. bbb\ncc. dd ee", 14, []string{"aaa. bbb", "cc. dd ee"}},
		{"sentence before word", "aaa bb cc. dd ee", 14, []string{"aaa bb cc.", "dd ee"}},
		{"word", "aaaa bbbb cccc", 11, []string{"aaaa bbbb", "cccc"}},
		{"a long word is cut", "aaaabbbbcc", 4, []string{"aaaa", "bbbb", "cc"}},
		{"bold goes on", "**aaaa bbbb**", 5, []string{"<b>aaaa</b>", "<b>bbbb</b>"}},
		{
			"code keeps language and indentation", "```go\nfunc a() {\n\tb()\n}\n```", 14,
			[]string{`<pre><code class="language-go">func a() {</code></pre>`, `<pre><code class="language-go">    b()` + "\n}</code></pre>"},
		},
		{"no half flag", "🇩🇪🇫🇷🇮🇹", 6, []string{"🇩🇪", "🇫🇷", "🇮🇹"}},
		{"no half family", "ab👨‍👩‍👧", 9, []string{"ab", "👨‍👩‍👧"}},
		{"no half letter", "abce\u0301", 4, []string{"abc", "e\u0301"}},
		{"no half pair", "abc😀", 4, []string{"abc", "😀"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, m.split(test.md, test.limit)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func BenchmarkSplit(b *testing.B) {
	c := &Client{markdown: newMarkdown()}
	short := "Sure, **Kai**: the meeting is at `10:00` in [room 5](https://example.org/5).\n\n- bring the list\n- and a pen"
	for name, md := range map[string]string{"short": short, "long": strings.Repeat(short+"\n\n```go\nx := 1\n```\n\n", 200)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(md)))
			b.ReportAllocs()
			for b.Loop() {
				c.Split(md)
			}
		})
	}
}

package markup

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// native is a platform that shows what CommonMark has.
var native = Options{
	Headings: 3, Lists: true,
	Reach: func(address string) (string, LinkPolicy) { return address, Linked },
}

// tags writes looks as tags, for tests.
type tags struct{}

func (tags) Open(_ []byte, s TextSpan) string { return "<" + string(s.Look) + s.Arg + ">" }

func (tags) Close(_ []byte, s TextSpan) string                  { return "</" + string(s.Look) + ">" }
func (tags) Escape(_ []byte, words string, _ []TextSpan) string { return words }

func TestLooksOfCommonMark(t *testing.T) {
	for _, test := range []struct{ md, native, plain string }{
		{"**a _b_** `c` ~~d~~ ||e||", "<bold>a <italic>b</italic></bold> <code>c</code> <strikethrough>d</strikethrough> <spoiler>e</spoiler>", ""},
		{"## H\n\nwords", "<heading2>H</heading>\n\nwords", "<bold>H</bold>\n\nwords"},
		{"#### deep", "<bold>deep</bold>", ""},
		{"- a\n- b\n  1. c", "<mark>- </mark>a\n<mark>- </mark>b\n  <mark>1. </mark>c", "• a\n• b\n  1. c"},
		{"[x](https://a.b)", "<linkhttps://a.b>x</link>", "x (https://a.b)"},
		{"![](https://a.b/c.png)", "<linkhttps://a.b/c.png>image</link>", "image (https://a.b/c.png)"},
		{"> q\n> > r", "<quote>q\n\n> r</quote>", ""},
		{"```go\n\tx\n```", "<prego>    x</pre>", ""},
		{"| a | b |\n|---|--:|\n| c | 10 |", "<pre>a |  b\n--+---\nc | 10</pre>", ""},
		{"<b>html</b> &amp; \\*", "<b>html</b> & *", ""},
	} {
		if test.plain == "" {
			test.plain = test.native
		}
		for r, want := range map[*MarkdownReader]string{New(native): test.native, New(Options{}): test.plain} {
			text := r.Read(test.md)
			if got := text.Write(0, len(text.Words), tags{}); got != want {
				t.Errorf("%q\n got %q\nwant %q", test.md, got, want)
			}
		}
	}
}

// DELIVERY 2.2.4: words that CommonMark keeps from a page are said all the same.
func TestNoWordsAreLeftOut(t *testing.T) {
	for md, want := range map[string]string{
		"Use ```go\nx\n``` to do it":                    "Use ```go\nx\n\n<pre>to do it</pre>",
		"```js x y\nz\n```":                             "<pre>js x y\nz</pre>",
		"```js title=\"x\"\nz\n```":                     "<prejs>z</pre>",
		"``` yes":                                       "<pre>yes</pre>",
		"Sources:\n\n[1]: https://a.b/c\n[2]: /d 'e f'": "Sources:\n\n[1]: https://a.b/c\n\n[2]: /d \"e f\"",
		"See [1] and [it][2].\n\n[1]: /c\n[2]: /d":      "See <link/c>1</link> and <link/d>it</link>.",
	} {
		text := New(native).Read(md)
		if got := text.Write(0, len(text.Words), tags{}); got != want {
			t.Errorf("%q\n got %q\nwant %q", md, got, want)
		}
	}
}

// SEQ-97: what is over after a cut begins again behind it.
func TestStretchesAreWhole(t *testing.T) {
	text := New(native).Read("**aa bb _cc_** dd")
	got := text.Parts(PartLimit{Units: 6, Markup: 1000}, func(from, to int) string { return text.Write(from, to, tags{}) })
	want := []string{"<bold>aa bb</bold>", "<bold><italic>cc</italic></bold> dd"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMarkupBoundsAPart(t *testing.T) {
	text := New(native).Read(strings.Repeat("**a** `b` ", 50))
	for _, part := range text.Parts(PartLimit{Units: 1000, Markup: 200}, func(from, to int) string { return text.Write(from, to, tags{}) }) {
		if len(part) > 200 {
			t.Errorf("a part of %d bytes, limit 200", len(part))
		}
	}
}

// seen is s without what no reader sees.
func seen(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || Blank(string(r)) {
			return -1
		}
		return r
	}, s)
}

// SEQ-97
func TestAnyCutKeepsEveryWord(t *testing.T) {
	pieces := []string{
		"word ", "**", "_", "`", "```\n", "\n", "\n\n", "> ", "- ", "1. ", "# ", "[link](https://example.org/x)", "||", "~~", "<b>",
		"😀", "👨‍👩‍👧", "🇩🇪", "e\u0301", "漢字。", "\u200b", "\t", "    ", "| a | b |\n|---|---|\n", "| c | d |\n", "Sentence one. Two! ",
	}
	rapid.Check(t, func(t *rapid.T) {
		md := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 80).Draw(t, "pieces"), "")
		text := New(native).Read(md)
		parts := text.Parts(PartLimit{Units: rapid.IntRange(2, 200).Draw(t, "limit"), Markup: 10_000}, func(from, to int) string { return text.Words[from:to] })
		if got, want := seen(strings.Join(parts, "")), seen(text.Words); got != want {
			t.Errorf("%q\n came to %q\n want %q", md, got, want)
		}
	})
}

// FuzzCommonMark: whatever the spans say, the CommonMark shows the words (SEQ-06).
func FuzzCommonMark(f *testing.F) {
	for _, seed := range []string{
		"", "a *b* _c_ [x](y) `z`", "# no heading\n- no list\n1. no list\n> no quote", "    indented\n\tcode", "===\n---\n| a | b |\n|---|---|",
		"&amp; &lt; <b> https://a.b/_c_ ||no|| ~~no~~", "snake_case_word 2 * 3 * 4 \\* \\", "😀 family 👨‍👩‍👧 été\u0301",
	} {
		f.Add(seed, uint64(0x0102030405060708), uint8(1))
	}
	looks := []TextStyle{Bold, Italic, Strikethrough, Spoiler, Code, Pre, Link, Address, Quote, Heading}
	r := New(native)
	f.Fuzz(func(t *testing.T, words string, places uint64, n uint8) {
		words = Legible(words)
		var spans []TextSpan
		for i := range int(n % 5) {
			bits := int(places >> (i * 12))
			s := TextSpan{From: boundary(words, bits&15), To: boundary(words, bits&15+bits>>4&15), Look: looks[(bits>>8)%len(looks)], Arg: "2"}
			if s.Look == Link {
				s.Arg = "https://example.org/a_b"
			}
			spans = append(spans, s)
		}
		md := r.CommonMark(words, spans)
		if got := r.Read(md).Words; !SameWords(got, words) {
			t.Errorf("%q with %+v\n became %q\n which shows %q", words, spans, md, got)
		}
	})
}

// boundary returns the first place between letters at or after at.
func boundary(s string, at int) int {
	for i := range s {
		if i >= at {
			return i
		}
	}
	return len(s)
}

package discord

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// SEQ-97
func TestCommonMarkBecomesDiscordsMarkdown(t *testing.T) {
	d := newDialect()
	for _, test := range []struct{ md, want string }{
		{"**bold** _it_ ~~gone~~ ||secret|| `code`", "**bold** *it* ~~gone~~ ||secret|| `code`"},
		{"# One\n\n#### Four", "# One\n\n**Four**"},
		{"- a\n- b\n  1. c\n\nend", "- a\n- b\n  1. c\n\nend"},
		{"> q\n> r\n\nafter", "> q\n> r\n\nafter"},
		{"```go\nx := \"`a`\"\n```", "```go\nx := \"`a`\"\n```"},
		{"[words](https://a.b/c_d_e) <https://e.f>", "[words](<https://a.b/c_d_e>) https://e.f"},
		{"[https://a.b](https://evil.example)", "https://a.b"}, // what looks like one address never leads to another
		{"[see \\[1\\]](https://a.b)", "[see [1]](<https://a.b>)"},
		{"![chart](https://a.b/c.png)", "[chart](<https://a.b/c.png>)"},
		{"[x](javascript:alert(1))", "x"},
		{"a_b_c 2 * 3 * 4 \\*no\\*", `a_b_c 2 * 3 * 4 \*no\*`},
		{"| a | b |\n|---|---|\n| 1 | 2 |", "```\na | b\n--+--\n1 | 2\n```"},
		{"\\# no\n\n1\\. no\n\n\\- no\n\n\\> no", "\\# no\n\n1\\. no\n\n\\- no\n\n\\> no"},
		{"&lt;@123&gt; &lt;#5&gt; @everyone", `\<@123> \<#5> @everyone`},
		{"\\|\\|a\\|\\| \\~~b~~", `\|\|a\|\| \~\~b\~\~`},
		{"`` a`b ``", "``a`b``"},
		{"`` `a` ``", "`` `a` ``"},
		{"**bold *both* bold**", "**bold *both* bold**"},
		{"边界：**社区显示：**第一。含**「重点」**内容。~~旧。~~新", "边界：**社区显示：**第一。含**「重点」**内容。~~旧。~~新"},
	} {
		if got := d.split(test.md, maxUnits); len(got) != 1 || got[0] != test.want {
			t.Errorf("%q\n got %q\nwant %q", test.md, got, test.want)
		}
	}
}

// SEQ-06: Discord's own dialect, which is not CommonMark.
func TestDiscordsMarkdownBecomesCommonMark(t *testing.T) {
	c := &messageReader{markup: newDialect()}
	n := mentionNames{
		user:    func(id string) string { return map[string]string{"1": "Kai_x"}[id] },
		role:    func(id string) string { return map[string]string{"2": "Cooks"}[id] },
		channel: func(id string) string { return map[string]string{"3": "food"}[id] },
	}
	for _, test := range []struct{ said, want string }{
		{"**b** *i* _i_ __u__ ***bi*** ~~s~~ ||x||", "**b** _i_ _i_ _u_ _**bi**_ ~~s~~ ||x||"},
		{"hey <@1> and <@!1>, <@&2>: see <#3> <@9>", `hey @Kai_x and @Kai_x, @Cooks: see #food @unknown-user`},
		{"<:blob:123> <a:dance:456> <t:1618953630:R> </plan add:7> <id:guide>", ":blob: :dance: 2021-04-20 21:20 UTC /plan add #guide"},
		{"a line\nthe next", "a line\nthe next"},
		{"# Big\nsmall", "# Big\nsmall"},
		{"-# fine print", "fine print"},
		{"> quoted\n> more\nnot", "> quoted\n> more\n\nnot"},
		{">>> all\nof it", "> all\n> of it"},
		{"- a\n* b\n1. c\n1. d", "- a\n- b\n1. c\n2. d"},
		{"```go\nx := 1```", "```go\nx := 1\n```"},
		{"look: ```x``` there", "look: \n```\nx\n```\n there"},
		{"`a *b*` ``c`d``", "`a *b*` ``c`d``"},
		{"[x](https://a.b) <https://c.d/_e_> https://f.g/_h_.", "[x](https://a.b) <https://c.d/_e_> <https://f.g/_h_>."},
		{`\*not\* \_it\_ \# \`, `\*not\* \_it\_ # \\`},
		{"snake_case_word 2 * 3 * 4", `snake_case_word 2 * 3 * 4`},
		{"| a | b |\n|---|---|", `\| a | b \|` + "\n" + `\|---|---\|`},
		{"<b>no html</b> &amp;", `\<b>no html\</b> \&amp;`},
		{shrug, `¯\\\_(ツ)\_/¯`},
		{"", ""},
	} {
		if got := c.commonMark(test.said, n); got != test.want {
			t.Errorf("%q\n got %q\nwant %q", test.said, got, test.want)
		}
	}
}

// seen is s without what no reader sees.
func seen(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || markup.Blank(string(r)) {
			return -1
		}
		return r
	}, s)
}

type failer interface {
	Helper()
	Errorf(string, ...any)
}

// wantWhole checks what every cut must keep, whatever the text and the limit.
func wantWhole(t failer, md string, limit int) {
	t.Helper()
	d := newDialect()
	var joined strings.Builder
	for i, part := range d.split(md, limit) {
		words, _ := readMarkdown(part, mentionNames{})
		if n := units(part); n > max(limit, 16) || markup.Blank(words) {
			t.Errorf("part %d of %q: %d units of %d, %q", i, md, n, limit, part)
		}
		joined.WriteString(words)
	}
	if diff := cmp.Diff(seen(d.Read(md).Words), seen(joined.String())); diff != "" {
		t.Errorf("cut at %d, %q loses words (-whole +parts):\n%s", limit, md, diff)
	}
}

// SEQ-97
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"", " \n ", "**bold `code` _it_**", "```go\na\n\nb\n```\n> q\n> > r\n- l\n  1. m", "| a | b |\n|--|--|\n| c | d |",
		"[x](https://a.b) ![i](http://c.d) ||s|| ~~t~~", "👨‍👩‍👧‍👦🇩🇪e\u0301\u200b", "<b>&amp; <@1> <t:1> ¯\\_(ツ)_/¯", strings.Repeat("word ", 1000),
		"*a*_b_ **c**__d__ `e``f` ```g```", "https://a.b/*c* https://d.e_f_",
	} {
		f.Add(seed, uint16(40))
		f.Add(seed, uint16(2000))
	}
	f.Fuzz(func(t *testing.T, md string, limit uint16) { wantWhole(t, md, int(limit)+40) })
}

// FuzzReadMarkdown: what a person writes is told in CommonMark with the same words (SEQ-06).
func FuzzReadMarkdown(f *testing.F) {
	for _, seed := range []string{
		"", "**b** *i* _i_ __u__ ***bi*** ~~s~~ ||x||", "<@1> <:a:2> <t:3:R>", "> a\n> b\n>>> c", "# h\n- l\n 1. m", "```x\ny``` `z`",
		"[x](https://a.b \"t\") <https://c.d>", "\\*\\_\\`", "****** ______ ~~~~ ||||", "*a **b* c**", "¯\\_(ツ)_/¯",
	} {
		f.Add(seed)
	}
	d := newDialect()
	f.Fuzz(func(t *testing.T, said string) {
		words, spans := readMarkdown(said, mentionNames{})
		for _, s := range spans {
			if s.From < 0 || s.To < s.From || s.To > len(words) {
				t.Fatalf("%q has a look over %d to %d of %d", said, s.From, s.To, len(words))
			}
		}
		md := d.CommonMark(words, spans)
		if got := d.Read(md).Words; !markup.SameWords(got, words) {
			t.Errorf("%q\n became %q\n which shows %q,\n want %q", said, md, got, words)
		}
	})
}

// SEQ-97
func TestAnyCutKeepsEveryWord(t *testing.T) {
	pieces := []string{
		"word ", "**", "_", "`", "```\n", "\n", "\n\n", "> ", "- ", "1. ", "# ", "[link](https://example.org/x)", "||", "~~", "<b>", "&amp;",
		"😀", "👨‍👩‍👧", "🇩🇪", "e\u0301", "漢字。", "\u200b", "\t", "    ", "| a | b |\n|---|---|\n", "| c | d |\n", "Sentence one. Two! ", "<@1>", "https://a.b/c ",
	}
	rapid.Check(t, func(t *rapid.T) {
		md := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 80).Draw(t, "pieces"), "")
		wantWhole(t, md, rapid.IntRange(60, 300).Draw(t, "limit"))
	})
}

// SEQ-97: what an agent writes comes back as it was written.
func TestLooksSurviveTheRoundTrip(t *testing.T) {
	c := &messageReader{markup: newDialect()}
	for _, md := range []string{
		"plain words", "**bold** and _italic_ and ~~gone~~", "||hidden|| `code` [link](https://a.b/c)", "# Title\n\nText",
		"> quoted\n> twice", "```go\nfunc main() {}\n```", "- one\n- two", "1. one\n2. two",
	} {
		part := c.markup.split(md, maxUnits)[0]
		if got := c.commonMark(part, mentionNames{}); strings.ReplaceAll(got, "\n\n", "\n") != strings.ReplaceAll(md, "\n\n", "\n") {
			t.Errorf("%q\nwent as %q\ncame as %q", md, part, got)
		}
	}
}

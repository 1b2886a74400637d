package markup

import (
	"strings"
	"testing"
)

func TestWhatMayNotBeLinkedIsShownAsCode(t *testing.T) {
	said := func(address string) bool {
		return ParseAddress(address).Within(ParseAddress("https://ok.org/a?b=c"))
	}
	for md, want := range map[string]string{
		"look: https://ok.org/a?b=c!":               "look: https://ok.org/a?b=c!",
		"or ok.org, [here](http://ok.org/a)":        "or ok.org, [here](http://ok.org/a)",
		"https://ok.org/a?b=secret, ok.org/b":       "`https://ok.org/a?b=secret`, `ok.org/b`",
		"HTTPS://EVIL.com":                          "`HTTPS://EVIL.com`",
		"![x](https://evil.com/p.png?d=1)":          "x (`https://evil.com/p.png?d=1`)",
		"**[here](javascript:alert(1))** it is":     "**here** (`javascript:alert(1)`) it is",
		"<mailto:a@evil.com> and a@evil.com":        "`mailto:a@evil.com` and `a@evil.com`",
		"www.evil.com/x evil.technology evil.id":    "`www.evil.com/x` `evil.technology` `evil.id`",
		"evil&#46;com e&#118;il.ie ev\\.il.com":     "`evil.com` `evil.ie` `ev.il.com`",
		"evil.**com** and **evil**.com/?d=1":        "`evil.com` and `evil.com/?d=1`",
		"ev\u200bil.com and e\u00advil.co\u2060m":   "`ev\u200bil.com` and `e\u00advil.co\u2060m`",
		"evil.`com` but not `evil.com`":             "`evil.com` but not `evil.com`",
		"[a][1] b\n\n[1]: https://evil.com 'x'":     "a (`https://evil.com`) b",
		"[ok.org](https://evil.com)":                "ok.org (`https://evil.com`)",
		"[evil.com](https://ok.org)":                "`evil.com` (<https://ok.org>)",
		"[https://evil.com/x](https://evil.com/x)":  "`https://evil.com/x`",
		"see москва.рф. End. 3.14 node.js":          "see `москва.рф`. End. 3.14 node.js",
		"time: 12:30, note:this, 1.2.3.4":           "time: 12:30, note:this, `1.2.3.4`",
		"@everyone look, @HERE and @channel!":       "everyone look, HERE and channel!",
		"&#64;everyone **@here** @ev\u200beryone":   "everyone **here** ev\u200beryone",
		"<!channel|all> \\<!here\\> <!everyone>":    "channel here everyone",
		"@@everyone \\<!@everyone> @channel_news":   "everyone everyone @channel_news",
		"@channel_news @hereford a@here.org":        "@channel_news @hereford `a@here.org`",
		"hi@everyone, @everyone_ @here，@channel大家":  "hieveryone, everyone\\_ here，@channel大家",
		"- **a** evil.com\n- b\n\n# evil.com":       "- **a** `evil.com`\n- b\n\n# `evil.com`",
		"| a | b |\n|---|---|\n| evil.com | x |":    "```\na        | b\n---------+--\nevil.com | x\n```",
		"| a |\n|---|\n| [x](https://ok.org/a) |":   "| a |\n|---|\n| [x](https://ok.org/a) |",
		"> quoted evil.com\n\n```\nevil.com\n```":   "> quoted `evil.com`\n\n```\nevil.com\n```",
		"[x](/relative) [y](#part) [z](//evil.com)": "[x](/relative) [y](#part) z (`//evil.com`)",
	} {
		got, asCode := Guard(md, said)
		if got != want {
			t.Errorf("%q\n got %q\nwant %q (%q)", md, got, want, asCode)
		}
		if again, _ := Guard(got, said); again != got {
			t.Errorf("not stable: %q, then %q", got, again)
		}
	}
}

// With every address allowed texts stay as they are, but for links that deceive.
func TestLinksAreLeftWhole(t *testing.T) {
	for md, want := range map[string]string{
		"https://a.b/?c=d, e.com and [words](https://f.g)":     "https://a.b/?c=d, e.com and [words](https://f.g)",
		"[https://a.com](https://evil.com/x) [b.com](//b.com)": "https://a.com (<https://evil.com/x>) [b.com](//b.com)",
		"[www.a.com/x](https://a.com)":                         "[www.a.com/x](https://a.com)",
		"[pay.com](https://pay.com@evil.com)":                  "pay.com (<https://pay.com@evil.com>)",
		"@here [x](https://a.b)":                               "here [x](https://a.b)",
	} {
		if got, asCode := Guard(md, nil); got != want || asCode != nil {
			t.Errorf("%q\n got %q\nwant %q (%q)", md, got, want, asCode)
		}
	}
}

// Mentions in mentions are taken apart a few times, and then what is left loses the signs
// that mention: ten thousand of them, one by one, took a minute.
func TestNestedMentionsEnd(t *testing.T) {
	for _, sign := range []string{"<!", "@<!"} {
		got, _ := Guard("1 < 2: "+strings.Repeat(sign, 10_000)+"everyone"+strings.Repeat(">", 10_000), nil)
		if _, again := Guard(got, nil); again != nil || strings.Contains(Visible(got), "@") {
			t.Errorf("this still calls: %.80q", got)
		}
	}
}

// What people see does not depend on how it is marked up.
func TestVisible(t *testing.T) {
	for md, want := range map[string]string{
		"I&#78;BOX (**1** _event_\\):":            "INBOX (1 event):",
		"a\u200bb [c](https://d.e/?x=f%20g)":      "ab c\nhttps://d.e/?x=f g",
		"| a | b_c |\n|---|---|\n| [x](/y) | 1 |": "a      | b_c\n-------+----\nx (/y) | 1",
	} {
		if got := Visible(md); got != want {
			t.Errorf("Visible(%q) = %q, want %q", md, got, want)
		}
	}
}

package browsertest

import (
	"fmt"
	"strings"
)

// vectors returns texts that run a script, load something or turn the page
// around where they are not escaped: every way out of a context with every
// payload, addresses that are scripts, CommonMark, templates, and what steers
// terminals. What they run is marked(); what they load is at the trap.
func vectors(trap string) []string {
	var all []string
	for _, out := range ways {
		for _, in := range payloads {
			all = append(all, out+strings.ReplaceAll(in, "TRAP", trap))
		}
	}
	for _, v := range append(append(append([]string{}, addresses...), marks...), steering...) {
		all = append(all, strings.ReplaceAll(v, "TRAP", trap))
	}
	return all
}

// ways lead out of where a text may stand.
var ways = []string{
	"", `">`, `'>`, `"/>`, "</pre>", "</title>", "</script>", "</style>", "</textarea></template></noscript>", "-->", "]]>", "`>", "</svg></text>", "\x00<!--><", "&quot;>",
}

// payloads run or load something in the text of a page.
var payloads = []string{
	`<script>marked()</script>`,
	`<script src=TRAP/a.js></script>`,
	`<ScRiPt/x>marked()</sCrIpT >`,
	`<script type=module>import('TRAP/m.js');marked()</script>`,
	`<img src=x onerror=marked()>`,
	`<img src=TRAP/p.png>`,
	"<img/src=`x`onerror=marked()>",
	`<svg onload=marked()><image href=TRAP/s.png />`,
	`<svg><script>marked()</script><animate onbegin=marked() attributeName=x dur=1s>`,
	`<svg><foreignObject><iframe src=TRAP/f></iframe></foreignObject>`,
	`<math><mtext><table><mglyph><style><!--</style><img title="--><img src=x onerror=marked()>">`,
	`<iframe srcdoc="<script>parent.marked()</script>"></iframe>`,
	`<iframe src="javascript:parent.marked()"></iframe>`,
	`<object data=TRAP/o></object><embed src=TRAP/e>`,
	`<link rel=stylesheet href=TRAP/l.css><link rel=prefetch href=TRAP/pre>`,
	`<style>@import 'TRAP/i.css';*{background:url(TRAP/b.png)}</style>`,
	`<meta http-equiv=refresh content="0;url=TRAP/m">`,
	`<base href=TRAP/>`,
	`<form action=TRAP/><button autofocus onfocus=marked()>`,
	`<input autofocus onfocus=marked()>`,
	`<details open ontoggle=marked()><summary>x`,
	`<video autoplay src=TRAP/v onerror=marked()><source onerror=marked() src=x>`,
	`<audio src=TRAP/u autoplay>`,
	`<body onload=marked() background=TRAP/bg>`,
	`<marquee onstart=marked()>x</marquee>`,
	`<template shadowrootmode=open><script>marked()</script></template>`,
	`<p style="background:url(TRAP/st);animation-name:x" onanimationstart=marked()>`,
	`<a href="javascript:marked()" ping=TRAP/ping autofocus onfocus=marked()>x</a>`,
	`" onmouseover=marked() onfocus=marked() autofocus x="`,
	`' onload=marked() style='background:url(TRAP/q)`,
}

// addresses are scripts or foreign where a text becomes an address.
var addresses = []string{
	"javascript:marked()", "JaVaScRiPt:marked()", "java\tscript:marked()", "\x01javascript:marked()", "javascript&colon;marked()", "&#106;avascript:marked()",
	"data:text/html,<script>marked()</script>", "data:text/html;base64,PHNjcmlwdD5tYXJrZWQoKTwvc2NyaXB0Pg==", "vbscript:marked()", "//evil.example/x", "TRAP/x",
	"/\\evil.example/x", "..//..//evil.example", "?q=</script><script>marked()</script>", "#\" onclick=marked()", "blob:x", "view-source:TRAP", "%3Cscript%3Emarked()%3C/script%3E",
}

// marks are what CommonMark and template engines understand.
var marks = []string{
	"![x](TRAP/md.png)", "[x](javascript:marked())", "<javascript:marked()>", "[x]: javascript:marked()\n[x]", "![x][y]\n\n[y]: TRAP/ref.png", "<TRAP/auto>",
	"[x](<javascript:marked()> \"t\")", "![x](data:image/svg+xml,<svg onload=marked()>)", "```html\n<script>marked()</script>\n```", "<div>\n\n<script>marked()</script>",
	"**<img src=x onerror=marked()>**", "`<script>marked()</script>`", "&lt;script&gt;marked()&lt;/script&gt;", "[a](http://x\" onclick=\"marked())", "<!-- --!><script>marked()</script>",
	"{{.}}", "{{define \"body\"}}x{{end}}", "{{template \"layout\"}}", "${marked()}", "#{marked()}", "<%= marked() %>", "{%raw%}<script>marked()</script>", "[[${marked()}]]", "constructor.constructor('marked()')()",
}

// steering turns terminals, texts and parsers around.
var steering = func() []string {
	all := []string{
		"\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;TRAP/osc\x07link\x1b]8;;\x07", "\x1b[2J\x1b[H", "\x1bP+q544e\x1b\\", "\x9b31m", "\x1b[6n", "\x1b]52;c;bWFya2Vk\x07", "\b\b\bgone", "a\rb", "\x7f", "\x0e\x0f",
		"\u202emoc.live\u202c", "\u2066x\u2069", "\u200fx", "\ufeffx", "\u2028x\u2029", "\U000e0041\U000e0042", "+ADw-script+AD4-marked()+ADw-/script+AD4-", "\xff\xfe<\x00s\x00", "ſcript<ſcript>marked()</ſcript>", "＜script＞marked()＜/script＞",
	}
	for c := range 0x20 {
		all = append(all, fmt.Sprintf("c%cd", c))
	}
	return all
}()

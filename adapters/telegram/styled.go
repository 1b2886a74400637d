package telegram

import (
	"slices"
	"strings"
)

// A styled text is what a reader sees and how it looks: words, and spans over
// them. Spans nest; no two of them cross.
type styled struct {
	text  string
	spans []span
	code  []span // those of the spans that are code blocks
}

// span marks text[from:to].
type span struct {
	from, to int
	tag      tag
}

// tag is one kind of Telegram's markup.
type tag struct {
	name string // b, i, s, tg-spoiler, a, code, pre, blockquote
	arg  string // a's address, pre's language
}

// open returns the tag's opening markup.
func (t tag) open() string {
	switch {
	case t.name == "a":
		return `<a href="` + escapeAttr(t.arg) + `">`
	case t.name == "pre" && t.arg != "":
		return `<pre><code class="language-` + escapeAttr(t.arg) + `">`
	default:
		return "<" + t.name + ">"
	}
}

// close returns the tag's closing markup.
func (t tag) close() string {
	if t.name == "pre" && t.arg != "" {
		return "</code></pre>"
	}
	return "</" + t.name + ">"
}

// Telegram decodes these four and numeric references, nothing else.
var (
	escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	escapeAttr = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace
)

// html returns text[from:to] as Telegram HTML. Spans that reach beyond are closed
// at its end and opened at its start, so every stretch is whole by itself.
func (t *styled) html(from, to int) string {
	var b strings.Builder
	b.Grow(to - from + 64)
	var open []span
	at := from
	closeUntil := func(pos int) {
		for len(open) > 0 && open[len(open)-1].to <= pos {
			last := open[len(open)-1]
			open = open[:len(open)-1]
			b.WriteString(escapeHTML(t.text[at:last.to]))
			b.WriteString(last.tag.close())
			at = last.to
		}
	}
	for _, s := range t.spans {
		if s.from >= to {
			break
		}
		s.from, s.to = max(s.from, from), min(s.to, to)
		if s.from >= s.to || blank(t.text[s.from:s.to]) {
			continue
		}
		closeUntil(s.from)
		b.WriteString(escapeHTML(t.text[at:s.from]))
		at = s.from
		b.WriteString(s.tag.open())
		open = append(open, s)
	}
	closeUntil(to)
	b.WriteString(escapeHTML(t.text[at:to]))
	return b.String()
}

// sortSpans puts the spans into the order in which they open: an outer one
// before the inner ones that begin with it, and notes which are code.
func (t *styled) sortSpans() {
	slices.SortStableFunc(t.spans, func(a, b span) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	for _, s := range t.spans {
		if s.tag.name == "pre" {
			t.code = append(t.code, s)
		}
	}
}

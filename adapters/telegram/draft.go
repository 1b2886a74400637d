package telegram

import (
	"slices"
	"strings"
)

// draft builds a styled text block by block. Line breaks are owed, not written,
// until more words come, so that no text begins or ends with one.
type draft struct {
	text   strings.Builder
	spans  []span
	open   map[string]bool
	prefix string // what every new line begins with: indentation, quote marks
	owed   int    // line breaks to write before the next words
	fresh  bool   // at the start of a line, prefix not yet written
	begun  []int  // spans that begin with the next words
}

func newDraft() *draft { return &draft{open: map[string]bool{}, fresh: true} }

// breakLine asks for n line breaks before the next words: 1 is a new line, 2 a
// blank line between.
func (d *draft) breakLine(n int) { d.owed = max(d.owed, n) }

// settle writes the line breaks owed and the prefix; the next words stand here.
func (d *draft) settle() {
	if d.owed > 0 && d.text.Len() > 0 {
		d.text.WriteString("\n\n"[:min(d.owed, 2)])
		d.fresh = true
	}
	d.owed = 0
	if d.fresh {
		d.text.WriteString(d.prefix)
		d.fresh = false
	}
	for _, i := range d.begun {
		d.spans[i].from = d.text.Len()
	}
	d.begun = d.begun[:0]
}

// write adds words that hold no line break of their own.
func (d *draft) write(s string) {
	if s == "" {
		return
	}
	d.settle()
	d.text.WriteString(s)
}

// lines adds words as they are, with their own line breaks and without prefix.
func (d *draft) lines(s string) {
	if s == "" {
		return
	}
	prefix := d.prefix
	d.prefix = ""
	d.settle()
	d.prefix = prefix
	d.text.WriteString(s)
}

// span puts a tag around what fill writes. A tag inside itself is left out: it
// would change nothing.
func (d *draft) span(t tag, fill func()) {
	if d.open[t.name] {
		fill()
		return
	}
	d.open[t.name] = true
	i := len(d.spans)
	d.spans = append(d.spans, span{from: -1, tag: t})
	d.begun = append(d.begun, i)
	fill()
	delete(d.open, t.name)
	d.spans[i].to = d.text.Len()
	d.begun = slices.DeleteFunc(d.begun, func(b int) bool { return b == i })
}

// styled returns what was written.
func (d *draft) styled() *styled {
	t := &styled{text: strings.TrimRight(d.text.String(), " \t\n")}
	for _, s := range d.spans {
		if s.to = min(s.to, len(t.text)); s.from >= 0 && s.from < s.to {
			t.spans = append(t.spans, s)
		}
	}
	t.sortSpans()
	return t
}

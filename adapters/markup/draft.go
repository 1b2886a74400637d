package markup

import (
	"slices"
	"strings"
)

// draft builds a [Text] block by block. Line breaks are owed, not written,
// until more words come, so that no text begins or ends with one.
type draft struct {
	text   strings.Builder
	spans  []TextSpan
	open   map[TextStyle]bool
	prefix string // what every new line begins with: indentation, quote marks
	owed   int    // line breaks to write before the next words
	fresh  bool   // at the start of a line, prefix not yet written
	begun  []int  // spans that begin with the next words
	spare  int    // bytes that may still be written beside the words
}

// newDraft returns an empty draft of words that took so many bytes to write. Of what
// is beside them it takes in proportion, see [draft.affords].
func newDraft(source int) *draft {
	return &draft{open: map[TextStyle]bool{}, fresh: true, spare: 2*source + minSpare}
}

// minSpare is what may stand beside the fewest words.
const minSpare = 4 << 10

// affords reports whether n bytes may be written that are no words: the beginnings of
// lines, the blanks of tables, addresses that are named again. A few signs of a text
// can ask for very many.
func (d *draft) affords(n int) bool {
	if n > d.spare {
		return false
	}
	d.spare -= n
	return true
}

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
		if d.affords(len(d.prefix)) {
			d.text.WriteString(d.prefix)
		}
		d.fresh = false
	}
	for _, i := range d.begun {
		d.spans[i].From = d.text.Len()
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

// span gives what fill writes the look of s. A look inside itself is left out: it
// would change nothing.
func (d *draft) span(s TextSpan, fill func()) {
	if d.open[s.Look] {
		fill()
		return
	}
	d.open[s.Look] = true
	i := len(d.spans)
	d.spans = append(d.spans, TextSpan{From: -1, Look: s.Look, Arg: s.Arg})
	d.begun = append(d.begun, i)
	fill()
	delete(d.open, s.Look)
	d.spans[i].To = d.text.Len()
	d.begun = slices.DeleteFunc(d.begun, func(b int) bool { return b == i })
}

// finish returns what was written.
func (d *draft) finish() *StyledText {
	words := strings.TrimRight(d.text.String(), " \t\n")
	var spans []TextSpan
	for _, s := range d.spans {
		if s.To = min(s.To, len(words)); s.From >= 0 && s.From < s.To {
			spans = append(spans, s)
		}
	}
	return newText(words, spans)
}

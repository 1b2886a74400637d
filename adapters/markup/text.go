package markup

import (
	"cmp"
	"slices"
)

// A TextStyle is how a stretch of words is shown.
type TextStyle string

// The looks. All but [Pre], [Quote], [Heading] and [Mark] stay within a line's words.
const (
	Bold          TextStyle = "bold"
	Italic        TextStyle = "italic"
	Strikethrough TextStyle = "strikethrough"
	Spoiler       TextStyle = "spoiler" // shown only on request
	Code          TextStyle = "code"
	Link          TextStyle = "link"    // Arg is the address
	Address       TextStyle = "address" // the words are an address themselves
	Pre           TextStyle = "pre"     // a code block; Arg is its language
	Quote         TextStyle = "quote"
	Heading       TextStyle = "heading" // Arg is its level, "1" being the highest
	Mark          TextStyle = "mark"    // the sign a list's item begins with, and the blank behind it
)

// A TextSpan gives the words from From until before To, in bytes, a look.
type TextSpan struct {
	From, To int
	Look     TextStyle
	Arg      string
}

// emphasis reports whether s only makes words stand out.
func (s TextSpan) emphasis() bool {
	switch s.Look {
	case Bold, Italic, Strikethrough, Spoiler:
		return true
	case Code, Link, Address, Pre, Quote, Heading, Mark:
		return false
	}
	return false
}

// block reports whether s is on lines of its own.
func (s TextSpan) block() bool { return s.Look == Pre || s.Look == Quote }

// A StyledText is what a reader sees and how it looks. Spans nest; no two of them
// cross; an outer one comes before those in it.
type StyledText struct {
	Words string
	Spans []TextSpan
	code  []TextSpan // those of the spans that are code blocks
}

// newText returns words with spans in the order in which they open: an outer one
// before the inner ones that begin with it.
func newText(words string, spans []TextSpan) *StyledText {
	sortSpans(spans)
	t := &StyledText{Words: words, Spans: spans}
	for _, s := range spans {
		if s.Look == Pre {
			t.code = append(t.code, s)
		}
	}
	return t
}

// sortSpans puts outer spans before inner ones. Of two with the same words the
// earlier stays the outer.
func sortSpans(spans []TextSpan) {
	slices.SortStableFunc(spans, func(a, b TextSpan) int { return cmp.Or(a.From-b.From, b.To-a.To) })
}

// A StyleWriter writes the looks of a platform. Each method is given what is written
// already, which it must not change.
type StyleWriter interface {
	// Open returns what comes before the words of s.
	Open(before []byte, s TextSpan) string
	// Close returns what comes after them.
	Close(before []byte, s TextSpan) string
	// Escape returns words that have the looks in, the outermost first.
	Escape(before []byte, words string, in []TextSpan) string
}

// Write returns Words[from:to] in the form of w. Spans that reach beyond are
// closed at its end and opened at its start, so that every stretch is whole by
// itself; those over nothing that is seen are left out.
func (t *StyledText) Write(from, to int, w StyleWriter) string {
	var b []byte
	var open []TextSpan
	at := from
	words := func(end int) {
		if at < end {
			b = append(b, w.Escape(b, t.Words[at:end], open)...)
			at = end
		}
	}
	closeUntil := func(pos int) {
		for len(open) > 0 && open[len(open)-1].To <= pos {
			last := open[len(open)-1]
			words(last.To)
			open = open[:len(open)-1]
			b = append(b, w.Close(b, last)...)
		}
	}
	for _, s := range t.Spans {
		if s.From >= to {
			break
		}
		s.From, s.To = max(s.From, from), min(s.To, to)
		if s.From >= s.To || Blank(t.Words[s.From:s.To]) {
			continue
		}
		closeUntil(s.From)
		words(s.From)
		b = append(b, w.Open(b, s)...)
		open = append(open, s)
	}
	closeUntil(to)
	words(to)
	return string(b)
}

// Only returns the text with those of its spans that keep reports true for.
func (t *StyledText) Only(keep func(TextSpan) bool) *StyledText {
	var spans []TextSpan
	for _, s := range t.Spans {
		if keep(s) {
			spans = append(spans, s)
		}
	}
	return newText(t.Words, spans)
}

package telegram

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// of returns text with its entities as CommonMark. Its words are always
// those of text; looks that CommonMark cannot give where they stand (bold that
// ends inside a word at a quotation mark) are left out.
func (m markdown) of(text string, entities []entity) string {
	text = legible(text)
	marks := marksOf(text, entities)
	if len(marks) == 0 {
		return escape(text)
	}
	if len(text) > maxChecked {
		marks = nil
	}
	for _, keep := range []func(string, mark) bool{everything, atWords, notEmphasis} {
		marks = slices.DeleteFunc(marks, func(one mark) bool { return !keep(text, one) })
		if md := writeMarks(text, marks); sameWords(m.style(md).text, text) {
			return md
		}
	}
	return escape(text)
}

// maxChecked bounds the texts whose looks are kept; Telegram's own limit is far
// below.
const maxChecked = 64 << 10

// The looks to try, most first.
func everything(string, mark) bool { return true }

// atWords keeps emphasis that begins and ends with letters, between spaces.
func atWords(text string, m mark) bool {
	if !m.emphasis() {
		return true
	}
	first, _ := utf8.DecodeRuneInString(text[m.from:])
	last, _ := utf8.DecodeLastRuneInString(text[:m.to])
	before, _ := utf8.DecodeLastRuneInString(text[:m.from])
	after, _ := utf8.DecodeRuneInString(text[m.to:])
	return isWordRune(first) && isWordRune(last) && !isWordRune(before) && !isWordRune(after)
}

// notEmphasis keeps code, links and quotes.
func notEmphasis(_ string, m mark) bool { return !m.emphasis() }

// sameWords reports whether a and b differ in white space alone.
func sameWords(a, b string) bool {
	strip := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s)
	}
	return a == b || strip(a) == strip(b)
}

// mark is an entity in bytes, of a kind CommonMark can show.
type mark struct {
	from, to int
	kind     string // Telegram's name
	arg      string // a link's address, a code block's language
}

// emphasis reports whether m only makes words stand out.
func (m mark) emphasis() bool {
	switch m.kind {
	case "bold", "italic", "strikethrough", "spoiler":
		return true
	default:
		return false
	}
}

// block reports whether m stands on lines of its own.
func (m mark) block() bool { return m.kind == "pre" || m.kind == "blockquote" }

// marksOf returns the entities that CommonMark can show, outer before inner.
// What must stay within a line is cut at line ends.
func marksOf(text string, entities []entity) []mark {
	var marks []mark
	at := unitOffsets(text, entities)
	for i, e := range entities {
		m := mark{from: at[2*i], to: at[2*i+1], kind: e.Type}
		switch e.Type {
		case "bold", "italic", "strikethrough", "spoiler", "code":
		case "pre":
			m.arg = e.Language
		case "text_link":
			m.arg = e.URL
		case "url":
			if escape(text[m.from:m.to]) == text[m.from:m.to] {
				continue
			}
		case "blockquote", "expandable_blockquote":
			m.kind = "blockquote"
		default:
			continue
		}
		marks = append(marks, m.pieces(text)...)
	}
	slices.SortStableFunc(marks, func(a, b mark) int {
		return cmp.Or(a.from-b.from, b.to-a.to)
	})
	return marks
}

// pieces returns m without white space around it, line by line unless it is a block.
func (m mark) pieces(text string) []mark {
	var out []mark
	add := func(from, to int) {
		words := text[from:to]
		from += len(words) - len(strings.TrimLeftFunc(words, unicode.IsSpace))
		to = from + len(strings.TrimSpace(words))
		if from < to {
			out = append(out, mark{from: from, to: to, kind: m.kind, arg: m.arg})
		}
	}
	switch {
	case m.kind == "pre" && m.from < m.to:
		out = append(out, m) // its white space is part of it
	case m.block():
		add(m.from, m.to)
	default:
		for from := m.from; from < m.to; {
			line, _, _ := strings.Cut(text[from:m.to], "\n")
			add(from, from+len(line))
			from += len(line) + 1
		}
	}
	return out
}

// unitOffsets returns where each entity begins and ends, in bytes. Offsets beyond
// the text or inside a letter go to the next place that exists.
func unitOffsets(text string, entities []entity) []int {
	type want struct{ units, index int }
	wants := make([]want, 0, 2*len(entities))
	for i, e := range entities {
		from := max(e.Offset, 0)
		to := from + max(min(e.Length, len(text)), 0)
		wants = append(wants, want{from, 2 * i}, want{to, 2*i + 1})
	}
	slices.SortStableFunc(wants, func(a, b want) int { return cmp.Compare(a.units, b.units) })
	out := make([]int, len(wants))
	units := 0
	for i, r := range text {
		for len(wants) > 0 && wants[0].units <= units {
			out[wants[0].index] = i
			wants = wants[1:]
		}
		units += max(utf16.RuneLen(r), 1)
	}
	for _, w := range wants {
		out[w.index] = len(text)
	}
	return out
}

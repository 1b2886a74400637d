package markup

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CommonMark returns words with spans as CommonMark. Spans may come in any
// order, cross, and reach over white space and line ends; they should lie between
// letters. What the CommonMark shows are always those words; looks that it cannot
// give where they stand (bold that ends inside a word at a quotation mark) are
// left out.
func (r *MarkdownReader) CommonMark(words string, spans []TextSpan) string {
	if len(spans) == 0 || len(words) > maxChecked {
		return Escape(words)
	}
	spans = shallow(tidy(words, spans[:min(len(spans), maxSpans)]))
	for _, keep := range []func(string, TextSpan) bool{everything, atWords, notEmphasis} {
		spans = slices.DeleteFunc(spans, func(one TextSpan) bool { return !keep(words, one) })
		if md := writeMarks(words, spans); SameWords(r.Read(md).Words, words) {
			return md
		}
	}
	return Escape(words)
}

// maxChecked bounds the texts whose looks are kept; the platforms' own limits are
// far below.
const maxChecked = 64 << 10

const (
	// maxSpans bounds the looks of one text, and the pieces that they are cut into at line
	// ends; further ones are left out.
	maxSpans = 4096
	// maxNesting bounds how many looks lie within each other; deeper ones are left out.
	maxNesting = 16
)

// shallow returns spans, which are sorted, without those that lie too deep.
func shallow(spans []TextSpan) []TextSpan {
	var open []int // where those end that are not over
	return slices.DeleteFunc(spans, func(s TextSpan) bool {
		open = slices.DeleteFunc(open, func(to int) bool { return to <= s.From })
		if len(open) >= maxNesting {
			return true
		}
		open = append(open, s.To)
		return false
	})
}

// The looks to try, most first.
func everything(string, TextSpan) bool { return true }

// atWords keeps emphasis that begins and ends with letters, between spaces.
func atWords(text string, m TextSpan) bool {
	if !m.emphasis() {
		return true
	}
	first, _ := utf8.DecodeRuneInString(text[m.From:])
	last, _ := utf8.DecodeLastRuneInString(text[:m.To])
	before, _ := utf8.DecodeLastRuneInString(text[:m.From])
	after, _ := utf8.DecodeRuneInString(text[m.To:])
	return isWordRune(first) && isWordRune(last) && !isWordRune(before) && !isWordRune(after)
}

// notEmphasis keeps code, links and quotes.
func notEmphasis(_ string, m TextSpan) bool { return !m.emphasis() }

// SameWords reports whether a and b differ in white space alone.
func SameWords(a, b string) bool {
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

// tidy returns spans outer before inner. What must stay within a line is cut at
// line ends, and no look but a code block's begins or ends with white space.
func tidy(words string, spans []TextSpan) []TextSpan {
	var out []TextSpan
	for _, s := range spans {
		if out = s.appendPieces(out, words); len(out) > maxSpans {
			out = out[:maxSpans]
			break
		}
	}
	sortSpans(out)
	return joinCode(out)
}

// joinCode makes one stretch of code of those that touch: the signs between them would be
// read as others.
func joinCode(spans []TextSpan) []TextSpan {
	var out []TextSpan
	last := -1 // the last stretch of code
	for _, s := range spans {
		if s.Look == Code && last >= 0 && s.From == out[last].To {
			out[last].To = s.To
			continue
		}
		if s.Look == Code {
			last = len(out)
		}
		out = append(out, s)
	}
	return out
}

// appendPieces appends s to out without white space around it, line by line unless it is a
// block.
func (s TextSpan) appendPieces(out []TextSpan, text string) []TextSpan {
	add := func(from, to int) {
		words := text[from:to]
		from += len(words) - len(strings.TrimLeftFunc(words, unicode.IsSpace))
		to = from + len(strings.TrimSpace(words))
		if from < to {
			out = append(out, TextSpan{From: from, To: to, Look: s.Look, Arg: s.Arg})
		}
	}
	switch {
	case s.Look == Pre && s.From < s.To, s.Look == Mark:
		out = append(out, s) // its white space is part of it
	case s.block():
		add(s.From, s.To)
	default:
		for from := s.From; from < s.To && len(out) <= maxSpans; {
			line, _, _ := strings.Cut(text[from:s.To], "\n")
			add(from, from+len(line))
			from += len(line) + 1
		}
	}
	return out
}

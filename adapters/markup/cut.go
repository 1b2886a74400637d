package markup

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// PartLimit bounds one part.
type PartLimit struct {
	Units  int // of its words, in UTF-16 units, which are never fewer than letters
	Markup int // of what is written for it, as Size counts
	// Size measures what was written. Default: bytes.
	Size func(written string) int
}

// Parts cuts the text into stretches of which each, written by write, is one
// message: at paragraphs if it can, then lines, sentences, words. Nothing is
// written for white space between them.
func (t *StyledText) Parts(l PartLimit, write func(from, to int) string) []string {
	if l.Size == nil {
		l.Size = func(written string) int { return len(written) }
	}
	var parts []string
	for at := t.skip(0); at < len(t.Words); {
		end, written := t.part(at, l, write)
		if !Blank(t.Words[at:end]) {
			parts = append(parts, written)
		}
		at = t.skip(end)
	}
	return parts
}

// part returns the end of the part that begins at from, and what is written for it.
func (t *StyledText) part(from int, l PartLimit, write func(from, to int) string) (end int, written string) {
	for limit := l.Units; ; limit = limit * 3 / 4 { // too much markup for these words: take fewer
		end = t.cut(from, limit)
		words := strings.TrimRightFunc(t.Words[from:end], unicode.IsSpace)
		written = write(from, from+len(words))
		if l.Size(written) <= l.Markup || limit <= 1 {
			return end, written
		}
	}
}

// skip returns where the words after at begin. Inside a code block only blank
// lines are skipped: indentation is part of the code.
func (t *StyledText) skip(at int) int {
	words := at + len(t.Words[at:]) - len(strings.TrimLeftFunc(t.Words[at:], unicode.IsSpace))
	if !t.inCode(words) || words == len(t.Words) {
		return words
	}
	if line := strings.LastIndexByte(t.Words[at:words], '\n'); line >= 0 {
		return at + line + 1
	}
	if at == 0 || t.Words[at-1] == '\n' {
		return at
	}
	return words
}

// inCode reports whether position at lies in a code block.
func (t *StyledText) inCode(at int) bool {
	after, _ := slices.BinarySearchFunc(t.code, at, func(s TextSpan, at int) int {
		if s.From <= at {
			return -1
		}
		return 1
	})
	return after > 0 && at < t.code[after-1].To
}

// The places to cut at, best first.
const (
	atParagraph = iota
	atLine
	atSentence
	atWord
	places
)

// cut returns where the part that begins at from ends: at the end of the text,
// or at the best place in the second half of what fits.
func (t *StyledText) cut(from, limit int) int {
	var best [places]int
	units, half := 0, from
	at := from
	for at < len(t.Words) {
		r, size := utf8.DecodeRuneInString(t.Words[at:])
		if units += utf16.RuneLen(r); units > limit {
			break
		}
		if place, ok := t.place(at, r); ok {
			best[place] = at
		}
		at += size
		if units <= limit/2 {
			half = at
		}
	}
	if at == len(t.Words) {
		return at
	}
	for place, end := range best {
		if end > half || (place == atWord && end > from) {
			return end
		}
	}
	return t.betweenGraphemes(from, at)
}

// place returns what kind of place to cut comes before r at position at.
func (t *StyledText) place(at int, r rune) (int, bool) {
	switch {
	case r == '\n' && strings.HasPrefix(t.Words[at:], "\n\n") && !t.inCode(at):
		return atParagraph, true
	case r == '\n':
		return atLine, true
	case !unicode.IsSpace(r):
		before, _ := utf8.DecodeLastRuneInString(t.Words[:at])
		return atSentence, at > 0 && strings.ContainsRune("。！？", before)
	case at > 0 && strings.IndexByte(".!?", t.Words[at-1]) >= 0:
		return atSentence, true
	default:
		return atWord, true
	}
}

// betweenGraphemes returns the last position up to at that does not tear what is
// seen as one sign. It looks back a little way only: a sign may be made endless.
func (t *StyledText) betweenGraphemes(from, at int) int {
	for pos, tries := at, 0; pos > from && tries < 32; tries++ {
		if !t.joined(pos) {
			return pos
		}
		_, size := utf8.DecodeLastRuneInString(t.Words[:pos])
		pos -= size
	}
	return max(at, from+1)
}

// joined reports whether the letters around position at make one sign.
func (t *StyledText) joined(at int) bool {
	before, _ := utf8.DecodeLastRuneInString(t.Words[:at])
	after, _ := utf8.DecodeRuneInString(t.Words[at:])
	const joiner = '\u200D'
	switch {
	case before == joiner, after == joiner,
		unicode.In(after, unicode.M),
		after >= '\U0001F3FB' && after <= '\U0001F3FF', // skin tones
		after >= '\U000E0020' && after <= '\U000E007F': // flags of regions
		return true
	case regional(before) && regional(after):
		run := 0
		for rest := t.Words[:at]; ; run++ {
			r, size := utf8.DecodeLastRuneInString(rest)
			if !regional(r) {
				break
			}
			rest = rest[:len(rest)-size]
		}
		return run%2 == 1 // two of them make one flag
	default:
		return false
	}
}

// regional reports whether r is half a flag.
func regional(r rune) bool { return r >= '\U0001F1E6' && r <= '\U0001F1FF' }

// Blank reports whether a reader would see nothing of s.
func Blank(s string) bool {
	for _, r := range s {
		switch {
		case unicode.IsSpace(r), unicode.In(r, unicode.Cf, unicode.Cc):
		case r == '\u2800', r == '\u3164', r == '\u115F', r == '\u1160', r == '\uFFFC', r == '\u034F':
		default:
			return false
		}
	}
	return true
}

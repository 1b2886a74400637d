package telegram

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxUnits is Telegram's limit for one message after parsing. Its server
	// counts code points; UTF-16 units are never fewer.
	maxUnits = 4096
	// maxMarkup keeps the request small however much markup the words carry.
	maxMarkup = 16 << 10
)

// Split cuts CommonMark into parts of Telegram HTML that one message each can
// hold: at paragraphs if it can, then lines, sentences, words. What a cut goes
// through, such as a code block, is closed before it and opened again behind it.
func (c *Client) Split(text string) []string { return c.markdown.split(text, maxUnits) }

// split is Split with the limit as a parameter.
func (m markdown) split(md string, limit int) []string {
	t := m.style(md)
	var parts []string
	for at := t.skip(0); at < len(t.text); {
		end, html := t.part(at, limit)
		if !blank(t.text[at:end]) {
			parts = append(parts, html)
		}
		at = t.skip(end)
	}
	return parts
}

// part returns the end of the part that begins at from, and its markup.
func (t *styled) part(from, limit int) (end int, html string) {
	for {
		end = t.cut(from, limit)
		words := strings.TrimRightFunc(t.text[from:end], unicode.IsSpace)
		html = t.html(from, from+len(words))
		if len(html) <= maxMarkup || limit <= 1 {
			return end, html
		}
		limit = limit * 3 / 4 // too much markup for these words: take fewer
	}
}

// skip returns where the words after at begin. Inside a code block only blank
// lines are skipped: indentation is part of the code.
func (t *styled) skip(at int) int {
	words := at + len(t.text[at:]) - len(strings.TrimLeftFunc(t.text[at:], unicode.IsSpace))
	if !t.inCode(words) || words == len(t.text) {
		return words
	}
	if line := strings.LastIndexByte(t.text[at:words], '\n'); line >= 0 {
		return at + line + 1
	}
	if at == 0 || t.text[at-1] == '\n' {
		return at
	}
	return words
}

// inCode reports whether position at lies in a code block.
func (t *styled) inCode(at int) bool {
	after, _ := slices.BinarySearchFunc(t.code, at, func(s span, at int) int {
		if s.from <= at {
			return -1
		}
		return 1
	})
	return after > 0 && at < t.code[after-1].to
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
func (t *styled) cut(from, limit int) int {
	var best [places]int
	units, half := 0, from
	at := from
	for at < len(t.text) {
		r, size := utf8.DecodeRuneInString(t.text[at:])
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
	if at == len(t.text) {
		return at
	}
	for place, end := range best {
		if end > half || (place == atWord && end > from) {
			return end
		}
	}
	return t.betweenGraphemes(from, at)
}

// place returns what kind of place to cut stands before r at position at.
func (t *styled) place(at int, r rune) (int, bool) {
	switch {
	case r == '\n' && strings.HasPrefix(t.text[at:], "\n\n") && !t.inCode(at):
		return atParagraph, true
	case r == '\n':
		return atLine, true
	case !unicode.IsSpace(r):
		before, _ := utf8.DecodeLastRuneInString(t.text[:at])
		return atSentence, at > 0 && strings.ContainsRune("。！？", before)
	case at > 0 && strings.IndexByte(".!?", t.text[at-1]) >= 0:
		return atSentence, true
	default:
		return atWord, true
	}
}

// betweenGraphemes returns the last position up to at that does not tear what is
// seen as one sign. It looks back a little way only: a sign may be made endless.
func (t *styled) betweenGraphemes(from, at int) int {
	for pos, tries := at, 0; pos > from && tries < 32; tries++ {
		if !t.joined(pos) {
			return pos
		}
		_, size := utf8.DecodeLastRuneInString(t.text[:pos])
		pos -= size
	}
	return max(at, from+1)
}

// joined reports whether the letters around position at make one sign.
func (t *styled) joined(at int) bool {
	before, _ := utf8.DecodeLastRuneInString(t.text[:at])
	after, _ := utf8.DecodeRuneInString(t.text[at:])
	const joiner = '\u200D'
	switch {
	case before == joiner, after == joiner,
		unicode.In(after, unicode.M),
		after >= '\U0001F3FB' && after <= '\U0001F3FF', // skin tones
		after >= '\U000E0020' && after <= '\U000E007F': // flags of regions
		return true
	case regional(before) && regional(after):
		run := 0
		for rest := t.text[:at]; ; run++ {
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

// blank reports whether Telegram would find s empty.
func blank(s string) bool {
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

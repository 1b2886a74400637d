package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A class is a set of kinds of characters.
type class uint8

const (
	upper  class = 1 << iota // may stand before the small letters of a word
	lower                    // may follow the capitals of a word
	letter                   // any letter; marks are none
	number                   // any kind of number
	space
	newline // the two that end lines
)

// piece returns the length of the piece that text begins with: tokens do not cross
// the borders of pieces. It is what this expression finds at the beginning of text:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	|\p{N}{1,3}
//	| ?[^\s\p{L}\p{N}]+[\r\n/]*
//	|\s*[\r\n]+
//	|\s+(?!\S)
//	|\s+
func piece(text string) int {
	first, size := read(text)
	if n := word(text, first, size); n > 0 {
		return n
	}
	if first&number != 0 {
		return numbers(text)
	}
	if n := signs(text); n > 0 {
		return n
	}
	return blanks(text)
}

// word returns the length of the word that text begins with, with what stands
// before it and its contraction, or 0. First it looks for one that has a small
// letter, then for one of capitals.
func word(text string, first class, size int) int {
	before := first&(letter|number|newline) == 0
	if !before && first&letter == 0 {
		return 0
	}
	if before {
		if n := small(text[size:]); n > 0 {
			return size + n + contraction(text[size+n:])
		}
	}
	if n := small(text); n > 0 {
		return n + contraction(text[n:])
	}
	if before {
		if n := run(text[size:], upper); n > 0 {
			return size + n + contraction(text[size+n:])
		}
	}
	if n := run(text, upper); n > 0 {
		return n + contraction(text[n:])
	}
	return 0
}

// small returns the length of the capitals and the small letters that text begins
// with, or 0 when nothing among them can be small. What is neither may be either:
// when no small letter follows, the last such character ends the word.
func small(text string) int {
	capitals, last := 0, 0
	for capitals < len(text) {
		c, size := read(text[capitals:])
		if c&upper == 0 {
			break
		}
		capitals += size
		if c&lower != 0 {
			last = capitals
		}
	}
	if n := run(text[capitals:], lower); n > 0 {
		return capitals + n
	}
	return last
}

// contractions are what may stand behind the apostrophe of one, in any case; the
// long s is an s, too.
var contractions = []string{"s", "t", "re", "ve", "m", "ll", "d", "ſ"}

// contraction returns the length of the contraction that text begins with, or 0.
func contraction(text string) int {
	if text == "" || text[0] != '\'' {
		return 0
	}
	for _, end := range contractions {
		if n := 1 + len(end); len(text) >= n && strings.EqualFold(text[1:n], end) {
			return n
		}
	}
	return 0
}

// numbers returns the length of at most three numbers.
func numbers(text string) int {
	n := 0
	for range 3 {
		c, size := read(text[n:])
		if c&number == 0 {
			break
		}
		n += size
	}
	return n
}

// signs returns the length of the signs that text begins with, after one blank,
// with the ends of lines behind them, or 0.
func signs(text string) int {
	begin := 0
	if text[0] == ' ' {
		begin = 1
	}
	n := begin
	for n < len(text) {
		c, size := read(text[n:])
		if c&(space|letter|number) != 0 {
			break
		}
		n += size
	}
	if n == begin {
		return 0
	}
	for n < len(text) && (text[n] == '\r' || text[n] == '\n' || text[n] == '/') {
		n++
	}
	return n
}

// blanks returns the length of a piece of the space that text begins with: up to
// its last end of a line, or all of it, but the last one when something follows,
// which belongs to that.
func blanks(text string) int {
	n, lines, last := 0, 0, 0
	for n < len(text) {
		c, size := read(text[n:])
		if c&space == 0 {
			break
		}
		n, last = n+size, size
		if c&newline != 0 {
			lines = n
		}
	}
	switch {
	case lines > 0:
		return lines
	case n == len(text) || n == last:
		return n
	default:
		return n - last
	}
}

// run returns the length of the characters of a class that text begins with.
func run(text string, of class) int {
	n := 0
	for n < len(text) {
		c, size := read(text[n:])
		if c&of == 0 {
			break
		}
		n += size
	}
	return n
}

// read returns what the first character of text is, and its length; nothing of
// the end of text.
func read(text string) (class, int) {
	if text == "" {
		return 0, 0
	}
	if b := text[0]; b < utf8.RuneSelf {
		return ascii[b], 1
	}
	r, size := utf8.DecodeRuneInString(text)
	return classOf(r), size
}

// ascii is what the first characters are.
var ascii = func() (of [utf8.RuneSelf]class) {
	for r := range of {
		of[r] = classOf(rune(r))
	}
	return of
}()

func classOf(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return space | newline
	case unicode.IsLower(r):
		return lower | letter
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper | letter
	case unicode.In(r, unicode.Lo, unicode.Lm):
		return upper | lower | letter
	case unicode.Is(unicode.M, r):
		return upper | lower
	case unicode.Is(unicode.N, r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return 0
}

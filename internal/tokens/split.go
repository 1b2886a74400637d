package tokens

import (
	"unicode"
	"unicode/utf8"
)

// A class is what the splitter has to know of a character.
type class uint8

const (
	head    class = 1 << iota // may stand in the first part of a word: capitals, and letters without case
	tail                      // may stand in the second part: small letters, and letters without case
	letter                    // any letter; marks are none, although words hold them
	digit                     // any number
	space                     // white space
	newline                   // the two of it that end lines
)

// classes are those of the first characters, by code point.
var classes = func() (known [unicode.MaxLatin1 + 1]class) {
	for r := range rune(len(known)) {
		known[r] = lookUp(r)
	}
	return known
}()

func lookUp(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return space | newline
	case unicode.Is(unicode.Ll, r):
		return tail | letter
	case unicode.In(r, unicode.Lo, unicode.Lm):
		return head | tail | letter
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return head | letter
	case unicode.Is(unicode.M, r):
		return head | tail
	case unicode.Is(unicode.N, r):
		return digit
	case unicode.IsSpace(r):
		return space
	}
	return 0
}

// at returns the class of the character at an offset of text and where the next
// one begins. Past the end the class has nothing that anything asks for.
func at(text string, i int) (class, int) {
	if i >= len(text) {
		return 0, i
	}
	r, n := rune(text[i]), 1
	if r >= utf8.RuneSelf {
		r, n = utf8.DecodeRuneInString(text[i:])
	}
	if int(r) < len(classes) {
		return classes[r], i + n
	}
	return lookUp(r), i + n
}

// pieceEnd returns the end of the first piece of text, which is not empty. Tokens
// never reach from one piece into another. It does what the expression of the
// vocabulary does, whose alternatives are tried in order:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func pieceEnd(text string) int {
	first, second := at(text, 0)
	starts := [2]int{0, 0} // of the word: behind a character that leads it in, or at once
	tries := starts[1:]
	if first&(newline|letter|digit) == 0 {
		starts[0] = second
		tries = starts[:]
	}
	for _, word := range []func(string, int) int{wordWithTail, wordWithHead} {
		for _, start := range tries {
			if end := word(text, start); end > 0 {
				return contraction(text, end)
			}
		}
	}
	if first&digit != 0 {
		return digits(text, second)
	}
	if end := signs(text); end > 0 {
		return end
	}
	return blanks(text)
}

// run returns the end of the characters from i on that have any bit of c.
func run(text string, i int, c class) int {
	for {
		got, next := at(text, i)
		if got&c == 0 {
			return i
		}
		i = next
	}
}

// wordWithTail returns the end of a word from start that has a second part, or
// zero. The first part gives back as much as the second needs.
func wordWithTail(text string, start int) int {
	heads := run(text, start, head)
	if end := run(text, heads, tail); end > heads {
		return end
	}
	for i := heads; i > start; {
		_, n := utf8.DecodeLastRuneInString(text[start:i])
		if c, end := at(text, i-n); c&tail != 0 {
			return end
		}
		i -= n
	}
	return 0
}

// wordWithHead returns the end of a word from start that has a first part, or zero.
func wordWithHead(text string, start int) int {
	if heads := run(text, start, head); heads > start {
		return run(text, heads, tail)
	}
	return 0
}

// contraction returns the end of what English hangs on a word that ends at i, such
// as 'll; i when there is nothing.
func contraction(text string, i int) int {
	if i+1 >= len(text) || text[i] != '\'' {
		return i
	}
	rest := text[i+1:]
	switch rest[0] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	}
	if len(rest) < 2 {
		return i
	}
	switch string([]byte{rest[0] | 0x20, rest[1] | 0x20}) {
	case "re", "ve", "ll":
		return i + 3
	}
	if rest[:2] == "ſ" { // an s by another name
		return i + 3
	}
	return i
}

// digits returns the end of at most three, of which the first ends at i.
func digits(text string, i int) int {
	for range 2 {
		c, next := at(text, i)
		if c&digit == 0 {
			break
		}
		i = next
	}
	return i
}

// signs returns the end of what is neither words nor numbers nor blank, with a
// space before and the ends of lines after it; zero when there is none.
func signs(text string) int {
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	end := start
	for end < len(text) {
		c, next := at(text, end)
		if c&(space|letter|digit) != 0 {
			break
		}
		end = next
	}
	if end == start {
		return 0
	}
	for end < len(text) && (text[end] == '\r' || text[end] == '\n' || text[end] == '/') {
		end++
	}
	return end
}

// blanks returns the end of white space: behind its last end of a line, or all of
// it but what leads in the next word.
func blanks(text string) int {
	end, last, line := 0, 0, 0
	for {
		c, next := at(text, end)
		if c&space == 0 {
			break
		}
		if c&newline != 0 {
			line = next
		}
		last, end = end, next
	}
	switch {
	case line > 0:
		return line
	case end < len(text) && last > 0:
		return last
	}
	return end
}

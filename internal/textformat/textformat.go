// Package textformat formats numbers, counted nouns and clipped text. It depends on
// nothing, so that every package can use it.
package textformat

import (
	"strconv"
	"unicode/utf8"
)

// Thousands returns n in decimal with commas between the thousands.
func Thousands[N ~int | ~int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// CountNoun returns "1 line", "2 lines" for the noun "line".
func CountNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// ClipRunes returns the first n runes of s, followed by "…" when some are left out.
func ClipRunes(s string, n int) string {
	if end := RunesLen(s, n); end < len(s) {
		return s[:end] + "…"
	}
	return s
}

// RunesLen returns how many bytes the first n runes of s have.
func RunesLen(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// ClipBytes returns at most n bytes of s, cut between runes and followed by "…" when
// some are left out.
func ClipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Package textformat formats numbers, counted nouns and clipped text. It depends on
// nothing, so that every package can use it.
package textformat

import (
	"fmt"
	"strconv"
	"strings"
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

// DidYouMean returns "did you mean …?" with the known word nearest to word, or ""
// when none is near.
func DidYouMean(word string, known []string) string {
	best, least := "", max(1, len(word)/3)+1 // short words resemble each other
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), k); d < min(least, 3) && d < len(k) {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// editDistance returns the number of insertions, deletions, substitutions and swaps
// of neighbours that turn a into b.
func editDistance(a, b string) int {
	before, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+substitutionCost(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

func substitutionCost(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}

package hud

import (
	"slices"
	"unicode/utf8"
)

// How much two words must have in common to count as forms of one.
const (
	leastAlike = 5 // bytes of a word, and of what two words begin with
	mostAlike  = 6 // words taken for one that was asked for
)

// alike adds to found the terms of the index that are spelled much like term: with
// one slip, or another ending.
func (x *index) alike(term string, found []string) []string {
	if len(term) < leastAlike || term[0] >= '0' && term[0] <= '9' {
		return found
	}
	for _, t := range x.spelled[[2]byte{term[0], term[1]}] {
		if len(found) >= mostAlike {
			break
		}
		if t != term && (sameStem(t, term) || oneSlip(t, term)) && !slices.Contains(found, t) && x.count(t) > 0 {
			found = append(found, t)
		}
	}
	return found
}

// sameStem reports whether two words begin alike for most of their length.
func sameStem(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	longer := max(len(a), len(b))
	return n >= leastAlike && n*10 >= longer*6 && longer-n <= 5 && utf8.RuneStart((a + "x")[n])
}

// oneSlip reports whether one word becomes the other by one letter more, less or
// changed, or by two that changed places.
func oneSlip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < leastAlike || len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) {
		return true
	}
	return a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

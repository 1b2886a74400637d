package recall

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of spelling variants.
const (
	minVariantBytes = 5 // of a word, and of a common beginning
	maxVariants     = 6 // of one word of the query
)

//go:embed synonyms.txt
var synonymText string

// synonyms returns, for the term of each word, the terms of words that everyday
// English uses in much the same meaning. A row of synonyms.txt is one such group; a
// word may be in several.
var synonyms = sync.OnceValue(func() map[string][]string {
	of := map[string][]string{}
	for row := range strings.Lines(synonymText) {
		var terms []string
		eachTerm(row, nil, func(t []byte) { terms = append(terms, string(t)) })
		for _, t := range terms {
			of[t] = append(of[t], terms...)
		}
	}
	return of
})

// expand returns the terms of the query that the rooms have, with spelling
// variants that they have, and with synonyms.
func (q *LineQuery) expand(rooms []SearchRoom, w *RankWeights) []queryTerm {
	terms := make([]queryTerm, 0, 4*len(q.terms))
	add := func(text string, asked float64) {
		n := 0
		for i := range rooms {
			n += rooms[i].Index.lineCount(text)
		}
		if n > 0 && asked > 0 && !slices.ContainsFunc(terms, func(t queryTerm) bool { return t.text == text }) {
			terms = append(terms, queryTerm{text: text, asked: asked, lines: n})
		}
	}
	for _, t := range q.terms {
		add(t.text, t.asked)
	}
	var found []string
	for _, t := range q.terms {
		found = found[:0]
		for i := range rooms {
			found = rooms[i].Index.appendVariants(found, t.text)
		}
		for _, text := range found {
			add(text, t.asked*w.Alike)
		}
	}
	for _, t := range q.terms {
		for _, text := range synonyms()[t.text] {
			add(text, t.asked*w.Kin)
		}
	}
	return terms
}

// appendVariants appends terms of the index that differ from term by one typing
// error or by their ending.
func (x *LineIndex) appendVariants(found []string, term string) []string {
	if len(term) < minVariantBytes || term[0] >= '0' && term[0] <= '9' {
		return found
	}
	for _, t := range x.spellings[[2]byte{term[0], term[1]}] {
		if len(found) >= maxVariants {
			break
		}
		if t != term && (sameStem(t, term) || oneTypo(t, term)) && !slices.Contains(found, t) && x.lineCount(t) > 0 {
			found = append(found, t)
		}
	}
	return found
}

// sameStem reports whether two words have the same beginning for most of their length.
func sameStem(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	longer := max(len(a), len(b))
	return n >= minVariantBytes && n*10 >= longer*6 && longer-n <= 5 && utf8.RuneStart((a + "x")[n])
}

// oneTypo reports whether one letter added, removed or changed, or two letters
// swapped, make one word of the other.
func oneTypo(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < minVariantBytes || len(b)-len(a) > 1 {
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

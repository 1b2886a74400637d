package recall

import (
	"math/bits"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A LineQuery is what old lines are searched by.
type LineQuery struct {
	terms     []queryTerm            // distinct
	dates     dateRange              // zero: any time
	embedding spaces.EmbeddingVector // nil: unknown
}

// maxQueryTerms bounds the terms of a query; [Overlap] has a bit for each.
const maxQueryTerms = 64

// NewQuery returns a query for the words of text alone.
func NewQuery(text string) LineQuery {
	q := LineQuery{terms: make([]queryTerm, 0, 16)}
	eachTerm(text, nil, func(t []byte) {
		if len(q.terms) < maxQueryTerms && !slices.ContainsFunc(q.terms, func(w queryTerm) bool { return w.text == string(t) }) {
			q.terms = append(q.terms, queryTerm{text: string(t), asked: 1})
		}
	})
	return q
}

// ParseQuery returns a query for the words of text, the dates it names relative to
// now, and the embedding of the text; nil is none.
func ParseQuery(text string, now time.Time, embedding spaces.EmbeddingVector) LineQuery {
	q := NewQuery(text)
	q.dates, q.embedding = findDates(text, now), embedding
	return q
}

// Empty reports whether the query has neither terms nor an embedding: it finds nothing.
func (q *LineQuery) Empty() bool { return len(q.terms) == 0 && q.embedding == nil }

// Terms returns the terms of the query, for [Overlap].
func (q *LineQuery) Terms() []string {
	terms := make([]string, len(q.terms))
	for i, t := range q.terms {
		terms[i] = t.text
	}
	return terms
}

// Overlap returns the share of the terms of a query that text has, 0 to 1.
func Overlap(text string, terms []string) float64 {
	if len(terms) == 0 {
		return 0
	}
	var found uint64 // a bit for each
	eachTerm(text, nil, func(t []byte) {
		if i := slices.Index(terms, string(t)); i >= 0 {
			found |= 1 << i
		}
	})
	return float64(bits.OnesCount64(found)) / float64(len(terms))
}

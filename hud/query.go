package hud

import (
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A searchQuery is what old lines are looked for by.
type searchQuery struct {
	terms   []weighed              // distinct
	when    dateRange              // zero: any time
	meaning spaces.EmbeddingVector // nil: unknown
}

// maxTerms bounds the terms of a query; [overlap] has a bit for each.
const maxTerms = 64

// add adds the words of text to the query.
func (q *searchQuery) add(text string, asked float64) {
	eachTerm(text, nil, func(t []byte) {
		if len(q.terms) < maxTerms && !slices.ContainsFunc(q.terms, func(w weighed) bool { return w.text == string(t) }) {
			q.terms = append(q.terms, weighed{text: string(t), asked: asked})
		}
	})
}

// words returns the terms as they are.
func (q *searchQuery) words() []string {
	words := make([]string, len(q.terms))
	for i, t := range q.terms {
		words[i] = t.text
	}
	return words
}

func asking(text string) searchQuery {
	q := searchQuery{terms: make([]weighed, 0, 16)}
	q.add(text, 1)
	return q
}

// query makes the query of words that woke the mind; of none, that of the newest
// words it was shown.
func (v *View) query(words string) searchQuery {
	if words == "" {
		words = v.newestWords()
	}
	q := asking(words)
	q.when, q.meaning = dated(words, v.newest()), v.Asked
	return q
}

// newest returns when anything last happened in a room of the mind.
func (v *View) newest() time.Time {
	var at time.Time
	for i := range v.Seats {
		if last := v.Seats[i].Room.Chat.Last; last.After(at) {
			at = last
		}
	}
	return at
}

// newestWords returns the words of others shown by the newest turn that shows any.
func (v *View) newestWords() string {
	if text := v.wordsOf(v.Current); text != "" {
		return text
	}
	for _, c := range slices.Backward(v.Closed) {
		if text := v.wordsOf(c.Turns); text != "" {
			return text
		}
	}
	return ""
}

func (v *View) wordsOf(turns []spaces.TranscriptTurn) string {
	for i := len(turns) - 1; i >= 0; i-- {
		t := &turns[i]
		if t.Role != spaces.RoleUser || len(t.Refs) == 0 {
			continue
		}
		var b strings.Builder
		for _, id := range t.Refs[max(0, len(t.Refs)-3):] {
			if _, m := v.find(id); m != nil {
				b.WriteString(m.Text)
				b.WriteByte('\n')
			}
		}
		if b.Len() > 0 {
			return b.String()
		}
	}
	return ""
}

package hud

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A search for decisions, open questions, links or files, or for what a person wrote, finds
// those lines alone, with words and without.
func TestSearchByKindAndPerson(t *testing.T) {
	w := newWorld(t)
	id := w.room("Garden", "kai", "nova", "ada")
	other := w.room("Boat", "kai", "ada")
	w.says(id, "kai", "the weather is mild today and the beds look fine")
	w.says(id, "nova", "We decided to plant the roses by the wall.")
	w.says(id, "kai", "look at https://example.org/roses before you buy")
	w.add(id, "nova", spaces.MessagePosted{Attachments: []spaces.FileAttachment{{Kind: "file", Name: "beds.csv"}}})
	w.says(other, "kai", "who has the key of the boat?")
	late := w.says(other, "kai", "It is settled: we sail in May.")
	for _, c := range []struct {
		name string
		q    SearchQuery
		want []string
	}{
		{"decisions", SearchQuery{Kind: recall.LookDecisions}, []string{"plant the roses", "sail in May"}},
		{"decisions of a room", SearchQuery{Kind: recall.LookDecisions, Space: id}, []string{"plant the roses"}},
		{"decisions of a person", SearchQuery{Kind: recall.LookDecisions, Who: "Kai"}, []string{"sail in May"}},
		{"decisions about words", SearchQuery{Kind: recall.LookDecisions, Text: "roses"}, []string{"plant the roses"}},
		{"decisions before", SearchQuery{Kind: recall.LookDecisions, Until: late.At}, []string{"plant the roses"}},
		{"questions", SearchQuery{Kind: recall.LookQuestions}, []string{"key of the boat"}},
		{"links", SearchQuery{Kind: recall.LookLinks}, []string{"example.org"}},
		{"links about words", SearchQuery{Kind: recall.LookLinks, Text: "roses wall"}, []string{"example.org"}},
		{"files", SearchQuery{Kind: recall.LookFiles}, []string{"beds.csv"}},
		{"a person", SearchQuery{Who: "nova"}, []string{"plant the roses", "beds.csv"}},
		{"a person about words", SearchQuery{Who: "kai", Text: "roses"}, []string{"example.org", "the weather"}},
		{"none", SearchQuery{Who: "kai", Kind: recall.LookFiles}, nil},
	} {
		c.q.Limit = 20
		got, refs := SearchLines(w.v, c.q)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is missing in\n%s", c.name, want, got)
			}
		}
		testutil.Same(t, c.name, len(c.want), len(refs))
	}
	testutil.Same(t, "people called Kai", 1, len(PeopleCalled(w.v, "@kai")))
	testutil.Same(t, "people called Zoe", 0, len(PeopleCalled(w.v, "Zoe")))
}

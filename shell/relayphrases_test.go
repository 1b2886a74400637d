package shell_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// GTS-28, GTS-29, PRD-5.6-A4, PRD-5.7-A2: what only who passes on messages says, what an
// act answered word for word, and talk before the answer is said all the same, and told.
func TestForbiddenPhrasesAreSaidAndCounted(t *testing.T) {
	for text, want := range map[string][]string{
		"I have  a Message\nfor you: lunch is at noon.": {"i have a message for you"},
		"I’m here to inform you of lunch.":              {"i'm here to inform you"},
		"I am passing along information about lunch.":   {"i'm passing along information"},
		`It says {"error":"no_file","success":false}.`:  {"raw result"},
		"Certainly! Lunch is at noon.":                  {"preamble"},
		"I’d be happy to help. Lunch is at noon.":       {"preamble"},
		"Lunch is at noon, of course.":                  nil,
		"I could not find the file. Was it a success?":  nil,
		"Lunch is at noon.":                             nil,
	} {
		play(t, replier(text), func(w *world) {
			room := w.room("kai", direct)
			w.start()
			w.says(room, "Kai", "when is lunch?")
			w.settle()
			var told []string
			for _, l := range w.bus.live {
				if l.kind == "phrase_said" && l.metadata["agent"] == "ada" {
					told = append(told, l.content)
				}
			}
			if diff := cmp.Diff(want, told); diff != "" {
				t.Errorf("%q (-want +got):\n%s", text, diff)
			}
			if said := w.spoken(room); len(said) != 1 {
				t.Errorf("%q: said %q", text, said)
			}
		})
	}
}

package hud

import "testing"

// Issue 2, memory: the vocabulary goes, is loaded again when it is asked for, and
// counts as before.
func TestVocabularyIsForgotten(t *testing.T) {
	const text = "Saturday looks best: nobody has anything else in the calendar."
	want := new(TokenCounter).Count(text)
	for range 2 {
		if got := len(libraryWords); got < 199_000 {
			t.Errorf("the library keeps %d words, want those of o200k: does it still name them so?", got)
		}
		ForgetVocabulary()
		if got := len(libraryWords); got != 0 {
			t.Errorf("the library keeps %d words, want none", got)
		}
		if got := new(TokenCounter).Count(text); got != want {
			t.Errorf("counted %d tokens afterwards, want %d", got, want)
		}
	}
}

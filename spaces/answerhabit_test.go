package spaces

import "testing"

// Three of ten answers in words teach that a model answers so, and ten calls unlearn it.
func TestAHabitIsLearnedAndUnlearned(t *testing.T) {
	forms := func(text string) []AnswerForm {
		var all []AnswerForm
		for _, r := range text {
			all = append(all, map[rune]AnswerForm{'c': AnsweredByCall, 'w': AnsweredInWords}[r])
		}
		return all
	}
	for text, want := range map[string]bool{
		"": false, "ww": false, "www": true, "wcccccccww": true, "wccccccccww": false, "wcccccccccwwcc": false, "wwwccccccccc": true, "wwwcccccccccc": false,
		"wwwcccccwccccc": true, "wwwccccccccccw": false, "wwwccccccccccwww": true,
	} {
		if got := AnswersInWords(forms(text)); got != want {
			t.Errorf("after %q it answers in words: %v", text, got)
		}
	}
}

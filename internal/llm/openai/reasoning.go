package openai

import "strings"

// Between these many servers hand out what a model thought before it answered.
const (
	thinking = "<think>"
	thought  = "</think>"
)

// withoutReasoning returns what an answer says without the thoughts in front of it:
// they are no words of the agent's, and its memory is not to be filled with them.
// Some chat templates keep the first tag to themselves, so that the last one, alone
// on its line, is all there is.
func withoutReasoning(text string) string {
	before, after, ended := strings.Cut(text, thought)
	begun := strings.HasPrefix(strings.TrimSpace(before), thinking)
	switch {
	case begun && !ended:
		return "" // it did not come to its words
	case begun, ended && !strings.Contains(before, thinking) && strings.HasSuffix(before, "\n") && strings.HasPrefix(after, "\n"):
		return strings.TrimSpace(after)
	}
	return text
}

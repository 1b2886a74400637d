package spaces

// HabitAnswers is how many of the newest answers of a model [AnswersInWords] is asked about.
const HabitAnswers = 50

// How many answers are looked at at once, and how many of them teach that a model answers
// in words.
const (
	habitWindow = 10
	habitWords  = 3
)

// AnswersInWords tells from the newest answers of an agent's model, the oldest of them
// first, whether it answers people in words. It is learned from three of ten answers, and
// unlearned by ten calls.
func AnswersInWords(newest []AnswerForm) bool {
	learned, from := false, 0
	for i, form := range newest {
		window := newest[max(from, i+1-habitWindow) : i+1]
		words := 0
		for _, f := range window {
			if f == AnsweredInWords {
				words++
			}
		}
		switch {
		case !learned && words >= habitWords:
			learned, from = true, i+1
		case learned && form == AnsweredByCall && words == 0 && len(window) == habitWindow:
			learned, from = false, i+1
		}
	}
	return learned
}

package recall

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed decisive.txt
var decisiveText string

var decisivePhrases = sync.OnceValue(func() *phraseBook { return readPhrases(decisiveText) })

// What a phrase of each class in decisive.txt says about a line: the chance that the line
// tells a decision where nothing else is known of it, and by how much it divides that of
// one that other words tell.
var decisiveChances = map[string]float64{"strong": 0.5, "medium": 0.18, "weak": 0.12, "fact": 0.12}

var decisiveDoubts = map[string]float64{"doubt": 0.5, "own": 0.85}

// Decisiveness returns how much a text reads like a decision, 0 to 1: by the words with
// which people tell one, the days, times and sums it names, and the words of doubt,
// proposals and questions in it. It knows words of English, German, French and Spanish.
func Decisiveness(text string) float64 {
	var words wordList
	return decisiveness(text, &words)
}

// decisiveness is Decisiveness with a buffer to use again.
func decisiveness(text string, w *wordList) float64 {
	w.read(text)
	if len(w.ends) == 0 {
		return 0
	}
	book := decisivePhrases()
	none := 1.0 // chance that no phrase tells a decision
	factor := 1.0
	var found [8]int
	book.each(w, func(class, _, _ int) {
		if found[class]++; found[class] > 3 {
			return
		}
		name := book.classes[class]
		none *= 1 - decisiveChances[name]
		if doubt, ok := decisiveDoubts[name]; ok {
			factor *= doubt
		}
	})
	if strings.ContainsAny(text, "0123456789") {
		none *= 1 - decisiveChances["fact"]
	}
	if strings.HasSuffix(strings.TrimRight(text, " \n\t)"), "?") {
		factor *= 0.3
	}
	if n := strings.IndexAny(text, ":="); n > 0 && n < len(text)-1 && (text[n] == '=' || text[n+1] == ' ') {
		none *= 1 - decisiveChances["medium"] // what it is about, then what it is
	}
	if strings.Contains(text, ", not ") || strings.Contains(text, " not ") && strings.ContainsAny(text, "0123456789") {
		none *= 1 - decisiveChances["medium"] // this, not that
	}
	if len(w.ends) < 4 { // too little to tell what was decided
		factor *= 0.5
	}
	return (1 - none) * factor
}

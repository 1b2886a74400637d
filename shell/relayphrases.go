package shell

import "strings"

// relaying are phrases of an agent that passes on a message instead of speaking (GTS-28,
// GTS-29).
var relaying = []string{
	"i was asked to tell you", "i have a message for you", "just a heads up",
	"i'm here to inform you", "i'm passing along information",
}

// preambles are phrases that talk about an answer before giving it
// (PRD-5.7-A2).
var preambles = []string{
	"certainly", "of course", "absolutely", "great question", "good question", "i'd be happy to", "i'll be happy to",
	"i would be happy to", "sure thing", "as an ai",
}

// preamble is what tellPhrase calls any of them.
const preamble = "preamble"

// rawResult is what tellPhrase calls the result of an act that is said as it is,
// instead of in plain words (PRD-5.6-A4).
const rawResult = "raw result"

// shortened writes what people write in two ways in one.
var shortened = strings.NewReplacer("’", "'", "i am ", "i'm ")

// unseemly returns the first of the phrases of relaying in a text, rawResult, preamble,
// or "".
func unseemly(text string) string {
	if strings.Contains(text, `"success":false`) || strings.Contains(text, `"success":true`) {
		return rawResult
	}
	words := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	words = shortened.Replace(words)
	for _, phrase := range relaying {
		if strings.Contains(words, phrase) {
			return phrase
		}
	}
	for _, opening := range preambles {
		if strings.HasPrefix(words, opening) {
			return preamble
		}
	}
	return ""
}

// tellPhrase tells of words that an agent should not have used. They are said all the
// same: that is counted, not forbidden.
func (c *cycle) tellPhrase(text string) {
	if phrase := unseemly(text); phrase != "" {
		c.shell.publish("phrase_said", phrase, c.facts("agent", string(c.agent.ID)))
	}
}

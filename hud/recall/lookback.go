package recall

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed lookback.txt
var lookBackText string

var lookBackPhrases = sync.OnceValue(func() *phraseBook { return readPhrases(lookBackText) })

// A LookBackKind is what a look back at old talk is after.
type LookBackKind string

// The kinds of looks back.
const (
	LookOverview  LookBackKind = "overview"  // what matters, decisions first
	LookDecisions LookBackKind = "decisions" // what was decided
	LookQuestions LookBackKind = "questions" // questions that have no answer
	LookLinks     LookBackKind = "links"     // lines with a link
	LookFiles     LookBackKind = "files"     // lines with a file
	LookCounts    LookBackKind = "counts"    // how much each person said
)

// A LookBack is what a question asks for that looks back at a stretch of talk and is about
// no subject: what happened, what was decided, who said most.
type LookBack struct {
	Kind LookBackKind
	// Names are the other words of the question, as terms of an index: the question is a
	// look back only where they name rooms, people or the agent.
	Names []string
	// From and To bound when the lines were written; zero is no bound.
	From, To time.Time
	// Anchor are words of what the stretch begins with, as "since the trip"; empty for none.
	Anchor string
}

// lookBackClasses are the kinds of the classes in lookback.txt, in the order in which
// one of several is taken.
var lookBackClasses = []struct {
	class string
	kind  LookBackKind
}{
	{"counts", LookCounts},
	{"ask", LookOverview},
	{"open", LookQuestions},
	{"decided", LookDecisions},
	{"links", LookLinks},
	{"files", LookFiles},
	{"happened", LookOverview},
}

// ParseLookBack returns what a text asks for that looks back at old talk. ok is false where
// it does not: it asks for something else, or tells something. now is the time of the text,
// in the time zone of its room. It knows words of English, German, French and Spanish.
func ParseLookBack(text string, now time.Time) (look LookBack, ok bool) {
	if len(text) > maxLookBack {
		return look, false
	}
	var words wordList
	words.read(text)
	book := lookBackPhrases()
	used := make([]bool, len(words.ends)) // words that name no subject
	var found [16]bool
	filler := book.class("filler")
	book.each(&words, func(class, from, to int) {
		found[class] = true
		if class == book.class("request") {
			return
		}
		for i := from; i < to; i++ {
			used[i] = true
		}
	})
	asks := strings.Contains(text, "?") || found[book.class("request")] || len(words.ends) <= fewWords && !tells(&words)
	for _, c := range lookBackClasses {
		if look.Kind == "" && found[book.class(c.class)] && (asks || c.class == "ask") {
			look.Kind = c.kind
		}
	}
	if look.Kind == "" || !found[filler] && len(words.ends) > 6 {
		return look, false
	}
	dates := findDates(text, now)
	look.From, look.To = dates.from, dates.to
	if dates == (dateRange{}) {
		look.Anchor = sinceWhat(&words, used)
	}
	for i := range words.ends {
		if w := words.word(i); !used[i] && (w[0] < '0' || w[0] > '9') {
			eachTerm(string(w), nil, func(t []byte) {
				if !slices.Contains(look.Names, string(t)) && !book.hasWord(filler, string(t)) {
					look.Names = append(look.Names, string(t))
				}
			})
		}
	}
	return look, true
}

// fewWords is the most words that ask without a question or a request, as in "links from March".
const fewWords = 7

// tells reports whether words tell something of who says them: "ok, agreed", "we decided".
func tells(words *wordList) bool {
	for i := range words.ends {
		switch string(words.word(i)) {
		case "ok", "okay", "yes", "yep", "no", "we", "i", "i've", "we've", "thanks", "agreed", "decided", "settled", "resolved", "voted", "done", "good", "great", "nice", "wir", "ich", "ja", "danke", "abgemacht", "einverstanden", "gut":
			return true
		}
	}
	return false
}

// maxLookBack is the most bytes of a text that may be a look back: who writes more tells
// something in it.
const maxLookBack = 400

// sinceWhat returns the words that follow a since, and marks them as used; "" for none.
func sinceWhat(words *wordList, used []bool) string {
	for i := range words.ends {
		switch string(words.word(i)) {
		case "since", "after", "seit", "depuis", "desde":
		default:
			continue
		}
		var anchor []string
		for k := i + 1; k < len(words.ends) && len(anchor) < 5; k++ {
			if used[k] {
				if len(anchor) > 0 {
					break
				}
				continue
			}
			anchor, used[k] = append(anchor, string(words.word(k))), true
		}
		return strings.Join(anchor, " ")
	}
	return ""
}

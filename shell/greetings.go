package shell

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/trestle-bridge/trestle/spaces"
)

//go:embed greetings.txt
var greetingLines string

// A greetingMatcher knows greetings by their words.
type greetingMatcher struct {
	greetings map[string]bool // each with one blank between its words
	beside    map[string]bool // words that may stand beside one
	longest   int             // words of a greeting
}

// greetings are the ones that this version knows.
var greetings = func() greetingMatcher {
	b := greetingMatcher{greetings: map[string]bool{}, beside: map[string]bool{}}
	for line := range strings.Lines(greetingLines) {
		line = strings.TrimSpace(line)
		word, beside := strings.CutPrefix(line, "+")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case beside:
			b.beside[word] = true
		default:
			words := slices.Collect(plainWords(line))
			b.greetings[strings.Join(words, " ")] = true
			b.longest = max(b.longest, len(words))
		}
	}
	return b
}()

// maxGreeting is how many words a mere greeting has at most.
const maxGreeting = 8

// merely reports whether a text greets and says nothing else. Names of members,
// mentions, marks and pictures in letters do not count.
func (b greetingMatcher) merely(text string, members []spaces.SpaceMember) bool {
	var words []string
	for word := range plainWords(text) {
		if len(words) == maxGreeting {
			return false
		}
		words = append(words, word)
	}
	greets, others := false, []string(nil)
	for len(words) > 0 {
		if n := b.at(words); n > 0 {
			greets, words = true, words[n:]
			continue
		}
		if !b.beside[words[0]] && !strings.HasPrefix(words[0], "@") {
			others = append(others, words[0])
		}
		words = words[1:]
	}
	return greets && (len(others) == 0 || allNames(others, members))
}

// at returns how many words the longest greeting has that the words begin with.
func (b greetingMatcher) at(words []string) int {
	for n := min(b.longest, len(words)); n > 0; n-- {
		if b.greetings[strings.Join(words[:n], " ")] {
			return n
		}
	}
	return 0
}

// allNames reports whether all words are names that members go by. A room may have
// thousands of members: it is asked only of what greets.
func allNames(words []string, members []spaces.SpaceMember) bool {
	left := slices.Clone(words)
	for i := 0; i < len(members) && len(left) > 0; i++ {
		names := slices.Collect(plainWords(members[i].Name + " " + members[i].Handle))
		left = slices.DeleteFunc(left, func(w string) bool { return slices.Contains(names, w) })
	}
	return len(left) == 0
}

// plainWords cuts a text into small words without the marks around them.
func plainWords(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, besideWords) {
			if !yield(strings.ToLower(word)) {
				return
			}
		}
	}
}

func besideWords(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '@' && r != '-' && r != '_'
}

// lookups are the acts that only look.
var lookups = []string{"search", "read_messages", "look", "view", "use"}

// interjections are words that answer or comment on what was said just before. Old lines
// are not recalled by them.
var interjections = func() map[string]bool {
	known := map[string]bool{}
	for word := range strings.FieldsSeq("lol rofl lmao haha hahaha hehe hihi ok okay k kk thanks thank thx ty cheers yes yep yeah yup no nope nah cool nice great good wow hmm hm mhm " +
		"sure right exactly true perfect please sorry oh ah aha oops what huh really so very much ja nein danke bitte gut genau klar oui non merci si sí gracias vale") {
		known[word] = true
	}
	return known
}()

// tellsNothing reports whether a text has no word by which old lines could be found:
// greetings, interjections, mentions and names of members alone.
func (b greetingMatcher) tellsNothing(text string, members []spaces.SpaceMember) bool {
	var others []string
	for words := slices.Collect(plainWords(text)); len(words) > 0; {
		if n := b.at(words); n > 0 {
			words = words[n:]
			continue
		}
		if w := words[0]; !b.beside[w] && !interjections[w] && !strings.HasPrefix(w, "@") {
			if others = append(others, w); len(others) > maxGreeting {
				return false
			}
		}
		words = words[1:]
	}
	return len(others) == 0 || allNames(others, members)
}

// greeted reports whether nothing but greetings woke the cycle: then there is
// nothing to look up (PRD-5.6-A3).
func (c *cycle) greeted() bool {
	if c.wake.Timer != nil || len(c.wake.Waits) > 0 || len(c.wake.Events) == 0 {
		return false
	}
	members := c.members()
	return !slices.ContainsFunc(c.wake.Events, func(e spaces.Event) bool {
		said, ok := e.Body.(spaces.MessagePosted)
		return !ok || len(said.Attachments) > 0 || !greetings.merely(said.Text, members)
	})
}

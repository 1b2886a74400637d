package corpus

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// decisions.txt holds lines by which people tell that something is decided. They were
// written without knowledge of the words by which such lines are found.
//
//go:embed decisions.txt
var decisionText string

// undecided.txt holds lines that name times, sums and plans, and decide nothing. They were
// written without that knowledge too.
//
//go:embed undecided.txt
var undecidedText string

// undecidedEach is how many lines of idle talk there are for one of undecided.txt.
const undecidedEach = 6

// The size of a room that is looked back at.
const (
	lookBackSessions  = 60
	lookBackLines     = 44
	lookBackDecisions = 24
)

// lookBackAsks are questions about a whole stretch of talk, by their kind; {m} is a month.
var lookBackAsks = []struct{ kind, text string }{
	{"overview", "catch me up: what happened, what was decided?"},
	{"decisions", "which decisions did we make?"},
	{"month", "what was settled in {m}?"},
}

// MakeLookBack makes up a room of two months of chat with 24 decisions in it, and the
// questions that look back at all of it or at one month.
func MakeLookBack(seed uint64, name string) Conversation {
	rnd := rand.New(rand.NewPCG(seed, uint64(len(name))<<32)) //nolint:gosec // rooms are not secret
	m := &generator{rnd: rnd, name: name, style: Chat, domains: domains(), at: time.Date(2025, 3, 1, 8, 0, 0, 0, time.UTC)}
	for _, i := range rnd.Perm(len(people))[:6] {
		m.people = append(m.people, people[i])
	}
	all := strings.Split(strings.TrimSpace(decisionText), "\n")
	undecided := strings.Split(strings.TrimSpace(undecidedText), "\n")
	planted := map[int][]string{} // by session
	for _, i := range rnd.Perm(len(all))[:lookBackDecisions] {
		s := rnd.IntN(lookBackSessions)
		planted[s] = append(planted[s], all[i])
	}
	day := m.at
	var evidence []RoomLine
	for s := range lookBackSessions {
		m.now, m.at = s, day.AddDate(0, 0, s)
		about := &m.domains[rnd.IntN(len(m.domains))]
		due := planted[s]
		for i := range lookBackLines {
			if left := lookBackLines - i; len(due) > 0 && rnd.IntN(left) < len(due) {
				m.say(pick(rnd, m.voices()), due[0], "")
				m.lines[len(m.lines)-1].Text, due = due[0], due[1:] // as it was written
				evidence = append(evidence, m.lines[len(m.lines)-1])
			}
			m.idle(about)
			if rnd.IntN(undecidedEach) == 0 {
				m.say(pick(rnd, m.voices()), pick(rnd, undecided), "")
			}
		}
	}
	m.at = day.AddDate(0, 0, lookBackSessions)
	for _, ask := range lookBackAsks {
		months := []time.Month{0}
		if ask.kind == "month" {
			months = []time.Month{time.March, time.April}
		}
		for _, month := range months {
			q := RecallQuestion{
				ID: fmt.Sprintf("%s?%d", name, len(m.questions)+1), Space: name, At: m.at, From: m.people[len(m.people)-1],
				Text: strings.ReplaceAll(ask.text, "{m}", month.String()), Kind: ask.kind,
			}
			for _, l := range evidence {
				if month == 0 || l.At.Month() == month {
					q.Evidence = append(q.Evidence, l.ID)
				}
			}
			m.questions = append(m.questions, q)
		}
	}
	return Conversation{slices.Clip(m.lines), m.questions}
}

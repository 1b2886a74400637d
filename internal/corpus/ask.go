package corpus

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ask makes the questions of the room: for each fact the kinds it can answer.
func (m *generator) ask() {
	m.at = m.at.Add(30 * time.Hour)
	done := map[string]bool{}
	for _, f := range m.all {
		d := f.domain
		alike := m.same(f.who, d)
		switch {
		case f.correction != nil:
			m.question("changed", f, pick(m.rnd, d.nows), f.correction.evidence)
		case len(alike) == 1:
			m.question("single", f, m.remembered(pick(m.rnd, d.asks), f), f.evidence)
		case !done[f.who+d.name]:
			done[f.who+d.name] = true
			var evidence []string
			for _, x := range alike {
				evidence = append(evidence, x.evidence...)
			}
			m.question("several", f, pick(m.rnd, d.alls), evidence)
		}
		if f.hasTime && m.rnd.IntN(2) == 0 {
			m.question("when", f, pick(m.rnd, d.whens), f.evidence)
		}
		if m.rnd.IntN(3) == 0 {
			m.question("who", f, pick(m.rnd, d.whos), f.evidence)
		}
	}
	for range 8 {
		d := pick(m.rnd, m.domains)
		nobody := &fact{who: pick(m.rnd, m.voices()), with: m.people[len(m.people)-1], domain: &d, value: pick(m.rnd, d.values)}
		if !slices.ContainsFunc(m.all, func(f *fact) bool { return f.who == nobody.who && f.domain.name == d.name }) {
			m.question("never", nobody, pick(m.rnd, d.asks), nil)
		}
	}
}

// remembered mostly adds to a question what the one who asks still knows.
func (m *generator) remembered(text string, f *fact) string {
	if f.detail == "" || m.rnd.IntN(4) == 0 {
		return text
	}
	return strings.TrimSuffix(text, "?") + ", " + f.detail + "?"
}

func (m *generator) question(kind string, f *fact, text string, evidence []string) {
	m.questions = append(m.questions, RecallQuestion{
		ID: fmt.Sprintf("%s?%d", m.name, len(m.questions)+1), Space: m.name, At: m.at, From: m.other(f.who),
		Text: m.fill(text, f), Kind: kind, Evidence: evidence,
	})
}

package corpus

import (
	"slices"
	"strings"
)

// A fact is something a person tells once, and may correct in a later session.
type fact struct {
	who, with  string
	domain     *topic
	value      string
	replaced   string // value after the correction; empty: never corrected
	correction *fact  // of this one
	corrects   *fact  // which this one corrects
	evidence   []string
	hasTime    bool
	detail     string // the part that the question mentions
}

// plant decides what is told in which session: for each person some domains with
// one fact, some with several, some corrected.
func (m *generator) plant(sessions int) {
	m.facts = make([][]*fact, sessions)
	used := map[string]bool{}
	for _, who := range m.voices() {
		share := 4 * 3 / (len(m.people) - 1)
		for _, i := range m.rnd.Perm(len(m.domains))[:min(len(m.domains)-2, max(5, share*2))] {
			d := &m.domains[i]
			for range []int{1, 1, 1, 2, 3, 4}[m.rnd.IntN(6)] {
				v := pick(m.rnd, d.values)
				if used[v] {
					continue
				}
				used[v] = true
				f := &fact{who: who, with: m.companion(who), domain: d, value: v}
				s := m.rnd.IntN(sessions)
				m.facts[s] = append(m.facts[s], f)
				m.all = append(m.all, f)
				if s < sessions-2 && m.rnd.IntN(6) == 0 {
					m.correct(f, s, used)
				}
			}
		}
	}
}

// correct plants a correction of a fact in a later session.
func (m *generator) correct(f *fact, s int, used map[string]bool) {
	v := pick(m.rnd, f.domain.values)
	if used[v] {
		return
	}
	used[v] = true
	later := s + 1 + m.rnd.IntN(len(m.facts)-s-1)
	f.replaced = v
	f.correction = &fact{who: f.who, with: f.with, domain: f.domain, value: v, corrects: f}
	m.facts[later] = append(m.facts[later], f.correction)
}

// companion returns a person who need not be in the room.
func (m *generator) companion(who string) string {
	if m.rnd.IntN(2) == 0 {
		return m.people[len(m.people)-1]
	}
	return m.other(who)
}

// tell has a fact told: in one line, as an answer, or as a correction.
func (m *generator) tell(f *fact) {
	d := f.domain
	if f.corrects != nil {
		f.evidence = []string{m.say(f.who, m.fill(pick(m.rnd, d.changes), f), "")}
		return
	}
	if m.rnd.IntN(5) < 2 {
		p := pick(m.rnd, d.pairs)
		asked := m.say(m.other(f.who), m.fill(p[0], f), "")
		if m.style == Chat && m.rnd.IntN(3) == 0 {
			m.idle(d)
		}
		f.evidence = []string{asked, m.say(f.who, m.fill(m.aside(p[1], d), f), asked)}
		return
	}
	text := m.fill(m.aside(pick(m.rnd, d.says), d), f)
	if m.style == Written && m.rnd.IntN(2) == 0 {
		text = m.remark() + " " + text
	}
	f.evidence = []string{m.say(f.who, text, "")}
	if m.style == Chat && m.rnd.IntN(8) == 0 {
		m.revise(f, text)
	}
}

// aside mostly adds words that name the subject.
func (m *generator) aside(text string, d *topic) string {
	if m.rnd.IntN(5) == 0 {
		return text
	}
	tag := pick(m.rnd, d.tags)
	return text + " " + strings.ToUpper(tag[:1]) + tag[1:] + "."
}

// revise has a line edited: its words stay but for a last remark.
func (m *generator) revise(f *fact, text string) {
	l := m.lines[len(m.lines)-1]
	m.say(f.who, text+" (sorry, slow thumbs)", "")
	m.lines[len(m.lines)-1].Edits, m.lines[len(m.lines)-1].ReplyTo = l.ID, ""
}

// fill puts a fact into a template.
func (m *generator) fill(text string, f *fact) string {
	value, next := f.value, f.replaced
	if f.corrects != nil {
		value, next = f.corrects.value, f.value
	}
	told, asked, _ := strings.Cut(pick(m.rnd, details), "|")
	if strings.Contains(text, "{d}") {
		f.detail = asked
	}
	f.hasTime = f.hasTime || strings.Contains(text, "{t}") || strings.Contains(text, "{day}")
	return strings.NewReplacer("{v}", value, "{n}", next, "{d}", told, "{w}", f.with, "{p}", f.who,
		"{t}", pick(m.rnd, times), "{day}", pick(m.rnd, days)).Replace(text)
}

// slips makes a line what people type on the way: small letters, letters in the
// wrong order, words cut short.
func (m *generator) slips(text string) string {
	if m.rnd.IntN(3) > 0 {
		text = strings.ToLower(text)
	}
	words := strings.Fields(text)
	for i, w := range words {
		switch {
		case w == "you" && m.rnd.IntN(2) == 0:
			words[i] = "u"
		case w == "tomorrow" || w == "because" && m.rnd.IntN(2) == 0:
			words[i] = map[string]string{"tomorrow": "tmrw", "because": "bc"}[w]
		case len(w) > 4 && m.rnd.IntN(16) == 0:
			k := 1 + m.rnd.IntN(len(w)-3)
			if b := []byte(w); b[k] < 0x80 && b[k+1] < 0x80 {
				b[k], b[k+1] = b[k+1], b[k]
				words[i] = string(b)
			}
		}
	}
	return strings.TrimRight(strings.Join(words, " "), ".")
}

// same returns the facts that the person told of a domain.
func (m *generator) same(who string, d *topic) []*fact {
	return slices.DeleteFunc(slices.Clone(m.all), func(f *fact) bool { return f.who != who || f.domain != d })
}

package corpus

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A RoomLine is something said in a room. The JSON form is what trestle replay reads.
type RoomLine struct {
	ID      string    `json:"id"`
	Space   string    `json:"space"`
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	From    string    `json:"from"`
	Text    string    `json:"text"`
	ReplyTo string    `json:"reply_to,omitempty"`
	Thread  string    `json:"thread,omitempty"`
	Edits   string    `json:"edits,omitempty"` // the line whose words this replaces
}

// A RecallQuestion is asked after all lines. Evidence names the lines that answer it;
// it is empty when the room has no answer.
type RecallQuestion struct {
	ID       string    `json:"id"`
	Space    string    `json:"space"`
	At       time.Time `json:"at"`
	From     string    `json:"from"`
	Text     string    `json:"text"`
	Kind     string    `json:"kind"`
	Evidence []string  `json:"evidence"`
}

// Kinds are the kinds of question, in the order they are reported.
var Kinds = []string{"single", "several", "when", "who", "changed", "never"}

// LookBackKinds are the kinds of question of [MakeLookBack], in the order they are reported.
var LookBackKinds = []string{"overview", "decisions", "month"}

// A WritingStyle is how people write.
type WritingStyle string

// The styles of rooms.
const (
	Written WritingStyle = "written" // two or three people, whole sentences
	Chat    WritingStyle = "chat"    // half a dozen people, short lines, slips
)

// A Conversation is one conversation with what can be asked about it.
type Conversation struct {
	Lines     []RoomLine
	Questions []RecallQuestion
}

// Make makes up the room of that name, of about 22 thousand tokens. The same
// arguments give the same room.
func Make(seed uint64, name string, style WritingStyle) Conversation {
	rnd := rand.New(rand.NewPCG(seed, uint64(len(name))<<32|uint64(len(style)))) //nolint:gosec // rooms are not secret
	m := &generator{rnd: rnd, name: name, style: style, domains: domains(), at: time.Date(2025, 3, 4, 8, 0, 0, 0, time.UTC).Add(time.Duration(seed%90) * 24 * time.Hour)}
	sessions, lines, folk := 26, 24, 2+rnd.IntN(2)
	if style == Chat {
		sessions, lines, folk = 34, 52, 5+rnd.IntN(3)
	}
	for _, i := range rnd.Perm(len(people))[:folk+1] {
		m.people = append(m.people, people[i])
	}
	m.plant(sessions)
	for s := range sessions {
		m.session(s, lines)
	}
	m.ask()
	return Conversation{m.lines, m.questions}
}

// A generator makes one room.
type generator struct {
	rnd       *rand.Rand
	name      string
	style     WritingStyle
	domains   []topic
	people    []string // the last one is only talked about
	at        time.Time
	now       int       // number of the session
	facts     [][]*fact // by session
	all       []*fact
	lines     []RoomLine
	questions []RecallQuestion
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// session has people talk for a while, some days after the last time.
func (m *generator) session(n, lines int) {
	m.now = n
	m.at = m.at.Add(time.Duration(20+m.rnd.IntN(200)) * time.Hour)
	about := []*topic{&m.domains[m.rnd.IntN(len(m.domains))], &m.domains[m.rnd.IntN(len(m.domains))]}
	due := m.facts[n]
	most := lines/2 + m.rnd.IntN(lines)
	for i := range most {
		if left := most - i; len(due) > 0 && m.rnd.IntN(left) < len(due) {
			m.tell(due[0])
			due = due[1:]
			continue
		}
		m.idle(pick(m.rnd, about))
	}
	for _, f := range due {
		m.tell(f)
	}
}

func (m *generator) voices() []string { return m.people[:len(m.people)-1] }

// other returns a person other than who.
func (m *generator) other(who string) string {
	for {
		if o := pick(m.rnd, m.voices()); o != who {
			return o
		}
	}
}

// idle adds a line without a fact.
func (m *generator) idle(d *topic) {
	who := pick(m.rnd, m.voices())
	if m.style == Chat && m.rnd.IntN(5) < 3 {
		m.say(who, pick(m.rnd, short), "")
		return
	}
	text := m.remark()
	switch m.rnd.IntN(6) {
	case 0:
		text = pick(m.rnd, d.chats)
	case 1:
		told, _, _ := strings.Cut(pick(m.rnd, details), "|")
		text = fmt.Sprintf("I was thinking about the %s and the %s again, %s.", pick(m.rnd, d.near), pick(m.rnd, d.near), told)
	case 2:
		text = pick(m.rnd, chatter)
	}
	if m.style == Written && m.rnd.IntN(3) > 0 {
		text += " " + m.remark()
	}
	if m.rnd.IntN(6) == 0 {
		text = m.other(who) + ", " + lower(text)
	}
	m.say(who, strings.ReplaceAll(text, "{x}", pick(m.rnd, d.values)), "")
}

// remark is a sentence about nothing in particular.
func (m *generator) remark() string {
	a, n, v := func() string { return pick(m.rnd, adjectives) }, func() string { return pick(m.rnd, nouns) }, func() string { return pick(m.rnd, verbs) }
	switch m.rnd.IntN(7) {
	case 0:
		return fmt.Sprintf("My %s wants to %s the %s %s, do not ask me why.", n(), v(), a(), n())
	case 1:
		return fmt.Sprintf("There was a %s %s next to the %s when I came by.", a(), n(), n())
	case 2:
		return fmt.Sprintf("Would you %s a %s if somebody gave you a %s %s for it?", v(), n(), a(), n())
	case 3:
		return fmt.Sprintf("I could %s that %s all day, it is so %s.", v(), n(), a())
	case 4:
		return fmt.Sprintf("Remind me to %s the %s before I %s the %s.", v(), n(), v(), n())
	case 5:
		return fmt.Sprintf("The %s at the corner looked %s today, like a %s.", n(), a(), n())
	}
	return pick(m.rnd, chatter)
}

// say adds a line and returns its id. What is answered is the line of that id.
func (m *generator) say(who, text, answers string) string {
	pause := 40 + m.rnd.IntN(160)
	if m.style == Chat {
		text, pause = m.slips(text), 5+m.rnd.IntN(90)
	}
	m.at = m.at.Add(time.Duration(pause) * time.Second)
	l := RoomLine{
		ID: fmt.Sprintf("%s:%d:%d", m.name, m.now+1, len(m.lines)+1), Space: m.name, Session: fmt.Sprint(m.now + 1),
		At: m.at, From: who, Text: text,
	}
	if n := len(m.lines); answers != "" && m.rnd.IntN(3) == 0 {
		l.ReplyTo = answers
	} else if m.style == Chat && n > 5 && m.rnd.IntN(12) == 0 {
		l.ReplyTo = m.lines[n-1-m.rnd.IntN(4)].ID
	}
	m.lines = append(m.lines, l)
	return l.ID
}

func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }

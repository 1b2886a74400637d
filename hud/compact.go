package hud

import (
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A compact renders lines of one room in the compact profile: grouped by
// conversation, the sender named once a run, a gutter before every line.
//
//	= Fri 2026-11-20 14:05
//	| Kai: did you talk to Ahmad?
//	|: he wrote at noon
//	| #a9 Ada (you) ↩#a7: not yet
//	* Nova (human) joined
//	…
//
// What stands after the colon is escaped and ends with the line; everything
// before it is ours.
type compact struct {
	v    *View
	seat *Seat
	b    []byte
	refs []spaces.EventID
	// named holds the messages that get an id because something refers to them;
	// all gives one to every line.
	named map[int]bool
	all   bool
	// excerpt is set where everybody knows that lines are missing between those that
	// are shown: only days stand over them, and no mark where one is left out.
	excerpt bool

	last   int // line before, -1 at the start
	sender spaces.EntityID
}

func newCompact(v *View, s *Seat) *compact { return &compact{v: v, seat: s, last: -1} }

// line appends line i of the room, at most limit characters of its words. Lines
// must come in rising order.
func (c *compact) line(i, limit int) {
	r := c.seat.Room
	m := &r.Chat.Messages[i]
	if m.Deleted {
		return
	}
	c.lead(i, m)
	c.last = i
	if m.Notice != nil {
		c.b = append(r.appendNotice(append(c.b, "* "...), m, c.v.me()), '\n')
		c.sender = ""
		return
	}
	c.refs = append(c.refs, m.ID)
	text := clip(m.Text, limit)
	c.b = append(c.b, '|')
	if c.all || c.named[i] {
		c.b = appendShort(append(c.b, ' '), m.Seq)
	}
	marked := len(c.b)
	c.b = c.seat.Room.appendMarks(c.b, m)
	if len(text) < len(m.Text) {
		c.b = append(c.b, " beginning"...)
	}
	if marks := string(c.b[marked:]); marks != "" || c.sender != m.Sender {
		c.b = append(c.b[:marked], ' ')
		c.b = append(append(c.b, c.speaker(m)...), marks...)
	}
	c.b = append(c.b, ':', ' ')
	c.b = append(appendEscaped(c.b, text, false), '\n')
	c.sender = m.Sender
}

func (c *compact) speaker(m *spaces.Message) string {
	label := c.seat.Room.cast.who(m.Sender).label
	if m.Sender == c.v.me() {
		label += " (you)"
	}
	return label
}

// lead writes what stands between the line before and line i: a date when a
// new conversation begins, "…" when lines are missing; in an excerpt each day.
func (c *compact) lead(i int, m *spaces.Message) {
	ms := c.seat.Room.Chat.Messages
	if c.excerpt {
		if c.last < 0 || !sameDay(&ms[c.last], m) {
			c.b = append(m.At.UTC().AppendFormat(append(c.b, "= "...), "Mon "+time.DateOnly), '\n')
			c.sender = ""
		} else if c.missing(i) {
			c.sender = ""
		}
		return
	}
	switch {
	case c.last < 0 || !sameDay(&ms[c.last], m) || m.At.Sub(ms[c.last].At) >= sessionGap:
		c.b = m.At.UTC().AppendFormat(append(c.b, "= "...), "Mon "+stamp)
		c.b = append(c.b, '\n')
		c.sender = ""
	case c.missing(i):
		c.b = append(c.b, "…\n"...)
		c.sender = ""
	}
}

// missing reports whether a line between the last one and i is left out;
// deleted ones never count.
func (c *compact) missing(i int) bool {
	for k := c.last + 1; k < i; k++ {
		if !c.seat.Room.Chat.Messages[k].Deleted {
			return true
		}
	}
	return false
}

func sameDay(a, b *spaces.Message) bool {
	return a.At.UTC().YearDay() == b.At.UTC().YearDay() && a.At.UTC().Year() == b.At.UTC().Year()
}

// away writes that the agent was not there.
func (c *compact) away(words string) {
	c.b = append(append(c.b, words...), '\n')
	c.sender = ""
}

// text returns what was rendered, without the last line end.
func (c *compact) text() string { return strings.TrimSuffix(string(c.b), "\n") }

// head line of a room's block: `s1 "Family"`, with how many of its lines follow.
func (v *View) appendRoomHead(dst []byte, s *Seat, shown, of int) []byte {
	dst = append(append(dst, s.Short...), ' ')
	dst = appendQuoted(dst, v.label(s))
	if of > 0 {
		dst = strconv.AppendInt(append(dst, " ("...), int64(shown), 10)
		dst = strconv.AppendInt(append(dst, " of "...), int64(of), 10)
		dst = append(dst, " lines)"...)
	}
	return append(dst, ':', '\n')
}

package hud

import (
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// A compactRenderer renders lines of one room in the compact profile: grouped by
// conversation, the sender named once a run, the year once. Every line that people
// wrote begins with a blank, and nothing else does: that costs no token, since
// the blank is part of the name's.
//
//	Fri 20 Nov 2026 14:05
//	 Kai: did you talk to Ahmad?
//	 : he wrote at noon
//	 Nova ↩: when?
//	 #a9 Ada (you) ↩#a7: not yet
//	* Nova (human) joined
//	…
//
// What stands after the colon is escaped and ends with the line; everything
// before it is ours. An arrow without an id answers the line above.
type compactRenderer struct {
	v    *View
	seat *RoomView
	me   spaces.EntityID
	b    []byte
	refs []spaces.EventID
	// named holds the messages that get an id because something refers to them;
	// all gives one to every line.
	named map[int]bool
	all   bool
	// quoted holds the messages whose beginning stands with what answers them: they
	// are shown nowhere themselves.
	quoted map[int]bool
	// excerpt is set where everybody knows that lines are missing between those that
	// are shown: only days stand over them, and no mark where one is left out.
	excerpt bool
	// bare is set where the words of lines are left out: each ends with its colon.
	bare bool

	last   int // line before, -1 at the start
	sender spaces.EntityID
}

func newCompact(v *View, s *RoomView) *compactRenderer {
	return &compactRenderer{v: v, seat: s, me: v.me(), last: -1}
}

// line appends line i of the room, at most limit characters of its words. Lines
// must come in rising order.
func (c *compactRenderer) line(i, limit int) {
	r := c.seat.Room
	m := &r.Chat.Messages[i]
	if m.Deleted || !c.seat.shows(i) {
		return
	}
	q := c.answers(i)
	below := q >= 0 && q == c.last && !c.all && c.below(q, i)
	c.lead(i, m)
	c.last = i
	if m.Notice != nil {
		c.b = append(r.appendNotice(append(c.b, "* "...), m, c.me), '\n')
		c.sender = ""
		return
	}
	c.refs = append(c.refs, m.ID)
	text := textformat.ClipRunes(m.Text, limit)
	if c.all || c.named[i] {
		c.b = appendShort(append(c.b, ' '), m.Seq)
	}
	marked := len(c.b)
	if below {
		c.b = append(c.b, " ↩"...)
	} else {
		c.b = r.appendAnswered(c.b, m)
	}
	c.quote(m.ReplyTo)
	c.b = appendOrigin(r.appendMarks(c.b, m), c.v, m)
	if len(text) < len(m.Text) {
		c.b = append(c.b, " beginning"...)
	}
	switch marks := string(c.b[marked:]); {
	case marks != "" || c.sender != m.Sender:
		c.b = append(c.b[:marked], ' ')
		c.b = append(c.appendSpeaker(c.b, m), marks...)
	case !c.all && !c.named[i]:
		c.b = append(c.b, ' ')
	}
	c.b = append(c.b, ':')
	if !c.bare {
		c.b = appendLineWords(c.b, text)
	}
	c.sender = m.Sender
}

// appendSaid appends what stands behind the colon of a line, with its end.
func appendLineWords(dst []byte, text string) []byte {
	return append(appendEscaped(append(dst, ' '), text, false), '\n')
}

// refer gives an id to each of the lines, in rising order, that another among them
// answers, unless that stands right below it.
func (c *compactRenderer) refer(lines []int) {
	c.named = map[int]bool{}
	above := -1
	for _, i := range lines {
		if q := c.answers(i); q >= 0 && (q != above || !c.below(q, i)) {
			c.named[q] = true
		}
		above = i
	}
}

// answers returns the line that line i replies to, or -1.
func (c *compactRenderer) answers(i int) int {
	chat := c.seat.Room.Chat
	if chat.Messages[i].ReplyTo == "" {
		return -1
	}
	return chat.At(chat.Messages[i].ReplyTo)
}

// below reports whether line i stands right below line q, no date or gap between
// them, when no line between them is shown.
func (c *compactRenderer) below(q, i int) bool {
	ms := c.seat.Room.Chat.Messages
	if !sameDay(&ms[q], &ms[i]) {
		return false
	}
	return c.excerpt || ms[i].At.Sub(ms[q].At) < recall.ConversationGap && !c.missing(q, i)
}

// quote appends the beginning of a message that is answered and shown nowhere: a
// stub, so that a reference from one span to another keeps its meaning (SEQ-76).
func (c *compactRenderer) quote(id spaces.EventID) {
	if id == "" || len(c.quoted) == 0 {
		return
	}
	r := c.seat.Room
	if i := r.Chat.At(id); c.quoted[i] {
		m := &r.Chat.Messages[i]
		c.b = append(c.appendSpeaker(append(c.b, ' '), m), ' ')
		c.b = appendQuoted(c.b, textformat.ClipRunes(m.Text, stubChars))
		c.refs = append(c.refs, m.ID)
	}
}

// stubChars are the characters of a message that stand with its answer; a length to
// which [Redaction.Text] knows that words are cut.
const stubChars = 60

func (c *compactRenderer) appendSpeaker(dst []byte, m *spaces.Message) []byte {
	dst = append(dst, c.seat.Room.speakers.find(m.Sender).label...)
	if m.Sender == c.me {
		dst = append(dst, " (you)"...)
	}
	return dst
}

// lead writes what stands between the line before and line i: when a new
// conversation begins, "…" when lines are missing; in an excerpt each day.
func (c *compactRenderer) lead(i int, m *spaces.Message) {
	ms := c.seat.Room.Chat.Messages
	var before *spaces.Message
	if c.last >= 0 {
		before = &ms[c.last]
	}
	switch {
	case before == nil || !sameDay(before, m) || !c.excerpt && m.At.Sub(before.At) >= recall.ConversationGap:
		c.b = c.appendWhen(c.b, before, m)
		c.sender = ""
	case c.missing(c.last, i):
		c.sender = ""
		if !c.excerpt {
			c.b = append(c.b, "…\n"...)
		}
	}
}

// appendWhen appends when a conversation begins, as far as the one before it does not
// tell: the year, the day. In an excerpt the hour is left out.
func (c *compactRenderer) appendWhen(dst []byte, before, m *spaces.Message) []byte {
	const day, clock = "Mon 2 Jan", "15:04"
	at := m.At.UTC()
	var parts []string
	if before == nil || !sameDay(before, m) {
		parts = append(parts, day)
	}
	if before == nil || before.At.UTC().Year() != at.Year() {
		parts = append(parts, "2006")
	}
	if !c.excerpt {
		parts = append(parts, clock)
	}
	return append(at.AppendFormat(dst, strings.Join(parts, " ")), '\n')
}

// missing reports whether a line between last and i is left out; deleted ones never
// count.
func (c *compactRenderer) missing(last, i int) bool {
	for k := last + 1; k < i; k++ {
		if !c.seat.Room.Chat.Messages[k].Deleted {
			return true
		}
	}
	return false
}

func sameDay(a, b *spaces.Message) bool {
	const day = 24 * time.Hour
	return a.At.Truncate(day).Equal(b.At.Truncate(day)) // in UTC, as times are counted
}

// away writes that the agent was not there.
func (c *compactRenderer) away(words string) {
	c.b = append(append(c.b, words...), '\n')
	c.sender = ""
}

// text returns what was rendered, without the last line end.
func (c *compactRenderer) text() string { return strings.TrimSuffix(string(c.b), "\n") }

// appendRoomHead appends the head line of a room's lines: `s1 "Family"`, with how many
// of its lines follow.
func appendRoomHead(dst []byte, v *View, s *RoomView, shown, of int) []byte {
	dst = append(append(dst, s.Short...), ' ')
	dst = appendQuoted(dst, v.label(s))
	if s.foreign {
		dst = append(dst, " (another circle)"...)
	}
	if of > 0 {
		dst = strconv.AppendInt(append(dst, " ("...), int64(shown), 10)
		dst = strconv.AppendInt(append(dst, " of "...), int64(of), 10)
		dst = append(dst, " lines)"...)
	}
	return append(dst, ':', '\n')
}

// appendLine appends line i of a room as it is rendered between others, at most limit
// characters of its words.
func appendLine(dst []byte, v *View, s *RoomView, i, limit int) []byte {
	c := newCompact(v, s)
	c.b, c.last = dst, i // no date
	c.line(i, limit)
	return c.b
}

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
// The text after the colon is escaped and ends with the line; everything before it is
// written by the renderer. An arrow without an id answers the line above.
type compactRenderer struct {
	v    *MindView
	seat *RoomView
	me   spaces.EntityID
	b    []byte
	refs []spaces.EventID
	// named holds the messages that get an id because something refers to them;
	// all gives one to every line.
	named map[int]bool
	all   bool
	// quoted holds the messages that are not shown themselves: their beginnings are
	// shown with the lines that answer them.
	quoted map[int]bool
	// excerpt leaves out times and the marks of missing lines: a header says that lines
	// are missing.
	excerpt bool
	// bare leaves out the words of lines: each ends with its colon.
	bare bool

	last   int // line before, -1 at the start
	sender spaces.EntityID
}

func newCompact(v *MindView, s *RoomView) *compactRenderer {
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
	named := c.all || c.named[i] || limit == ownClip && m.Sender == c.me && len(text) < len(m.Text)
	if named {
		c.b = appendMessageID(append(c.b, ' '), m, c.me)
	}
	marked := len(c.b)
	if below {
		c.b = append(c.b, " ↩"...)
	} else {
		c.b = r.appendAnswered(c.b, m, c.me)
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
	case !named:
		c.b = append(c.b, ' ')
	}
	c.b = append(c.b, ':')
	if !c.bare {
		c.b = appendLineWords(c.b, text)
	}
	c.sender = m.Sender
}

// appendLineWords appends the text behind the colon of a line, with its line end.
func appendLineWords(dst []byte, text string) []byte {
	return append(appendEscaped(append(dst, ' '), text, false), '\n')
}

// refer gives an id to each of the lines, in rising order, that another among them
// answers, unless that is the next line shown.
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

// below reports whether line i is rendered right below line q, without a date or gap,
// when no line between them is shown.
func (c *compactRenderer) below(q, i int) bool {
	ms := c.seat.Room.Chat.Messages
	if !c.sameDay(&ms[q], &ms[i]) {
		return false
	}
	return c.excerpt || ms[i].At.Sub(ms[q].At) < recall.ConversationGap && !c.missing(q, i)
}

// quote appends the beginning of a message that is answered and shown nowhere: a
// stub, so that a reference from one span to another can be understood.
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

// stubChars is the length to which a message is clipped where its answer quotes it.
// [Redaction.Text] uses it too.
const stubChars = 60

func (c *compactRenderer) appendSpeaker(dst []byte, m *spaces.ChatMessage) []byte {
	dst = append(dst, c.seat.Room.speakers.find(m.Sender).label...)
	if m.Sender == c.me {
		dst = append(dst, " (you)"...)
	}
	return dst
}

// lead renders what separates line i from the line before: the time of a new
// conversation, "…" for missing lines; in an excerpt only days.
func (c *compactRenderer) lead(i int, m *spaces.ChatMessage) {
	ms := c.seat.Room.Chat.Messages
	var before *spaces.ChatMessage
	if c.last >= 0 {
		before = &ms[c.last]
	}
	switch {
	case before == nil || !c.sameDay(before, m) || !c.excerpt && m.At.Sub(before.At) >= recall.ConversationGap:
		c.b = c.appendWhen(c.b, before, m)
		c.sender = ""
	case c.missing(c.last, i):
		c.sender = ""
		if !c.excerpt {
			c.b = append(c.b, "…\n"...)
		}
	}
}

// appendWhen appends the time at which a conversation begins. A year or day that the
// conversation before it has too is left out, and in an excerpt the time of day.
func (c *compactRenderer) appendWhen(dst []byte, before, m *spaces.ChatMessage) []byte {
	const day, clock = "Mon 2 Jan", "15:04"
	at := c.seat.local(m.At)
	var parts []string
	if before == nil || !c.sameDay(before, m) {
		parts = append(parts, day)
	}
	if before == nil || c.seat.local(before.At).Year() != at.Year() {
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

// sameDay reports whether two messages are of one day where the room is.
func (c *compactRenderer) sameDay(a, b *spaces.ChatMessage) bool {
	if c.seat.Zone == nil {
		const day = 24 * time.Hour
		return a.At.Truncate(day).Equal(b.At.Truncate(day)) // in UTC
	}
	return onOneDay(c.seat.local(a.At), c.seat.local(b.At))
}

// away renders a line saying that the agent was not connected.
func (c *compactRenderer) away(words string) {
	c.b = append(append(c.b, words...), '\n')
	c.sender = ""
}

// text returns what was rendered, without the last line end.
func (c *compactRenderer) text() string { return strings.TrimSuffix(string(c.b), "\n") }

// appendRoomHead appends the head line of a room's lines: `s1 "Family"`, with how many
// of its lines follow.
func appendRoomHead(dst []byte, v *MindView, s *RoomView, shown, of int) []byte {
	dst = append(append(dst, s.Short...), ' ')
	dst = appendQuoted(dst, v.label(s))
	if s.foreign && v.Agent != "" { // a person's own rooms have no circle to be beside
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
func appendLine(dst []byte, v *MindView, s *RoomView, i, limit int) []byte {
	c := newCompact(v, s)
	c.b, c.last = dst, i // no date
	c.line(i, limit)
	return c.b
}

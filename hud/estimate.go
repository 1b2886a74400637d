package hud

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// within returns as many of the lines, from the first on, as have at most budget
// tokens when they are rendered. Tokens grow much as lines do, so it is guessed
// between what fits and what does not.
func (v *View) within(rs []Recalled, budget int) []Recalled {
	m := v.measure(rs)
	if m.surely(budget) {
		return rs
	}
	fit, used := 0, 0
	over, above := len(rs), m.tokens(len(rs))
	if above <= budget {
		return rs
	}
	for over-fit > 1 {
		n := fit + max(1, min((over-fit)*(budget-used)/(above-used), over-fit-1))
		if tokens := m.tokens(n); tokens <= budget {
			fit, used = n, tokens
		} else {
			over, above = n, tokens
		}
	}
	return rs[:fit]
}

// A tokenEstimator tells how many tokens the first of some recalled lines have when they are
// rendered. What is said in a line has the same wherever it stands, see
// [View.saidTokens]: only what stands before that is rendered, and mostly it is alike.
type tokenEstimator struct {
	v     *View
	rs    []Recalled
	seats []*RoomView
	order []positioned // the lines by seat and line
	heads map[string]int
	last  struct { // the last row
		head   []byte // where nobody says something in it
		said   string // else
		tokens int    // of either, with the line end
	}
	text  []byte
	lines []int
	refs  []spaces.EventID // nobody asks for them
}

// A positioned line of a room has a place in a list.
type positioned struct{ room, line, place int }

func (v *View) measure(rs []Recalled) *tokenEstimator {
	m := &tokenEstimator{v: v, rs: rs, seats: v.all(), order: make([]positioned, 0, len(rs))}
	here := 0
	for place := range rs {
		for range m.seats { // mostly the same as before
			if m.seats[here].Uplink.Space == rs[place].Space {
				m.order = append(m.order, positioned{here, rs[place].Line, place})
				break
			}
			here = (here + 1) % len(m.seats)
		}
	}
	return m
}

// surely reports whether bytes alone prove that all lines fit.
func (m *tokenEstimator) surely(budget int) bool {
	bytes := 0
	for _, l := range m.order {
		bytes += len(m.seats[l.room].Room.Chat.Messages[l.line].Text)
	}
	if bytes >= budget { // and nothing that is escaped becomes shorter
		return false
	}
	on := takeSlate()
	defer on.wipe()
	on.bytes, _ = m.v.appendRecalled(on.bytes, m.rs)
	return len(on.bytes)+1 <= budget
}

// tokens returns the exact tokens of the first n lines, each with its line end: a
// token never reaches over the end of a line into the mark the next begins with.
func (m *tokenEstimator) tokens(n int) int {
	if m.heads == nil {
		m.heads, m.refs = map[string]int{}, make([]spaces.EventID, 0, len(m.rs))
		slices.SortFunc(m.order, func(a, b positioned) int { return cmp.Or(cmp.Compare(a.room, b.room), cmp.Compare(a.line, b.line)) })
	}
	sum := m.head([]byte(recalledHead))
	for k := 0; k < len(m.order); {
		room := m.order[k].room
		m.lines = m.lines[:0]
		for ; k < len(m.order) && m.order[k].room == room; k++ {
			if m.order[k].place < n {
				m.lines = append(m.lines, m.order[k].line)
			}
		}
		if len(m.lines) > 0 {
			sum += m.room(m.seats[room], slices.Compact(m.lines))
		}
	}
	if len(m.last.head) == 0 {
		m.last.head = appendSaid(m.last.head, m.last.said)
	}
	end := string(m.last.head[:len(m.last.head)-1]) // the last line end is not rendered, but counts
	return sum - m.last.tokens + m.v.Counter.Count(end) + 1
}

// room returns the exact tokens of lines of one room, in order, under its name.
func (m *tokenEstimator) room(s *RoomView, lines []int) int {
	c := newCompact(m.v, s)
	c.b, c.refs, c.excerpt, c.bare = m.v.appendRoomHead(m.text[:0], s, 0, 0), m.refs, true, true
	sum := m.head(c.b)
	m.last.head, m.last.tokens = append(m.last.head[:0], c.b...), sum
	c.refer(lines)
	for _, l := range lines {
		c.b = c.b[:0]
		c.line(l, noLimit)
		day := bytes.LastIndexByte(c.b, '\n') + 1
		sum += m.head(c.b[:day]) + m.head(c.b[day:])
		if day < len(c.b) {
			m.last.head, m.last.said, m.last.tokens = m.last.head[:0], s.Room.Chat.Messages[l].Text, m.v.saidTokens(s, l)
			sum += m.last.tokens
		}
	}
	m.text = c.b
	return sum
}

// head returns the exact tokens of what stands before what is said.
func (m *tokenEstimator) head(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	n, counted := m.heads[string(text)]
	if !counted {
		words := string(text)
		n = m.v.Counter.Count(words)
		m.heads[words] = n
	}
	return n
}

package hud

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// A RecalledLine is an old line that may matter now and is not in the prefix.
type RecalledLine struct {
	Space spaces.SpaceID
	Event spaces.EventID
	Line  int // its place in the room's chat
}

// Recall returns the old lines of all rooms that answer the words best, in the order in
// which they were chosen; rendered they have at most budget tokens. Without words it uses
// the newest ones that the agent was shown. Lines in the keyframe or in a turn are left
// out. An answer is recalled with the question it answers.
func (v *MindView) Recall(words string, budget int) []RecalledLine {
	q := v.query(words)
	if q.Empty() || budget <= 0 {
		return nil
	}
	seats := v.allRooms()
	found := recall.Search(&recall.SearchRequest{
		Rooms: v.searchRooms(seats), Query: q, Weights: v.weights(), Budget: budget, Shown: v.eachRefs,
		Tokens: func(room, line int) int { return v.lineTokens(seats[room], line) },
	})
	rs := make([]RecalledLine, len(found))
	for i, l := range found {
		s := seats[l.Room]
		rs[i] = RecalledLine{s.Uplink.Space, s.Room.Chat.Messages[l.Number].ID, l.Number}
	}
	return v.fitRecalled(rs, budget)
}

// searchRooms returns the rooms of the seats as they are searched.
func (v *MindView) searchRooms(seats []*RoomView) []recall.SearchRoom {
	rooms := make([]recall.SearchRoom, len(seats))
	for i, s := range seats {
		rooms[i] = recall.SearchRoom{Space: s.Uplink.Space, Index: s.Room.index, Focus: v.focus(s), Foreign: s.foreign, Fresh: s.Uplink.Fresh}
		if s.foreign {
			rooms[i].Visible = s.shows
		}
	}
	return rooms
}

// query returns the query for the words that woke the agent; without words, for the
// newest ones it was shown.
func (v *MindView) query(words string) recall.LineQuery {
	if words == "" {
		words = v.newestWords()
	}
	return recall.ParseQuery(words, v.newest(), v.Asked)
}

// newestWords returns the words of others that the newest turn with any shows.
func (v *MindView) newestWords() string {
	if text := wordsOf(v, v.Current); text != "" {
		return text
	}
	for _, c := range slices.Backward(v.Closed) {
		if text := wordsOf(v, c.Turns); text != "" {
			return text
		}
	}
	return ""
}

func wordsOf(v *MindView, turns []spaces.TranscriptTurn) string {
	for i := len(turns) - 1; i >= 0; i-- {
		t := &turns[i]
		if t.Role != spaces.RoleUser || len(t.Refs) == 0 {
			continue
		}
		var b strings.Builder
		for _, id := range t.Refs[max(0, len(t.Refs)-3):] {
			if _, m := v.find(id); m != nil {
				b.WriteString(m.Text)
				b.WriteByte('\n')
			}
		}
		if b.Len() > 0 {
			return b.String()
		}
	}
	return ""
}

// recalledHead is the header of recalled lines.
const recalledHead = "RECALLED (older lines, others between left out):\n"

// lineHead is the number of bytes before the words of most lines.
const lineHead = 48

// appendRecalled appends recalled lines, rooms in the order of the seats. It also
// returns the messages whose words they show.
func (v *MindView) appendRecalled(dst []byte, rs []RecalledLine) ([]byte, []spaces.EventID) {
	if len(rs) == 0 {
		return dst, nil
	}
	of := map[spaces.SpaceID][]int{}
	for _, r := range rs {
		of[r.Space] = append(of[r.Space], r.Line)
	}
	size := 0
	for _, s := range v.allRooms() {
		for _, l := range of[s.Uplink.Space] {
			size += len(s.Room.Chat.Messages[l].Text) + lineHead
		}
	}
	dst = append(slices.Grow(dst, size+256), recalledHead...)
	refs := make([]spaces.EventID, 0, len(rs))
	for _, s := range v.allRooms() {
		lines := of[s.Uplink.Space]
		if len(lines) == 0 {
			continue
		}
		slices.Sort(lines)
		lines = slices.Compact(lines)
		c := newCompact(v, s)
		c.b, c.refs, c.excerpt = appendRoomHead(dst, v, s, 0, 0), refs, true
		c.refer(lines)
		for _, l := range lines {
			c.line(l, noLimit)
		}
		dst, refs = c.b, c.refs
	}
	return dst[:len(dst)-1], refs // without the last line's end
}

// fitRecalled returns as many of the lines, from the first on, as have at most budget
// tokens when they are rendered. It searches by interpolation, since tokens grow about
// linearly with lines.
func (v *MindView) fitRecalled(rs []RecalledLine, budget int) []RecalledLine {
	m := newTokenEstimator(v, rs)
	if m.surelyFit(budget) {
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

// A tokenEstimator counts the exact tokens of the first n of some recalled lines. The
// words of a line have the same tokens in every rendering, see [View.wordTokens], so only
// the text before them is rendered, and its counts are cached.
type tokenEstimator struct {
	v     *MindView
	rs    []RecalledLine
	seats []*RoomView
	order []positioned // the lines by seat and line
	heads map[string]int
	last  struct { // the last row
		head   []byte // of a row without words
		said   string // words of any other row
		tokens int    // of either, with the line end
	}
	text  []byte
	lines []int
	refs  []spaces.EventID // unused
}

// A positioned line of a room has a place in a list.
type positioned struct{ room, line, place int }

func newTokenEstimator(v *MindView, rs []RecalledLine) *tokenEstimator {
	m := &tokenEstimator{v: v, rs: rs, seats: v.allRooms(), order: make([]positioned, 0, len(rs))}
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

// surelyFit reports whether bytes alone prove that all lines fit.
func (m *tokenEstimator) surelyFit(budget int) bool {
	bytes := 0
	for _, l := range m.order {
		bytes += len(m.seats[l.room].Room.Chat.Messages[l.line].Text)
	}
	if bytes >= budget { // and nothing that is escaped becomes shorter
		return false
	}
	on := takeBuffer()
	defer on.release()
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
		m.last.head = appendLineWords(m.last.head, m.last.said)
	}
	end := string(m.last.head[:len(m.last.head)-1]) // the last line end is not rendered, but counts
	return sum - m.last.tokens + m.v.Counter.Count(end) + 1
}

// room returns the exact tokens of lines of one room, in order, under its name.
func (m *tokenEstimator) room(s *RoomView, lines []int) int {
	c := newCompact(m.v, s)
	c.b, c.refs, c.excerpt, c.bare = appendRoomHead(m.text[:0], m.v, s, 0, 0), m.refs, true, true
	sum := m.head(c.b)
	m.last.head, m.last.tokens = append(m.last.head[:0], c.b...), sum
	c.refer(lines)
	for _, l := range lines {
		c.b = c.b[:0]
		c.line(l, noLimit)
		day := bytes.LastIndexByte(c.b, '\n') + 1
		sum += m.head(c.b[:day]) + m.head(c.b[day:])
		if day < len(c.b) {
			m.last.head, m.last.said, m.last.tokens = m.last.head[:0], s.Room.Chat.Messages[l].Text, m.v.wordTokens(s, l)
			sum += m.last.tokens
		}
	}
	m.text = c.b
	return sum
}

// head returns the exact tokens of the text before the words of a line.
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

// recalledReason says in a plan which recalled lines came into the frame.
func recalledReason(v *MindView, refs []spaces.EventID) string {
	words := textformat.CountNoun(len(refs), "line")
	if names := v.ForeignRooms(refs); len(names) > 0 {
		words += "; of other circles " + strings.Join(names, ", ") + ": everybody here could read them there"
	}
	return words
}

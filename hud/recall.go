package hud

import (
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// A Recalled is an old line that may matter now and is not in the prefix.
type Recalled struct {
	Space spaces.SpaceID
	Event spaces.EventID
	Line  int // its place in the room's chat
}

// Recall finds the old lines of all rooms that answer the words best, in the
// order they were chosen; rendered they have at most budget tokens. No words stand
// for the newest ones the agent was shown. Lines in the keyframe or in a turn are
// left out. An answer is recalled with the question it answers.
func (v *View) Recall(words string, budget int) []Recalled {
	q := v.query(words)
	if q.Empty() || budget <= 0 {
		return nil
	}
	seats := v.all()
	found := recall.Search(&recall.Request{
		Rooms: v.searchRooms(seats), Query: q, Weights: v.weights(), Budget: budget, Shown: v.eachRefs,
		Tokens: func(room, line int) int { return v.lineTokens(seats[room], line) },
	})
	rs := make([]Recalled, len(found))
	for i, l := range found {
		s := seats[l.Room]
		rs[i] = Recalled{s.Uplink.Space, s.Room.Chat.Messages[l.Number].ID, l.Number}
	}
	return v.within(rs, budget)
}

// searchRooms returns the rooms of the seats as they are searched.
func (v *View) searchRooms(seats []*RoomView) []recall.Room {
	rooms := make([]recall.Room, len(seats))
	for i, s := range seats {
		rooms[i] = recall.Room{Space: s.Uplink.Space, Index: s.Room.index, Focus: v.focus(s), Foreign: s.across, Fresh: s.Uplink.Fresh}
		if s.across {
			rooms[i].Visible = s.shows
		}
	}
	return rooms
}

func (v *View) weights() recall.Weights {
	if v.Weights == nil {
		return recall.DefaultWeights()
	}
	return *v.Weights
}

// query returns the query for the words that woke the agent; without words, for the
// newest ones it was shown.
func (v *View) query(words string) recall.Query {
	if words == "" {
		words = v.newestWords()
	}
	return recall.ParseQuery(words, v.newest(), v.Asked)
}

// newest returns the time of the newest event in a room of the mind.
func (v *View) newest() time.Time {
	var at time.Time
	for i := range v.Seats {
		if last := v.Seats[i].Room.Chat.Last; last.After(at) {
			at = last
		}
	}
	return at
}

// newestWords returns the words of others that the newest turn with any shows.
func (v *View) newestWords() string {
	if text := v.wordsOf(v.Current); text != "" {
		return text
	}
	for _, c := range slices.Backward(v.Closed) {
		if text := v.wordsOf(c.Turns); text != "" {
			return text
		}
	}
	return ""
}

func (v *View) wordsOf(turns []spaces.TranscriptTurn) string {
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

// lineTokens returns the exact tokens of a line standing alone, as long as it
// is shown whole.
func (v *View) lineTokens(s *RoomView, i int) int { return v.clippedTokens(s, i, 0) }

// appendLine appends a line as it stands in the middle of a bundle.
func (v *View) appendLine(dst []byte, s *RoomView, i, limit int) []byte {
	c := newCompact(v, s)
	c.b, c.last = dst, i // no date
	c.line(i, limit)
	return c.b
}

func (v *View) focus(s *RoomView) float64 {
	if v.Active == "" || s.Uplink.Space == v.Active {
		return 1
	}
	focus := v.weights().Focus
	if s.Weight > 0 {
		focus = min(1, focus*s.Weight)
	}
	return focus
}

// recalledHead stands over recalled lines.
const recalledHead = "RECALLED (older lines, others between left out):\n"

// lineHead is what stands before the words of most lines, in bytes.
const lineHead = 48

// appendRecalled appends recalled lines, rooms in the order of the seats. It also
// returns the messages whose words they show.
func (v *View) appendRecalled(dst []byte, rs []Recalled) ([]byte, []spaces.EventID) {
	if len(rs) == 0 {
		return dst, nil
	}
	of := map[spaces.SpaceID][]int{}
	for _, r := range rs {
		of[r.Space] = append(of[r.Space], r.Line)
	}
	size := 0
	for _, s := range v.all() {
		for _, l := range of[s.Uplink.Space] {
			size += len(s.Room.Chat.Messages[l].Text) + lineHead
		}
	}
	dst = append(slices.Grow(dst, size+256), recalledHead...)
	refs := make([]spaces.EventID, 0, len(rs))
	for _, s := range v.all() {
		lines := of[s.Uplink.Space]
		if len(lines) == 0 {
			continue
		}
		slices.Sort(lines)
		lines = slices.Compact(lines)
		c := newCompact(v, s)
		c.b, c.refs, c.excerpt = v.appendRoomHead(dst, s, 0, 0), refs, true
		c.refer(lines)
		for _, l := range lines {
			c.line(l, noLimit)
		}
		dst, refs = c.b, c.refs
	}
	return dst[:len(dst)-1], refs // without the last line's end
}

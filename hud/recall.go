package hud

import (
	"cmp"
	"slices"

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
	if len(q.terms) == 0 && q.meaning == nil || budget <= 0 {
		return nil
	}
	seats := v.all()
	rooms, all := v.searched(seats)
	top := newBest(min(maxRecalled, 40+budget/5, all))
	v.rank(seats, q, top.takes, func(h searchHit) {
		if rooms[h.room].lines[h.line] == lineOpen {
			top.add(scoredLine{lineRef{h.room, h.line}, h.score})
		}
	})
	p := selector{v: v, w: v.weights(), budget: budget, rooms: rooms}
	return v.within(p.pick(top.items), budget)
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

// sortHits sorts the best first; of equals, those of the first room and line.
func sortHits(hits []searchHit) {
	slices.SortFunc(hits, func(a, b searchHit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.seat.Uplink.Space, b.seat.Uplink.Space), cmp.Compare(a.line, b.line))
	})
}

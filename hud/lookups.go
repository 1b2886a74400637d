package hud

import (
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// SpacesText lists the mind's rooms, the active one marked (BLU-42).
func SpacesText(v *View) (string, []spaces.EventID) {
	b := []byte("YOUR SPACES:\n")
	for i := range v.Seats {
		s := &v.Seats[i]
		if !s.Uplink.Live {
			continue
		}
		b = v.appendCard(b, s, membersShown)
		if s.Uplink.Space == v.Active {
			b = append(b, " [ACTIVE]"...)
		}
		b = append(b, '\n')
	}
	return strings.TrimSuffix(string(b), "\n"), nil
}

// MembersText lists everybody who is in a room.
func MembersText(v *View, id spaces.SpaceID) (string, []spaces.EventID) {
	s := v.Seat(id)
	if s == nil {
		return "There is no such space.", nil
	}
	return string(v.appendCard(nil, s, len(s.Room.members))), nil
}

// NotesText lists the agent's goals, memories, notes and bookmarks.
func NotesText(v *View) (string, []spaces.EventID) {
	var parts []string
	for _, object := range []spaces.ObjectID{spaces.GoalsObject, spaces.MemoryObject, spaces.NotesObject, spaces.ContextObject} {
		text, _, _ := ObjectText(v, string(object), "")
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n"), nil
}

// maxEntries is how many entries of an object are listed, the newest.
const maxEntries = 100

// ObjectText lists the entries of an object that hold the words of filter, all
// of them if that is empty; bookmarks are found by room and time as well. ok is
// false when there is no such object. Info, members and attachments are those of the
// active space.
func ObjectText(v *View, object, filter string) (text string, refs []spaces.EventID, ok bool) {
	self := v.Self
	if self == nil {
		self = &spaces.InnerState{}
	}
	var head string
	var lines []string
	switch spaces.ObjectID(object) {
	case spaces.InfoObject:
		return v.infoText(), nil, true
	case membersObject:
		return v.membersText(filter), nil, true
	case filesObject:
		text, refs = v.filesText(filter)
		return text, refs, true
	case spaces.GoalsObject:
		head = "GOALS"
		for _, g := range self.Goals.All {
			lines = append(lines, goalLine(g))
		}
	case spaces.MemoryObject:
		head = "MEMORIES"
		for _, m := range self.Memories.All {
			lines = append(lines, memoryLine(m))
		}
	case spaces.PlansObject:
		head = "PLANS"
		for i := range v.Plans {
			lines = append(lines, v.planLine(&v.Plans[i]))
		}
	case spaces.NotesObject:
		head = "NOTES"
		for _, n := range self.Notes.All {
			lines = append(lines, noteLine(n, noLimit))
		}
	case spaces.ContextObject:
		text, refs = v.contextText(self, filter)
		return text, refs, true
	default:
		return "", nil, false
	}
	return listed(head, lines, filter), nil, true
}

func listed(head string, lines []string, filter string) string {
	q := recall.NewQuery(filter)
	terms := q.Terms()
	if len(terms) > 0 {
		lines = slices.DeleteFunc(lines, func(l string) bool { return recall.Overlap(l, terms) == 0 })
	}
	if len(lines) == 0 {
		return head + ": none"
	}
	from := max(0, len(lines)-maxEntries)
	if from > 0 {
		head += " (newest " + itoa(maxEntries) + " of " + itoa(int64(len(lines))) + ")"
	}
	return head + ":\n" + strings.Join(lines[from:], "\n")
}

// lookTokens is the most one look shows of a room.
func (v *View) lookTokens() int { return max(500, v.Budget()/5) }

// ReadLines renders the last limit lines of a room before seq, the newest if
// that is 0, every one with its id.
func ReadLines(v *View, id spaces.SpaceID, before int64, limit int) (string, []spaces.EventID) {
	s := v.Looked(string(id))
	if s == nil {
		return "There is no such space.", nil
	}
	to := len(s.Room.Chat.Messages)
	if before > 0 {
		to = s.Room.Chat.After(before - 1)
	}
	var lines []int
	spent := 0
	for i := to - 1; i >= 0 && len(lines) < limit; i-- {
		if s.Room.Chat.Messages[i].Deleted || !s.shows(i) {
			continue
		}
		if spent += v.lineTokens(s, i) + 8; spent > v.lookTokens() && len(lines) > 0 {
			break
		}
		lines = append(lines, i)
	}
	if len(lines) == 0 {
		return "There are no earlier lines.", nil
	}
	slices.Reverse(lines)
	return v.block(s, lines)
}

// block renders lines of one room under its name, every one with its id.
func (v *View) block(s *RoomView, lines []int) (string, []spaces.EventID) {
	c := newCompact(v, s)
	of := len(s.Room.Chat.Messages)
	if s.across {
		of = 0 // how much else is said there is nobody's business here
	}
	c.b, c.all = v.appendRoomHead(nil, s, len(lines), of), true
	for _, i := range lines {
		c.line(i, v.lookTokens()*2)
	}
	return c.text(), c.refs
}

// A Query is what a search asks for.
type Query struct {
	Text  string
	Space spaces.SpaceID // only there; empty: in all rooms of the mind, and across circles
	Since time.Time      // only lines no older; zero: all
	Limit int
}

// Search renders the lines that answer the query best, in order within each
// room, every one with its id.
func Search(v *View, q Query) (string, []spaces.EventID) {
	var found []recall.Hit
	seats := slices.DeleteFunc(v.all(), func(s *RoomView) bool { return !s.Uplink.Live || q.Space != "" && s.Uplink.Space != q.Space })
	rooms, weights := v.searchRooms(seats), v.weights()
	recall.Rank(rooms, recall.NewQuery(q.Text), &weights, nil, func(h recall.Hit) {
		if !seats[h.Room].Room.Chat.Messages[h.Line].At.Before(q.Since) {
			found = append(found, h)
		}
	})
	recall.SortHits(found, rooms)
	if len(found) == 0 {
		return "Nothing was found.", nil
	}
	spent := 0
	lines := map[string][]int{}
	for n, f := range found {
		s := seats[f.Room]
		if spent += v.lineTokens(s, f.Line) + 8; n == q.Limit || spent > v.lookTokens() && n > 0 {
			break
		}
		lines[s.Short] = append(lines[s.Short], f.Line)
	}
	var parts []string
	var refs []spaces.EventID
	for _, s := range v.all() {
		if ls := lines[s.Short]; len(ls) > 0 {
			slices.Sort(ls)
			text, shows := v.block(s, ls)
			parts, refs = append(parts, text), append(refs, shows...)
		}
	}
	return strings.Join(parts, "\n\n"), refs
}

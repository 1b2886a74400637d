package hud

import (
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// SpacesText lists the mind's rooms, the active one marked.
func SpacesText(v *MindView) (string, []spaces.EventID) {
	b := []byte("YOUR SPACES:\n")
	for i := range v.Seats {
		s := &v.Seats[i]
		if !s.Uplink.Live {
			continue
		}
		b = appendCard(b, v, s, membersShown)
		if s.Uplink.Space == v.Active {
			b = append(b, " [ACTIVE]"...)
		}
		b = append(b, '\n')
	}
	return strings.TrimSuffix(string(b), "\n"), nil
}

// MembersText lists everybody who is in a room.
func MembersText(v *MindView, id spaces.SpaceID) (string, []spaces.EventID) {
	s := v.Seat(id)
	if s == nil {
		return "There is no such space.", nil
	}
	return string(appendCard(nil, v, s, len(s.Room.members))), nil
}

// NotesText lists the agent's goals, memories, notes and bookmarks.
func NotesText(v *MindView) (string, []spaces.EventID) {
	var parts []string
	for _, object := range []spaces.ObjectID{spaces.GoalsObject, spaces.MemoryObject, spaces.NotesObject, spaces.ContextObject} {
		text, _, _ := ObjectText(v, string(object), "")
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n"), nil
}

// maxEntries is how many entries of an object are listed, the newest.
const maxEntries = 100

// ObjectText lists the entries of an object that hold the words of filter, all of them
// if it is empty; bookmarks are found by room and time as well. ok is false when there
// is no such object. Info, members and attachments are those of the active space.
func ObjectText(v *MindView, object, filter string) (text string, refs []spaces.EventID, ok bool) {
	self := v.Self
	if self == nil {
		self = &spaces.InnerState{}
	}
	var head string
	var lines []string
	switch spaces.ObjectID(object) {
	case spaces.InfoObject:
		return newRoomReader(v).infoText(), nil, true
	case membersObject:
		return newRoomReader(v).membersText(filter), nil, true
	case filesObject:
		text, refs = newRoomReader(v).filesText(filter)
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
			lines = append(lines, planLine(v, &v.Plans[i]))
		}
	case spaces.NotesObject:
		head = "NOTES"
		for _, n := range self.Notes.All {
			lines = append(lines, noteLine(n, noLimit))
		}
	case spaces.ContextObject:
		text, refs = newRoomReader(v).contextText(self, filter)
		return text, refs, true
	default:
		return "", nil, false
	}
	return listEntries(head, lines, filter), nil, true
}

// listEntries returns the newest entries that hold the words of filter under a head.
func listEntries(head string, lines []string, filter string) string {
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

// A roomReader renders what one lookup shows of the rooms.
type roomReader struct {
	v      *MindView
	tokens int // at most
}

func newRoomReader(v *MindView) *roomReader { return &roomReader{v: v, tokens: max(500, v.Budget()/5)} }

// ReadLines renders the last limit lines of a room before seq, the newest if
// that is 0, every one with its id.
func ReadLines(v *MindView, id spaces.SpaceID, before int64, limit int) (string, []spaces.EventID) {
	s := v.FindRoom(string(id))
	if s == nil {
		return "There is no such space.", nil
	}
	to := len(s.Room.Chat.Messages)
	if before > 0 {
		to = s.Room.Chat.After(before - 1)
	}
	var lines []int
	r := newRoomReader(v)
	spent := 0
	for i := to - 1; i >= 0 && len(lines) < limit; i-- {
		if s.Room.Chat.Messages[i].Deleted || !s.shows(i) {
			continue
		}
		if spent += v.lineTokens(s, i) + 8; spent > r.tokens && len(lines) > 0 {
			break
		}
		lines = append(lines, i)
	}
	if len(lines) == 0 {
		return "There are no earlier lines.", nil
	}
	slices.Reverse(lines)
	return r.lines(s, lines)
}

// lines renders lines of one room under its name, each with its id.
func (r *roomReader) lines(s *RoomView, lines []int) (string, []spaces.EventID) {
	c := newCompact(r.v, s)
	of := len(s.Room.Chat.Messages)
	if s.foreign {
		of = 0 // the number of lines in a room of another circle is not shown
	}
	c.b, c.all = appendRoomHead(nil, r.v, s, len(lines), of), true
	for _, i := range lines {
		c.line(i, r.tokens*2)
	}
	return c.text(), c.refs
}

// A SearchQuery is what [SearchLines] searches for.
type SearchQuery struct {
	Text  string
	Space spaces.SpaceID // only in this room; empty: in all rooms of the mind and of other circles
	Since time.Time      // only lines from then on; zero: all
	Limit int            // lines
}

// SearchLines renders the lines that answer the query best, in order within each
// room, every one with its id.
func SearchLines(v *MindView, q SearchQuery) (string, []spaces.EventID) {
	var found []recall.SearchHit
	seats := slices.DeleteFunc(v.allRooms(), func(s *RoomView) bool { return !s.Uplink.Live || q.Space != "" && s.Uplink.Space != q.Space })
	rooms, weights := v.searchRooms(seats), v.weights()
	recall.Rank(rooms, recall.NewQuery(q.Text), &weights, nil, func(h recall.SearchHit) {
		if !seats[h.Room].Room.Chat.Messages[h.Line].At.Before(q.Since) {
			found = append(found, h)
		}
	})
	recall.SortHits(found, rooms)
	if len(found) == 0 {
		return "Nothing was found.", nil
	}
	r := newRoomReader(v)
	spent := 0
	lines := map[string][]int{}
	for n, f := range found {
		s := seats[f.Room]
		if spent += v.lineTokens(s, f.Line) + 8; n == q.Limit || spent > r.tokens && n > 0 {
			break
		}
		lines[s.Short] = append(lines[s.Short], f.Line)
	}
	var parts []string
	var refs []spaces.EventID
	for _, s := range v.allRooms() {
		if ls := lines[s.Short]; len(ls) > 0 {
			slices.Sort(ls)
			text, shows := r.lines(s, ls)
			parts, refs = append(parts, text), append(refs, shows...)
		}
	}
	return strings.Join(parts, "\n\n"), refs
}

package hud

import (
	"cmp"
	"maps"
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

// A ReadQuery says which lines [ReadLines] reads.
type ReadQuery struct {
	Space  spaces.SpaceID
	Before int64     // only lines before this seq; 0: all
	After  int64     // only lines after this seq; 0: all
	Others bool      // only messages of others than the agent
	Since  time.Time // only lines from then on; zero: all
	Until  time.Time // only lines before then; zero: all
	Limit  int       // lines
}

// ReadLines renders the last lines of a room that the query wants, every one with its id
// and clipped to 400 characters.
func ReadLines(v *MindView, q ReadQuery) (string, []spaces.EventID) {
	s := v.FindRoom(string(q.Space))
	if s == nil {
		return "There is no such space.", nil
	}
	to, limit := len(s.Room.Chat.Messages), q.Limit
	if q.Before > 0 {
		to = s.Room.Chat.After(q.Before - 1)
	}
	var lines []int
	r := newRoomReader(v)
	spent := 0
	for i := to - 1; i >= 0 && len(lines) < limit; i-- {
		m := &s.Room.Chat.Messages[i]
		if m.Seq <= q.After {
			break
		}
		if m.Deleted || !s.shows(i) || !within(m.At, q.Since, q.Until) || q.Others && (m.Notice != nil || m.Sender == v.Agent.Entity()) {
			continue
		}
		if spent += min(v.lineTokens(s, i), lookChars) + 8; spent > r.tokens && len(lines) > 0 {
			break
		}
		lines = append(lines, i)
	}
	if len(lines) == 0 {
		return "There are no such lines.", nil
	}
	slices.Reverse(lines)
	return r.lines(s, lines)
}

// lookChars is how many characters of a line a lookup shows.
const lookChars = 400

// within reports whether a time is in a span; a bound that is zero is none.
func within(t, since, until time.Time) bool {
	return !t.Before(since) && (until.IsZero() || t.Before(until))
}

// lines renders lines of one room under its name, each with its id.
func (r *roomReader) lines(s *RoomView, lines []int) (string, []spaces.EventID) {
	c := newCompact(r.v, s)
	of := len(s.Room.Chat.Messages)
	if s.foreign {
		of = 0 // the number of lines in a room of another circle is not shown
	}
	c.b, c.all = appendRoomHead(nil, r.v, s, len(lines), of), true
	limit := lookChars
	if len(lines) == 1 {
		limit = r.tokens * 2 // a line asked for alone is shown whole
	}
	for _, i := range lines {
		c.line(i, limit)
	}
	return c.text(), c.refs
}

// A SearchQuery is what [SearchLines] searches for. Without a text it is for the lines that
// matter most.
type SearchQuery struct {
	Text  string
	Kind  recall.LookBackKind // only lines of this kind; empty: all
	Who   string              // only lines of people whose names have these words; empty: of all
	Space spaces.SpaceID      // only in this room; empty: in all rooms of the mind and of other circles
	Since time.Time           // only lines from then on; zero: all
	Until time.Time           // only lines before then; zero: all
	Limit int                 // lines
	// Recalled are lines on the agent's screen beside those of the keyframe and turns.
	Recalled []RecalledLine
}

// sender returns what reports whether an entity is one that the query asks about; nil where
// the query names no person.
func (q *SearchQuery) sender(v *MindView) func(spaces.EntityID) bool {
	if q.Who == "" {
		return nil
	}
	people := PeopleCalled(v, q.Who)
	return func(id spaces.EntityID) bool { return people[id] }
}

// PeopleCalled returns those whose names in the mind's own rooms have all the words; "me" is the
// agent.
func PeopleCalled(v *MindView, name string) map[spaces.EntityID]bool {
	people := map[spaces.EntityID]bool{}
	if strings.EqualFold(name, "me") {
		people[v.me()] = true
		return people
	}
	q := recall.NewQuery(name)
	for i := range v.Seats {
		addPeople(v.Seats[i].Room, q.Terms(), people)
	}
	return people
}

// SearchLines renders the lines that answer the query best, in order within each
// room, every one with its id and clipped to 400 characters. Lines that are on the
// agent's screen are left out.
func SearchLines(v *MindView, q SearchQuery) (string, []spaces.EventID) {
	r := newRoomReader(v)
	seats := slices.DeleteFunc(v.allRooms(), func(s *RoomView) bool { return !s.Uplink.Live || q.Space != "" && s.Uplink.Space != q.Space })
	look := &recall.LookBackRequest{Sender: q.sender(v)}
	look.Rooms, look.Weights, look.Budget = v.searchRooms(seats), v.weights(), r.tokens
	look.Kind, look.From, look.To = cmp.Or(q.Kind, recall.LookOverview), q.Since, q.Until
	look.Tokens = func(room, line int) int { return min(v.lineTokens(seats[room], line), lookChars) + 8 }
	if q.Kind == recall.LookDecisions {
		look.Least = recall.LeastDecision
	}
	shown := v.onScreen(q.Recalled)
	look.Shown = func(yield func([]spaces.EventID)) { yield(slices.Collect(maps.Keys(shown))) }
	found, before := rankLines(look, q.Text, func(l recall.LineRef) bool { return shown[seats[l.Room].Room.Chat.Messages[l.Number].ID] })
	switch {
	case len(found) == 0 && before > 0:
		return "No match but what is on your screen already.", nil
	case len(found) == 0:
		return "No match.", nil
	}
	spent := 0
	lines := map[string][]int{}
	for n, f := range found {
		s := seats[f.Room]
		if spent += look.Tokens(f.Room, f.Number); n == q.Limit || spent > r.tokens && n > 0 {
			break
		}
		lines[s.Short] = append(lines[s.Short], f.Number)
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

// rankLines returns the lines that a look back wants and that answer the text best, or
// without one those that matter most, the best first. before counts those that are shown,
// which are left out; without a text only where there are no others.
func rankLines(look *recall.LookBackRequest, text string, shown func(recall.LineRef) bool) (lines []recall.LineRef, before int) {
	if text == "" {
		for i := range look.Rooms {
			look.Rooms[i].Focus = 1
		}
		if lines = recall.FindLookBack(look); len(lines) == 0 {
			look.Shown = func(func([]spaces.EventID)) {}
			before = len(recall.FindLookBack(look))
		}
		return slices.DeleteFunc(lines, func(l recall.LineRef) bool { return !look.Wants(l) }), before // without what they answer
	}
	var found []recall.SearchHit
	recall.Rank(look.Rooms, recall.NewQuery(text), &look.Weights, nil, func(h recall.SearchHit) {
		switch l := (recall.LineRef{Room: h.Room, Number: h.Line}); {
		case !look.Wants(l):
		case shown(l):
			before++
		default:
			found = append(found, h)
		}
	})
	recall.SortHits(found, look.Rooms)
	for _, h := range found {
		lines = append(lines, recall.LineRef{Room: h.Room, Number: h.Line})
	}
	return lines, before
}

package hud

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// A LookBack is what words ask for that look back at old talk, as in "what was decided in
// March?". It belongs to the view that it was made of.
type LookBack struct {
	request recall.LookBackRequest
	v       *MindView
	seats   []*RoomView // as the rooms of the request
}

// NewLookBack returns the look back that the words ask of a view. ok is false where they ask
// for something else.
func NewLookBack(v *MindView, words string) (look *LookBack, ok bool) {
	look = &LookBack{v: v}
	return look, look.parse(words)
}

// Lines returns the lines that matter most, spread over the time that is looked back at, in
// the order in which they were chosen; rendered they have at most budget tokens.
func (b *LookBack) Lines(budget int) []RecalledLine {
	r, v := b.request, b.v
	if r.Kind == recall.LookCounts || budget <= 0 {
		return nil
	}
	r.Budget, r.Weights, r.Shown = budget, v.weights(), v.eachRefs
	r.Tokens = func(room, line int) int { return v.lineTokens(b.seats[room], line) }
	found := recall.FindLookBack(&r)
	rs := make([]RecalledLine, len(found))
	for i, l := range found {
		s := b.seats[l.Room]
		rs[i] = RecalledLine{s.Uplink.Space, s.Room.Chat.Messages[l.Number].ID, l.Number}
	}
	return v.fitRecalled(rs, budget)
}

// PrepareLookBacks reads lines of the rooms of a view for looks back that may come, at most that many, and
// reports whether there are more.
func PrepareLookBacks(v *MindView, most int) (more bool) {
	for i := range v.Seats {
		if most -= v.Seats[i].Room.index.Judge(most); most == 0 {
			return true
		}
	}
	return false
}

// Spare returns how many tokens of the view's budget are left beside the keyframe, the turns
// and a tail.
func (b *LookBack) Spare(in TailInput) int {
	v := b.v
	return v.Budget() - v.Count() - v.Counter.MessageTokens(v.Tail(in).Text)
}

// parse sets what the words ask for and the rooms that are looked back at.
func (b *LookBack) parse(words string) (ok bool) {
	v, r := b.v, &b.request
	active := v.Seat(v.Active)
	if active == nil {
		return false
	}
	if r.LookBack, ok = recall.ParseLookBack(withoutMentions(words), active.local(v.newest())); !ok {
		return false
	}
	me := recall.NewQuery(string(v.Agent) + " " + active.Room.speakers.find(v.me()).label)
	ours := me.Terms()
	named, people := map[*RoomView]bool{}, map[spaces.EntityID]bool{}
	for _, term := range r.Names {
		if !slices.Contains(ours, term) && !addPeople(active.Room, []string{term}, people) && !roomsNamed(v, term, named) {
			return false
		}
	}
	if len(people) > 0 {
		r.Sender = func(id spaces.EntityID) bool { return people[id] }
	}
	r.Asker = newestRef(v)
	for _, s := range v.allRooms() {
		if len(named) > 0 && !named[s] || r.Kind == recall.LookCounts && len(named) == 0 && s != active {
			continue
		}
		b.seats = append(b.seats, s)
	}
	r.Rooms = v.searchRooms(b.seats)
	for i, s := range b.seats {
		if named[s] || active.Room.space.Direct && !s.foreign {
			r.Rooms[i].Focus = 1 // a person's own chat has little to look back at
		}
	}
	return true
}

// withoutMentions returns words without those that begin with an @: platforms write the
// names of agents and people so.
func withoutMentions(words string) string {
	if !strings.Contains(words, "@") {
		return words
	}
	fields := slices.DeleteFunc(strings.Fields(words), func(w string) bool { return strings.HasPrefix(w, "@") })
	return strings.Join(fields, " ")
}

// newestRef returns the newest message that a turn of the open cycle shows.
func newestRef(v *MindView) spaces.EventID {
	for _, t := range slices.Backward(v.Current) {
		if n := len(t.Refs); n > 0 {
			return t.Refs[n-1]
		}
	}
	return ""
}

// addPeople adds to people those of a room whose names have all the terms, and reports
// whether any has.
func addPeople(r *SharedRoom, terms []string, people map[spaces.EntityID]bool) (found bool) {
	for id := range r.speakers.people {
		q := recall.NewQuery(r.speakers.people[id].label)
		names := q.Terms()
		if len(terms) > 0 && !slices.ContainsFunc(terms, func(t string) bool { return !slices.Contains(names, t) }) {
			people[id], found = true, true
		}
	}
	return found
}

// roomsNamed adds to rooms those of the mind whose names have the term, and reports whether
// any has.
func roomsNamed(v *MindView, term string, rooms map[*RoomView]bool) (found bool) {
	for i := range v.Seats {
		s := &v.Seats[i]
		q := recall.NewQuery(v.label(s))
		if s.Short == term || slices.Contains(q.Terms(), term) {
			rooms[s], found = true, true
		}
	}
	return found
}

// maxCounted is how many people of a room a count lists.
const maxCounted = 20

// Counts tells how many lines each person wrote, where the words ask for that; it is empty
// where they do not.
//
//	LINES in s1 since 2026-03-01: Zoe (human) 214, Max (agent) 96
func (b *LookBack) Counts() string {
	r := &b.request
	if r.Kind != recall.LookCounts {
		return ""
	}
	var out []byte
	for _, s := range b.seats {
		counts := map[spaces.EntityID]int{}
		for i := range s.Room.Chat.Messages {
			m := &s.Room.Chat.Messages[i]
			if m.Notice == nil && !m.Deleted && s.shows(i) && m.Seq > s.Uplink.Fresh && within(m.At, r.From, r.To) && m.ID != r.Asker && (r.Sender == nil || r.Sender(m.Sender)) {
				counts[m.Sender]++
			}
		}
		if s.foreign || len(counts) == 0 {
			continue
		}
		out = append(append(out, "LINES in "...), s.Short...)
		out = append(appendPeriod(out, s.local(r.From), s.local(r.To)), ": "...)
		out = append(appendCounts(out, s.Room, counts, b.v.me()), '\n')
	}
	return strings.TrimSuffix(string(out), "\n")
}

// appendPeriod renders the bounds of a look back; a zero one is none.
func appendPeriod(b []byte, from, to time.Time) []byte {
	if !from.IsZero() {
		b = from.AppendFormat(append(b, " since "...), time.DateOnly)
	}
	if !to.IsZero() {
		b = to.AppendFormat(append(b, " before "...), time.DateOnly)
	}
	return b
}

// appendCounts renders who wrote how many lines, the most first.
func appendCounts(b []byte, r *SharedRoom, counts map[spaces.EntityID]int, me spaces.EntityID) []byte {
	ids := make([]spaces.EntityID, 0, len(counts))
	for id := range counts {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y spaces.EntityID) int { return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(x, y)) })
	for n, id := range ids {
		if n == maxCounted {
			return append(append(append(b, ", and "...), strconv.Itoa(len(ids)-n)...), " more"...)
		}
		if n > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(append(r.appendSpeaker(b, id, me), ' '), int64(counts[id]), 10)
	}
	return b
}

package hud

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// An index finds the lines of one room by their words. It takes lines in only
// when somebody asks, and each only once; a line whose words changed is taken
// in again, the others stay.
type index struct {
	postings map[string][]posting
	spelled  map[[2]byte][]string // the terms by how they begin, in order, see [index.alike]
	docs     []indexDoc
	byLine   []int32        // doc of a message, -1 for none
	lines    []linePosition // of each message
	sessions []conversation // conversations, in order
	linked   [][2]int32     // a line and the one it answers, beyond its neighbours
	stale    []int          // messages to take in again
	live     int
	length   int // terms of all live docs
	scratch  []byte

	scores []float32 // by message, zero between queries
	talk   []float32 // by session, zero between queries
	scored []int32   // room for the messages that have a score
	talked []int32   // and for the sessions
}

type posting struct {
	doc   int32
	times uint16
}

type indexDoc struct {
	line   int32
	length uint16 // 0 once dead
}

// A linePosition is where a message stands: its conversation, and the lines next to it
// that say something.
type linePosition struct {
	session      int32
	before, next int32 // -1 for none
}

// A conversation is one conversation: what was said without a long silence.
type conversation struct {
	first, lines int32 // its first message, and how many it has
	last         int32 // its newest line that says something; -1 for none
	length       int32 // terms
	at           time.Time
}

// A new conversation begins after a silence; after a shorter one when much was
// said already, and at last without any.
const (
	sessionGap   = 3 * time.Hour
	shortGap     = 20 * time.Minute
	sessionLines = 40  // from which a short silence is enough
	longSession  = 120 // which needs none
)

// forget takes out message i; it is taken in again at the next query.
func (x *index) forget(i int) {
	if i >= len(x.byLine) {
		return
	}
	if d := x.byLine[i]; d >= 0 {
		x.length -= int(x.docs[d].length)
		x.sessions[x.lines[i].session].length -= int32(x.docs[d].length)
		x.live--
		x.docs[d].length = 0
	}
	x.byLine[i] = -1
	x.stale = append(x.stale, i)
}

// learn takes in the messages that are new, and again those that changed.
func (x *index) learn(r *Room) {
	if x.postings == nil {
		x.postings, x.spelled = map[string][]posting{}, map[[2]byte][]string{}
	}
	for i := len(x.byLine); i < len(r.Chat.Messages); i++ {
		x.byLine = append(x.byLine, -1)
		x.scores = append(x.scores, 0)
		x.place(r, i)
		x.add(r, i)
	}
	for _, i := range x.stale {
		switch {
		case !speaks(r, i):
			x.leave(i)
		case x.byLine[i] < 0: // else it changed twice since the last query
			x.add(r, i)
		}
	}
	x.stale = x.stale[:0]
}

// place finds the conversation of message i and its neighbours.
func (x *index) place(r *Room, i int) {
	m := &r.Chat.Messages[i]
	n := len(x.sessions)
	if n == 0 || x.sessions[n-1].ends(m.At) {
		x.sessions = append(x.sessions, conversation{first: int32(i), last: -1, at: m.At})
		x.talk = append(x.talk, 0)
		n++
	}
	s := &x.sessions[n-1]
	p := linePosition{session: int32(n - 1), before: -1, next: -1}
	if m.Notice == nil { // also what was deleted since: a conversation stays what it was
		s.at = m.At
		s.lines++
	}
	if speaks(r, i) {
		if s.last >= 0 {
			p.before, x.lines[s.last].next = s.last, int32(i)
		}
		s.last = int32(i)
	}
	x.lines = append(x.lines, p)
	x.link(r, i)
}

// link notes what message i answers, once that is known: a receipt may tell it later.
// Links stand in the order of the lines that answer.
func (x *index) link(r *Room, i int) {
	m := &r.Chat.Messages[i]
	if m.ReplyTo == "" || i >= len(x.lines) || !speaks(r, i) {
		return
	}
	q := r.Chat.At(m.ReplyTo)
	k, known := slices.BinarySearchFunc(x.linked, int32(i), func(l [2]int32, line int32) int { return cmp.Compare(l[0], line) })
	if q >= 0 && q < i && !known {
		x.linked = slices.Insert(x.linked, k, [2]int32{int32(i), int32(q)})
	}
}

// leave takes message i, which is gone, from between its neighbours.
func (x *index) leave(i int) {
	p := &x.lines[i]
	if p.before >= 0 {
		x.lines[p.before].next = p.next
	}
	if p.next >= 0 {
		x.lines[p.next].before = p.before
	} else if s := &x.sessions[p.session]; s.last == int32(i) {
		s.last = p.before
	}
	p.before, p.next = -1, -1
}

// ends reports whether what is said at that time begins another conversation.
func (s *conversation) ends(at time.Time) bool {
	switch gap := at.Sub(s.at); {
	case s.lines == 0:
		return false
	case gap >= sessionGap, s.lines >= longSession:
		return true
	default:
		return s.lines >= sessionLines && gap >= shortGap
	}
}

// speaks reports whether message i says something.
func speaks(r *Room, i int) bool {
	m := &r.Chat.Messages[i]
	return !m.Deleted && m.Notice == nil
}

// add takes in message i: its words, who said it, and the names of its files.
func (x *index) add(r *Room, i int) {
	if !speaks(r, i) {
		return
	}
	m := &r.Chat.Messages[i]
	d := int32(len(x.docs))
	x.docs = append(x.docs, indexDoc{line: int32(i)})
	again := i < len(x.byLine)-1
	n := 0
	take := func(term []byte) {
		n++
		ps, known := x.postings[string(term)]
		k := len(ps)
		if again {
			k = x.behind(ps, i)
		}
		if k > 0 && ps[k-1].doc == d {
			ps[k-1].times++
			return
		}
		if !known && len(term) > 2 {
			x.spell(string(term))
		}
		x.postings[string(term)] = slices.Insert(ps, k, posting{d, 1})
	}
	x.scratch = eachTerm(r.cast.who(m.Sender).label, x.scratch, take)
	x.scratch = eachTerm(m.Text, x.scratch, take)
	for k := range m.Attachments {
		x.scratch = eachTerm(m.Attachments[k].Name, x.scratch, take)
	}
	if n == 0 {
		x.docs = x.docs[:d]
		return
	}
	n = min(n, math.MaxUint16)
	x.docs[d].length = uint16(n)
	x.byLine[i] = d
	x.live++
	x.length += n
	x.sessions[x.lines[i].session].length += int32(n)
}

// spell notes a new term among those that begin alike.
func (x *index) spell(term string) {
	key := [2]byte{term[0], term[1]}
	k, _ := slices.BinarySearch(x.spelled[key], term)
	x.spelled[key] = slices.Insert(x.spelled[key], k, term)
}

// behind returns where the postings of lines behind message i begin. Postings stand in
// the order of their lines, and terms in theirs, whenever they were taken in: scores
// are rounded as they are added up, and of two lines that differ by that alone another
// would be found (SEQ-101).
func (x *index) behind(ps []posting, i int) int {
	k, _ := slices.BinarySearchFunc(ps, int32(i), func(p posting, line int32) int {
		return cmp.Or(cmp.Compare(x.docs[p.doc].line, line), -1)
	})
	return k
}

// count returns how many lines have the term.
func (x *index) count(term string) int {
	ps := x.postings[term]
	if x.live == len(x.docs) { // as mostly
		return len(ps)
	}
	n := 0
	for _, p := range ps {
		if x.docs[p.doc].length > 0 {
			n++
		}
	}
	return n
}

// A weighed term is one to look for: how much a match counts.
type weighed struct {
	text   string
	asked  float64 // how much the query means it, 1 in full
	lines  int     // of all rooms that have it
	weight float64 // how much it is meant, times its rarity over all rooms
}

// score puts what the terms give each line into x.scores, and each conversation
// into x.talk. It returns the lines and the conversations that have any; clear must
// follow.
func (x *index) score(terms []weighed, average float64) (lines, talks []int32) {
	lines, talks = x.scored[:0], x.talked[:0]
	var met []int32
	for _, t := range terms {
		met = met[:0]
		ps := x.postings[t.text]
		lines = slices.Grow(lines, len(ps))
		for _, p := range ps {
			d := x.docs[p.doc]
			if d.length == 0 {
				continue
			}
			if x.scores[d.line] == 0 {
				lines = append(lines, d.line)
			}
			x.scores[d.line] += float32(t.weight * saturated(float64(p.times), float64(d.length)/average))
			if s := x.lines[d.line].session; len(met) == 0 || met[len(met)-1] != s {
				met = append(met, s)
			}
		}
		talks = x.scoreTalks(t, met, talks)
	}
	x.scored, x.talked = lines, talks
	return lines, talks
}

// span returns the first message of a conversation, and the first behind it.
func (x *index) span(talk int32) (from, end int) {
	end = len(x.lines)
	if int(talk)+1 < len(x.sessions) {
		end = int(x.sessions[talk+1].first)
	}
	return int(x.sessions[talk].first), end
}

// scoreTalks adds a term to the conversations that have it.
func (x *index) scoreTalks(t weighed, met, talks []int32) []int32 {
	slices.Sort(met)
	of := len(x.sessions)
	met = slices.Compact(met)
	rare := rarity(of, len(met))
	for _, s := range met {
		if x.talk[s] == 0 {
			talks = append(talks, s)
		}
		x.talk[s] += float32(rare * t.asked)
	}
	return talks
}

// clear undoes score.
func (x *index) clear(lines, talks []int32) {
	for _, i := range lines {
		x.scores[i] = 0
	}
	for _, s := range talks {
		x.talk[s] = 0
	}
}

// saturated is the part of BM25 that depends on the line: how often the term
// stands there, against how long it is.
func saturated(times, length float64) float64 {
	return times * (bm25K1 + 1) / (times + bm25K1*(1-bm25B+bm25B*length))
}

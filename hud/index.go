package hud

import (
	"math"
	"slices"
	"time"
)

// The weights of CONTEXT 1. They were not tuned to any one corpus.
const (
	bm25K1     = 1.2
	bm25B      = 0.75
	neighbour1 = 0.4  // share of a direct neighbour's score
	neighbour2 = 0.15 // share of a second neighbour's
	sessionW   = 1.5  // of the normalised score of the conversation a line stands in
)

// sessionGap is the silence after which a new conversation begins.
const sessionGap = 3 * time.Hour

// An index finds the lines of one room by their words. It takes lines in only
// when somebody asks, and each only once; a line whose words changed is taken
// in again, the others stay.
type index struct {
	postings map[string][]posting
	docs     []doc
	byLine   []int32 // doc of a message, -1 for none
	sessions []int32 // conversation of each message
	stale    []int   // messages to take in again
	live     int
	length   int // terms of all live docs
	scratch  []byte
	scores   []float32 // by message, zero between queries
}

type posting struct {
	doc   int32
	times uint16
}

type doc struct {
	line   int32
	length uint16 // 0 once dead
}

// forget takes out message i; it is taken in again at the next query.
func (x *index) forget(i int) {
	if i >= len(x.byLine) {
		return
	}
	if d := x.byLine[i]; d >= 0 {
		x.length -= int(x.docs[d].length)
		x.live--
		x.docs[d].length = 0
	}
	x.byLine[i] = -1
	x.stale = append(x.stale, i)
}

// learn takes in the messages that are new, and again those that changed.
func (x *index) learn(r *Room) {
	if x.postings == nil {
		x.postings = map[string][]posting{}
	}
	for i := len(x.byLine); i < len(r.Chat.Messages); i++ {
		x.byLine = append(x.byLine, -1)
		x.sessions = append(x.sessions, x.session(r, i))
		x.scores = append(x.scores, 0)
		x.add(r, i)
	}
	for _, i := range x.stale {
		if x.byLine[i] < 0 { // else it changed twice since the last query
			x.add(r, i)
		}
	}
	x.stale = x.stale[:0]
}

func (x *index) session(r *Room, i int) int32 {
	if i == 0 {
		return 0
	}
	s := x.sessions[i-1]
	if r.Chat.Messages[i].At.Sub(r.Chat.Messages[i-1].At) >= sessionGap {
		s++
	}
	return s
}

// add takes in message i: its words, who said it, and the names of its files.
func (x *index) add(r *Room, i int) {
	m := &r.Chat.Messages[i]
	if m.Deleted || m.Notice != nil {
		return
	}
	d := int32(len(x.docs))
	n := 0
	take := func(term []byte) {
		n++
		ps := x.postings[string(term)]
		if k := len(ps); k > 0 && ps[k-1].doc == d {
			ps[k-1].times++
			return
		}
		x.postings[string(term)] = append(ps, posting{d, 1})
	}
	x.scratch = eachTerm(r.cast.who(m.Sender).label, x.scratch, take)
	x.scratch = eachTerm(m.Text, x.scratch, take)
	for k := range m.Attachments {
		x.scratch = eachTerm(m.Attachments[k].Name, x.scratch, take)
	}
	if n == 0 {
		return
	}
	n = min(n, math.MaxUint16)
	x.docs = append(x.docs, doc{int32(i), uint16(n)})
	x.byLine[i] = d
	x.live++
	x.length += n
}

// A hit is a line with how well it answers a query.
type hit struct {
	line  int
	score float64
	near  float64 // of the line and its neighbours, without the conversation's share
}

// search scores the lines of the room against the terms: BM25, smoothed over
// neighbours and the conversation a line stands in. It calls f for each line
// that something points at, in order.
func (x *index) search(r *Room, terms []string, f func(hit)) {
	x.learn(r)
	if x.live == 0 {
		return
	}
	touched := x.bm25(terms)
	if len(touched) == 0 {
		return
	}
	x.smooth(touched, f)
	for _, i := range touched {
		x.scores[i] = 0
	}
}

// Terms that stand in more than a tenth of the lines of a large room tell
// little and cost most; they count only when there are no better ones.
const (
	largeRoom   = 2000
	commonShare = 10
)

// telling returns the terms to look for with the number of lines that have each.
func (x *index) telling(terms []string) (tell []string, lines []int) {
	least := math.MaxInt
	for _, t := range terms {
		n := 0
		for _, p := range x.postings[t] {
			if x.docs[p.doc].length > 0 {
				n++
			}
		}
		if n > 0 {
			tell, lines = append(tell, t), append(lines, n)
			least = min(least, n)
		}
	}
	if x.live < largeRoom || least > x.live/commonShare {
		return tell, lines
	}
	kept := 0
	for k, n := range lines {
		if n <= x.live/commonShare {
			tell[kept], lines[kept] = tell[k], n
			kept++
		}
	}
	return tell[:kept], lines[:kept]
}

// bm25 puts the score of each line that has one of the terms into x.scores and
// returns those lines, ascending.
func (x *index) bm25(terms []string) []int32 {
	avg := float64(x.length) / float64(x.live)
	var touched []int32
	terms, lines := x.telling(terms)
	for k, t := range terms {
		df := float64(lines[k])
		idf := math.Log(1 + (float64(x.live)-df+0.5)/(df+0.5))
		touched = slices.Grow(touched, lines[k])
		for _, p := range x.postings[t] {
			d := x.docs[p.doc]
			if d.length == 0 {
				continue
			}
			tf := float64(p.times)
			s := idf * tf * (bm25K1 + 1) / (tf + bm25K1*(1-bm25B+bm25B*float64(d.length)/avg))
			if x.scores[d.line] == 0 {
				touched = append(touched, d.line)
			}
			x.scores[d.line] += float32(s)
		}
	}
	if len(terms) > 1 || !slices.IsSorted(touched) {
		slices.Sort(touched)
	}
	return touched
}

// smooth spreads the scores of the touched lines to their neighbours within
// the conversation, and adds what the whole conversation is worth.
func (x *index) smooth(touched []int32, f func(hit)) {
	worth := map[int32]float64{}
	best, sum, of := 0.0, 0.0, int32(-1)
	for _, i := range touched {
		if s := x.sessions[i]; s != of {
			sum, of = 0, s
		}
		sum += float64(x.scores[i])
		best = max(best, sum)
		worth[of] = sum
	}
	last, share := -1, 0.0
	of = -1
	for _, t := range touched {
		for i := max(last+1, int(t)-2); i <= min(int(t)+2, len(x.byLine)-1); i++ {
			last = i
			if x.byLine[i] < 0 {
				continue
			}
			if s := x.sessions[i]; s != of {
				share, of = sessionW*worth[s]/best, s
			}
			if near := x.around(i); near > 0 {
				f(hit{i, near + share, near})
			}
		}
	}
}

// around returns the own score of line i with its neighbours' shares.
func (x *index) around(i int) float64 {
	s := float64(x.scores[i])
	own := x.sessions[i]
	for by, w := range [...]float64{neighbour2, neighbour1, 0, neighbour1, neighbour2} {
		if k := i + by - 2; w > 0 && k >= 0 && k < len(x.scores) && x.scores[k] > 0 && x.sessions[k] == own {
			s += w * float64(x.scores[k])
		}
	}
	return s
}

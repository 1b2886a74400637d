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
		x.add(r, i)
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
// neighbours and the conversation a line stands in. Hits come in line order;
// lines that nothing points at are left out.
func (x *index) search(r *Room, terms []string) []hit {
	x.learn(r)
	if x.live == 0 || len(terms) == 0 {
		return nil
	}
	touched := x.bm25(terms)
	if len(touched) == 0 {
		return nil
	}
	hits := x.smooth(touched)
	for _, i := range touched {
		x.scores[i] = 0
	}
	return hits
}

// bm25 puts the score of each line that has one of the terms into x.scores and
// returns those lines, ascending.
func (x *index) bm25(terms []string) []int {
	avg := float64(x.length) / float64(x.live)
	var touched []int
	for _, t := range terms {
		ps := x.postings[t]
		if len(ps) == 0 {
			continue
		}
		df := 0.0
		for _, p := range ps {
			if x.docs[p.doc].length > 0 {
				df++
			}
		}
		idf := math.Log(1 + (float64(x.live)-df+0.5)/(df+0.5))
		for _, p := range ps {
			d := x.docs[p.doc]
			if d.length == 0 {
				continue
			}
			tf := float64(p.times)
			s := idf * tf * (bm25K1 + 1) / (tf + bm25K1*(1-bm25B+bm25B*float64(d.length)/avg))
			if x.scores[d.line] == 0 {
				touched = append(touched, int(d.line))
			}
			x.scores[d.line] += float32(s)
		}
	}
	slices.Sort(touched)
	return touched
}

// smooth spreads the scores of the touched lines to their neighbours within
// the conversation, and adds what the whole conversation is worth.
func (x *index) smooth(touched []int) []hit {
	worth := map[int32]float64{}
	best := 0.0
	for _, i := range touched {
		s := x.sessions[i]
		worth[s] += float64(x.scores[i])
		best = max(best, worth[s])
	}
	var hits []hit
	last := -1
	for _, t := range touched {
		for i := max(last+1, t-2); i <= min(t+2, len(x.byLine)-1); i++ {
			last = i
			if x.byLine[i] < 0 {
				continue
			}
			if s := x.around(i); s > 0 {
				hits = append(hits, hit{i, s + sessionW*worth[x.sessions[i]]/best, s})
			}
		}
	}
	return hits
}

// around returns the own score of line i with its neighbours' shares.
func (x *index) around(i int) float64 {
	s := float64(x.scores[i])
	for _, n := range [...]struct {
		by int
		w  float64
	}{{-2, neighbour2}, {-1, neighbour1}, {1, neighbour1}, {2, neighbour2}} {
		if k := i + n.by; k >= 0 && k < len(x.scores) && x.sessions[k] == x.sessions[i] {
			s += n.w * float64(x.scores[k])
		}
	}
	return s
}

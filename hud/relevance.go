package hud

import (
	"cmp"
	"math"
	"slices"
)

// The constants of BM25, as everywhere.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// A searchHit is a line with how well it answers a query.
type searchHit struct {
	seat  *RoomView
	room  int // the seat among those that were ranked
	line  int
	score float64
	near  float64 // of the line and its neighbours, without the conversation's share
}

// rank scores the lines of the seats' rooms against the query: BM25 over all of
// them together, smoothed over neighbours, answers, and the conversation a line
// stands in, and where models know it, by what lines mean; weighed by focus. It
// calls f for each line that something points at, room by room, in order.
//
// With wants, those whose score nobody wants any more are left out, and other lines
// of the conversations that fit best are told of, too: what fills up a budget.
func (v *View) rank(seats []*RoomView, q searchQuery, wants func(score float64) bool, f func(searchHit)) {
	w := v.weights()
	terms, average := weigh(seats, q, &w)
	if len(terms) == 0 && q.meaning == nil {
		return
	}
	found := make([]scoredRoom, len(seats))
	best, largest := 0.0, 0
	for i, s := range seats {
		r := &found[i]
		r.seat, r.room, r.index, r.focus, r.w, r.when = s, i, &s.Room.index, v.focus(s), &w, q.when
		r.lines, r.talks = r.index.score(terms, average)
		for _, t := range r.talks {
			best = max(best, r.focus*float64(r.index.talk[t]))
		}
		largest = max(largest, len(r.index.lines))
	}
	resemble(found, q.meaning, w.Meaning)
	if best == 0 {
		best = 1 // no conversation has a score
	}
	shares := make([]float32, largest)
	for i := range found {
		r := &found[i]
		r.near = shares[:len(r.index.lines)]
		r.spread()
		r.pointed(best, wants, f)
		if wants != nil {
			r.rest(best, wants, f)
		}
		clear(r.near)
		r.index.clear(r.lines, r.talks)
	}
}

// Terms that stand in more than a tenth of the lines of a large mind tell little
// and cost most; they count only when there are no better ones.
const (
	largeMind   = 2000
	commonShare = 10
)

// weigh takes in what is new in the rooms and weighs the terms, and those spelled
// much like them, by how rare they are in all of them. It also returns the average
// length of a line.
func weigh(seats []*RoomView, q searchQuery, w *Weights) (terms []weighed, average float64) {
	live, length := 0, 0
	for _, s := range seats {
		s.Room.index.learn(s.Room)
		live, length = live+s.Room.index.live, length+s.Room.index.length
	}
	if live == 0 {
		return nil, 0
	}
	terms = q.widened(seats, w)
	least := math.MaxInt
	for _, t := range terms {
		least = min(least, t.lines)
	}
	if live >= largeMind && least <= live/commonShare {
		terms = slices.DeleteFunc(terms, func(t weighed) bool { return t.lines > live/commonShare })
	}
	for k := range terms {
		terms[k].weight = terms[k].asked * rarity(live, terms[k].lines)
	}
	return terms, float64(length) / float64(live)
}

// rarity is how much it tells that a line has what n of all have.
func rarity(all, n int) float64 {
	return math.Log(1 + (float64(all)-float64(n)+0.5)/(float64(n)+0.5))
}

// widened returns those terms of the query that stand in the rooms, with words there
// that are spelled alike, and with words that mean much the same.
func (q *searchQuery) widened(seats []*RoomView, w *Weights) []weighed {
	terms := make([]weighed, 0, 4*len(q.terms))
	add := func(text string, asked float64) {
		n := 0
		for _, s := range seats {
			n += s.Room.index.count(text)
		}
		if n > 0 && asked > 0 && !slices.ContainsFunc(terms, func(t weighed) bool { return t.text == text }) {
			terms = append(terms, weighed{text: text, asked: asked, lines: n})
		}
	}
	for _, t := range q.terms {
		add(t.text, t.asked)
	}
	var found []string
	for _, t := range q.terms {
		found = found[:0]
		for _, s := range seats {
			found = s.Room.index.alike(t.text, found)
		}
		for _, text := range found {
			add(text, t.asked*w.Alike)
		}
	}
	for _, t := range q.terms {
		for _, text := range kin()[t.text] {
			add(text, t.asked*w.Kin)
		}
	}
	return terms
}

// A scoredRoom is a room whose index holds the scores of a query.
type scoredRoom struct {
	seat         *RoomView
	room         int // the seat among those that are ranked
	index        *index
	focus        float64
	w            *Weights
	when         dateRange
	lines, talks []int32   // that have a score, in no order
	near         []float32 // of each message: its score with its neighbours' shares
}

// spread gives the neighbours of lines that have a score their shares, and those
// that they answer, and their answers, where these are no neighbours.
func (r *scoredRoom) spread() {
	x := r.index
	for _, l := range r.lines {
		s := x.scores[l]
		r.near[l] += s
		if b := x.lines[l].before; b >= 0 {
			r.near[b] += float32(r.w.Neighbour) * s
			if b = x.lines[b].before; b >= 0 {
				r.near[b] += float32(r.w.Second) * s
			}
		}
		if n := x.lines[l].next; n >= 0 {
			r.near[n] += float32(r.w.Neighbour) * s
			if n = x.lines[n].next; n >= 0 {
				r.near[n] += float32(r.w.Second) * s
			}
		}
	}
	for _, l := range x.linked {
		if x.lines[l[0]].before != l[1] {
			r.near[l[0]] += float32(r.w.Answer) * x.scores[l[1]]
			r.near[l[1]] += float32(r.w.Answer) * x.scores[l[0]]
		}
	}
}

// pointed calls f for every line that something points at.
func (r *scoredRoom) pointed(best float64, wants func(float64) bool, f func(searchHit)) {
	if len(r.lines) == 0 {
		return
	}
	x, dated := r.index, r.when != dateRange{}
	for i, share := range r.near {
		if share <= 0 || x.byLine[i] < 0 {
			continue
		}
		near := r.focus * float64(share)
		if dated && r.when.near(r.seat.Room.Chat.Messages[i].At) {
			near *= 1 + r.w.Date
		}
		score := near + r.w.Session*r.focus*float64(x.talk[x.lines[i].session])/best
		if (wants == nil || wants(score)) && r.seat.shows(i) {
			f(searchHit{r.seat, r.room, i, score, near})
		}
	}
}

// What may fill up what is left of a budget: of how many conversations, and how
// far from a line that has a score.
const (
	restTalks = 24
	restReach = 40
)

// rest calls f for other lines of the conversations that fit the query best, as
// far as they stand around lines that have a score.
func (r *scoredRoom) rest(best float64, wants func(float64) bool, f func(searchHit)) {
	x := r.index
	slices.SortFunc(r.talks, func(a, b int32) int { return cmp.Or(cmp.Compare(x.talk[b], x.talk[a]), cmp.Compare(a, b)) })
	for _, t := range r.talks[:min(len(r.talks), restTalks)] {
		score := r.w.Session * r.focus * float64(x.talk[t]) / best
		if !wants(score) {
			return // nor those of lesser conversations
		}
		from, end := x.span(t)
		for l, next := from, from; l < end; l++ {
			if x.scores[l] == 0 {
				continue
			}
			for i := max(next, l-restReach); i < min(l+restReach+1, end); i++ {
				if next = i + 1; x.byLine[i] >= 0 && r.near[i] == 0 && r.seat.shows(i) {
					f(searchHit{r.seat, r.room, i, score, 0})
				}
			}
		}
	}
}

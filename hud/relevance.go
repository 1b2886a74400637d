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

// A hit is a line with how well it answers a query.
type hit struct {
	seat  *Seat
	line  int
	score float64
	near  float64 // of the line and its neighbours, without the conversation's share
}

// rank scores the lines of the seats' rooms against the query: BM25 over all of
// them together, smoothed over neighbours, answers, and the conversation a line
// stands in, and where models know it, by what lines mean; weighed by focus. It calls f for each line that something points at,
// room by room, in order.
func (v *View) rank(seats []*Seat, q query, f func(hit)) {
	w := v.weights()
	terms, average := weigh(seats, q, &w)
	if len(terms) == 0 && q.meaning == nil {
		return
	}
	found := make([]scoredRoom, len(seats))
	best := 0.0
	for i, s := range seats {
		r := &found[i]
		r.seat, r.focus, r.w, r.when = s, v.focus(s), &w, q.when
		r.lines, r.talks = s.Room.index.score(terms, average)
		for _, t := range r.talks {
			best = max(best, r.focus*float64(s.Room.index.talk[t]))
		}
	}
	resemble(found, q.meaning, w.Meaning)
	if best == 0 {
		best = 1 // no conversation has a score
	}
	for i := range found {
		s := found[i].seat
		found[i].spread(best, func(h hit) {
			if s.shows(h.line) {
				f(h)
			}
		})
		found[i].seat.Room.index.clear(found[i].lines, found[i].talks)
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
func weigh(seats []*Seat, q query, w *Weights) (terms []weighed, average float64) {
	live, length := 0, 0
	for _, s := range seats {
		s.Room.index.learn(s.Room)
		live, length = live+s.Room.index.live, length+s.Room.index.length
	}
	if live == 0 {
		return nil, 0
	}
	counts := make([]int, 0, len(q.terms))
	least := math.MaxInt
	for _, t := range q.widened(seats, w) {
		n := 0
		for _, s := range seats {
			n += s.Room.index.count(t.text)
		}
		if n > 0 {
			terms, counts = append(terms, t), append(counts, n)
			least = min(least, n)
		}
	}
	kept := 0
	for k, n := range counts {
		if live >= largeMind && least <= live/commonShare && n > live/commonShare {
			continue
		}
		terms[kept] = terms[k]
		terms[kept].weight = terms[k].asked * rarity(live, n)
		kept++
	}
	return terms[:kept], float64(length) / float64(live)
}

// rarity is how much it tells that a line has what n of all have.
func rarity(all, n int) float64 {
	return math.Log(1 + (float64(all)-float64(n)+0.5)/(float64(n)+0.5))
}

// widened returns the terms of the query with words of the rooms that are spelled
// alike, and with words that mean much the same.
func (q *query) widened(seats []*Seat, w *Weights) []weighed {
	terms := slices.Clone(q.terms)
	more := func(words []string, asked float64) {
		for _, text := range words {
			if asked > 0 && !slices.ContainsFunc(terms, func(t weighed) bool { return t.text == text }) {
				terms = append(terms, weighed{text: text, asked: asked})
			}
		}
	}
	for _, t := range q.terms {
		var found []string
		for _, s := range seats {
			found = s.Room.index.alike(t.text, found)
		}
		more(found, t.asked*w.Alike)
	}
	for _, t := range q.terms {
		more(kin()[t.text], t.asked*w.Kin)
	}
	return terms
}

// A scoredRoom is a room whose index holds the scores of a query.
type scoredRoom struct {
	seat         *Seat
	focus        float64
	w            *Weights
	when         stretch
	lines, talks []int32
}

// spread calls f for every line that has a score or lies beside one that has.
func (r *scoredRoom) spread(best float64, f func(hit)) {
	x := &r.seat.Room.index
	extra := r.answers()
	touched := r.lines
	if len(extra) > 0 {
		touched = slices.Clone(touched)
		for i := range extra {
			touched = append(touched, i)
		}
		slices.Sort(touched)
	}
	last := -1
	for _, t := range touched {
		for i := max(last+1, int(t)-2); i <= min(int(t)+2, len(x.byLine)-1); i++ {
			last = i
			if x.byLine[i] < 0 {
				continue
			}
			near := r.focus * (x.around(i, r.w) + extra[int32(i)])
			if near <= 0 {
				continue
			}
			if r.when.near(r.seat.Room.Chat.Messages[i].At) {
				near *= 1 + r.w.Date
			}
			talk := r.focus * float64(x.talk[x.lines[i].session])
			f(hit{r.seat, i, near + r.w.Session*talk/best, near})
		}
	}
	r.rest(best, f)
}

// What may fill up what is left of a budget: of how many conversations, and how
// far from a line that has a score.
const (
	restTalks = 24
	restReach = 40
)

// rest calls f for other lines of the conversations that fit the query best, as
// far as they stand around lines that have a score.
func (r *scoredRoom) rest(best float64, f func(hit)) {
	x := &r.seat.Room.index
	talks := slices.Clone(r.talks)
	slices.SortStableFunc(talks, func(a, b int32) int { return cmp.Compare(x.talk[b], x.talk[a]) })
	for _, t := range talks[:min(len(talks), restTalks)] {
		score := r.w.Session * r.focus * float64(x.talk[t]) / best
		from, _ := slices.BinarySearch(r.lines, x.sessions[t].first)
		next := x.sessions[t].first
		for _, l := range r.lines[from:] {
			if x.lines[l].session != t {
				break
			}
			for i := max(next, l-restReach); i <= l+restReach && i < int32(len(x.lines)) && x.lines[i].session == t; i++ {
				if next = i + 1; x.byLine[i] >= 0 && x.around(int(i), r.w) == 0 {
					f(hit{r.seat, int(i), score, 0})
				}
			}
		}
	}
}

// answers returns what lines get from those they answer, and from their answers,
// where these are no neighbours.
func (r *scoredRoom) answers() map[int32]float64 {
	x := &r.seat.Room.index
	var extra map[int32]float64
	for _, l := range x.linked {
		a, b := float64(x.scores[l[0]]), float64(x.scores[l[1]])
		if a == 0 && b == 0 || x.lines[l[0]].before == l[1] {
			continue
		}
		if extra == nil {
			extra = map[int32]float64{}
		}
		extra[l[0]] += r.w.Answer * b
		extra[l[1]] += r.w.Answer * a
	}
	return extra
}

// around returns the own score of line i with its neighbours' shares.
func (x *index) around(i int, w *Weights) float64 {
	s := float64(x.scores[i])
	p := x.lines[i]
	if b := p.before; b >= 0 {
		s += w.Neighbour * float64(x.scores[b])
		if b = x.lines[b].before; b >= 0 {
			s += w.Second * float64(x.scores[b])
		}
	}
	if n := p.next; n >= 0 {
		s += w.Neighbour * float64(x.scores[n])
		if n = x.lines[n].next; n >= 0 {
			s += w.Second * float64(x.scores[n])
		}
	}
	return s
}

package hud

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"strings"
)

// maxRecalled is how many lines are looked at closely.
const maxRecalled = 1200

// best holds the hits with the highest scores: a heap whose root is the worst of
// them.
type best struct {
	most int
	hits []hit
}

// takes reports whether a hit with that score would be held. Of equals the first
// stays.
func (b *best) takes(score float64) bool { return len(b.hits) < b.most || score > b.hits[0].score }

func (b *best) add(h hit) {
	if len(b.hits) < b.most {
		b.hits = append(b.hits, h)
		for i := len(b.hits) - 1; i > 0 && b.hits[i].score < b.hits[(i-1)/2].score; i = (i - 1) / 2 {
			b.hits[i], b.hits[(i-1)/2] = b.hits[(i-1)/2], b.hits[i]
		}
		return
	}
	b.hits[0] = h
	for i := 0; ; {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(b.hits); k++ {
			if b.hits[k].score < b.hits[least].score {
				least = k
			}
		}
		if least == i {
			return
		}
		b.hits[i], b.hits[least] = b.hits[least], b.hits[i]
		i = least
	}
}

// What choosing expects the lines between to take.
const (
	talkHead  = 5 // tokens of the day over a conversation
	leaveHead = 1 // of the name that is told again after a gap
)

// A lineOf names a line, or a conversation, of a room.
type lineOf struct {
	seat *Seat
	n    int
}

// A picker chooses lines by worth for their length, so that no conversation
// crowds out the others.
type picker struct {
	v        *View
	w        Weights
	budget   int
	inPrefix func(lineOf) bool
	taken    map[lineOf]bool
	talks    map[lineOf]*rivals
	chosen   []Recalled
	spent    int
	queue    []*rivals
}

// Rivals are the hits of one conversation, the worthiest first. What is chosen of a
// conversation makes all the others of it worth less alike.
type rivals struct {
	offers []offer
	lines  int     // that are chosen
	worth  float64 // of the first offer, when somebody last looked
}

// An offer is a hit by what it is weighed by.
type offer struct {
	score  float64
	length float64 // what its words divide its score by
	place  int     // among the hits, also to settle ties
}

// Len, Less, Swap, Push and Pop make the picker's queue a heap.
func (p *picker) Len() int { return len(p.queue) }

// Less puts the worthiest first.
func (p *picker) Less(i, j int) bool {
	if p.queue[i].worth != p.queue[j].worth {
		return p.queue[i].worth > p.queue[j].worth
	}
	return p.queue[i].offers[0].place < p.queue[j].offers[0].place
}

// Swap swaps two conversations.
func (p *picker) Swap(i, j int) { p.queue[i], p.queue[j] = p.queue[j], p.queue[i] }

// Push is not used: the queue only shrinks.
func (p *picker) Push(any) { panic("hud: a conversation is pushed") }

// Pop takes the last conversation off the queue.
func (p *picker) Pop() any {
	last := p.queue[len(p.queue)-1]
	p.queue = p.queue[:len(p.queue)-1]
	return last
}

// pick returns the lines in the order they were chosen, rather too many than too
// few: their tokens are estimated.
func (p *picker) pick(hits []hit) []Recalled {
	sortHits(hits)
	for i, h := range hits {
		words := max(8, float64(len(h.seat.Room.Chat.Messages[h.line].Text))/4)
		t := p.talk(h.seat, h.line)
		if len(t.offers) == 0 {
			p.queue = append(p.queue, t)
		}
		t.offers = append(t.offers, offer{score: h.score, length: math.Pow(words, p.w.Thrift), place: i})
	}
	for _, t := range p.queue {
		slices.SortFunc(t.offers, func(a, b offer) int {
			return cmp.Or(cmp.Compare(b.score/b.length, a.score/a.length), cmp.Compare(a.place, b.place))
		})
		t.worth = p.worth(t)
	}
	heap.Init(p)
	for len(p.queue) > 0 && p.spent < p.budget*4/3+60 {
		top := p.queue[0]
		if now := p.worth(top); now < top.worth {
			top.worth = now
			heap.Fix(p, 0)
			continue
		}
		p.take(hits[top.offers[0].place])
		if top.offers = top.offers[1:]; len(top.offers) == 0 {
			heap.Pop(p)
			continue
		}
		top.worth = p.worth(top)
		heap.Fix(p, 0)
	}
	return p.chosen
}

// talk returns the conversation that a line stands in.
func (p *picker) talk(s *Seat, line int) *rivals {
	of := lineOf{s, int(s.Room.index.lines[line].session)}
	if p.talks[of] == nil {
		p.talks[of] = &rivals{}
	}
	return p.talks[of]
}

// worth is what the first offer of a conversation is worth now.
func (p *picker) worth(t *rivals) float64 {
	first := &t.offers[0]
	return first.score / (1 + p.w.Crowding*float64(t.lines)) / first.length
}

// take chooses a line, after the question that it answers and what that answers.
func (p *picker) take(h hit) {
	chain := []int{h.line}
	for q := h.seat.Room.asked(h.line); q >= 0; q = h.seat.Room.asked(q) {
		if m := &h.seat.Room.Chat.Messages[q]; m.Seq <= h.seat.Uplink.Fresh || p.inPrefix(lineOf{h.seat, q}) || !h.seat.shows(q) {
			break
		}
		chain = append(chain, q)
	}
	for _, line := range slices.Backward(chain) {
		if l := (lineOf{h.seat, line}); !p.taken[l] {
			p.choose(l)
		}
	}
}

func (p *picker) choose(l lineOf) {
	m := &l.seat.Room.Chat.Messages[l.n]
	p.taken[l] = true
	p.chosen = append(p.chosen, Recalled{l.seat.Uplink.Space, m.ID, l.n})
	t := p.talk(l.seat, l.n)
	if t.lines++; t.lines == 1 {
		p.spent += talkHead
	} else if !p.taken[lineOf{l.seat, l.n - 1}] {
		p.spent += leaveHead
	}
	p.spent += p.v.lineTokens(l.seat, l.n)
}

// asked returns the question that line i answers: what it replies to, or the line
// before it when that one asks; -1 for none.
func (r *Room) asked(i int) int {
	ms := r.Chat.Messages
	if ms[i].ReplyTo != "" {
		if q := r.Chat.At(ms[i].ReplyTo); q >= 0 && q < i && speaks(r, q) {
			return q
		}
		return -1
	}
	q := int(r.index.lines[i].before)
	if q >= 0 && ms[q].Sender != ms[i].Sender && speaks(r, q) && strings.HasSuffix(ms[q].Text, "?") {
		return q
	}
	return -1
}

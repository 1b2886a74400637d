package hud

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// maxRecalled is how many lines are looked at closely.
const maxRecalled = 1200

// A scoredLine is a line that may be chosen, by its score.
type scoredLine struct {
	lineRef
	score float64
}

// topK holds the lines with the highest scores, the worst of them at the top.
type topK struct {
	priorityQueue[scoredLine]
	most int
}

func newBest(most int) *topK {
	return &topK{priorityQueue[scoredLine]{make([]scoredLine, 0, most), func(a, b *scoredLine) bool { return a.score < b.score }}, most}
}

// takes reports whether a line with that score would be held. Of equals the first
// stays.
func (b *topK) takes(score float64) bool { return len(b.items) < b.most || score > b.items[0].score }

func (b *topK) add(c scoredLine) {
	if len(b.items) < b.most {
		b.push(c)
		return
	}
	b.items[0] = c
	b.settle(0)
}

// What choosing expects the lines between to take.
const (
	talkHead  = 5 // tokens of the day over a conversation
	leaveHead = 1 // of the name that is told again after a gap
)

// A selector chooses lines by worth for their length, so that no conversation
// crowds out the others.
type selector struct {
	v      *View
	w      Weights
	budget int
	rooms  []searchRoom
	chosen []Recalled
	spent  int
	chain  []int
}

// Rivals are the hits of one conversation, the worthiest at the top. What is chosen
// of a conversation makes all the others of it worth less alike.
type conversationHits struct {
	priorityQueue[weightedHit]
	room    int
	offered int     // how many there were
	lines   int     // that are chosen
	worth   float64 // of the first offer, when somebody last looked
}

// A weightedHit is a hit by what it is weighed by.
type weightedHit struct {
	score  float64
	length float64 // what its words divide its score by
	rate   float64 // the quotient
	line   int
}

// worthier reports whether a of two offers of one conversation is worth more.
func worthier(a, b *weightedHit) bool {
	switch {
	case a.rate != b.rate:
		return a.rate > b.rate
	case a.score != b.score:
		return a.score > b.score
	}
	return a.line < b.line
}

// pick returns the lines in the order they were chosen, rather too many than too
// few: their tokens are estimated.
func (p *selector) pick(lines []scoredLine) []Recalled {
	queue := p.queue(lines)
	for len(queue.items) > 0 && p.spent < p.budget*4/3+60 {
		top := queue.items[0]
		if now := p.worth(top); now < top.worth {
			top.worth = now
			queue.settle(0)
			continue
		}
		p.take(lineRef{top.room, top.pop().line})
		if len(top.items) == 0 {
			queue.pop()
			continue
		}
		top.worth = p.worth(top)
		queue.settle(0)
	}
	return p.chosen
}

// queue returns the conversations of the lines, the one with the worthiest at the top;
// of equals, that of the first room and line.
func (p *selector) queue(lines []scoredLine) priorityQueue[*conversationHits] {
	queue := priorityQueue[*conversationHits]{before: func(x, y **conversationHits) bool {
		a, b := *x, *y
		if a.worth != b.worth {
			return a.worth > b.worth
		}
		i, k := &a.items[0], &b.items[0]
		return cmp.Or(cmp.Compare(k.score, i.score), cmp.Compare(p.space(a), p.space(b)), cmp.Compare(i.line, k.line)) < 0
	}}
	lengths := lengthPenalty{power: p.w.Thrift}
	for _, l := range lines {
		t := p.rooms[l.room].talk(l.lineRef)
		if t.offered++; t.offered == 1 {
			queue.items = append(queue.items, t)
		}
	}
	offers := make([]weightedHit, len(lines))
	for _, t := range queue.items {
		t.priorityQueue, offers = priorityQueue[weightedHit]{offers[:0:t.offered], worthier}, offers[t.offered:]
	}
	for _, l := range lines {
		r := &p.rooms[l.room]
		t, length := r.talk(l.lineRef), lengths.of(len(r.seat.Room.Chat.Messages[l.line].Text))
		t.items = append(t.items, weightedHit{l.score, length, l.score / length, l.line})
	}
	for _, t := range queue.items {
		t.init()
		t.worth = p.worth(t)
	}
	queue.init()
	return queue
}

func (p *selector) space(t *conversationHits) spaces.SpaceID {
	return p.rooms[t.room].seat.Uplink.Space
}

// A lengthPenalty says how much the length of a line counts against it. It works out once
// what lines of the same length have in common.
type lengthPenalty struct {
	power float64
	known [512]float64 // by bytes
}

func (t *lengthPenalty) of(bytes int) float64 {
	if bytes < len(t.known) && t.known[bytes] > 0 {
		return t.known[bytes]
	}
	length := math.Pow(max(8, float64(bytes)/4), t.power)
	if bytes < len(t.known) {
		t.known[bytes] = length
	}
	return length
}

// worth is what the first offer of a conversation is worth now.
func (p *selector) worth(t *conversationHits) float64 {
	first := &t.items[0]
	return first.score / (1 + p.w.Crowding*float64(t.lines)) / first.length
}

// take chooses a line, after the question that it answers and what that answers.
func (p *selector) take(l lineRef) {
	r := &p.rooms[l.room]
	p.chain = append(p.chain[:0], l.line)
	for q := r.seat.Room.asked(l.line); q >= 0; q = r.seat.Room.asked(q) {
		if r.lines[q] == lineShown || !r.seat.shows(q) {
			break
		}
		p.chain = append(p.chain, q)
	}
	for _, line := range slices.Backward(p.chain) {
		if r.lines[line] == lineOpen {
			p.choose(lineRef{l.room, line})
		}
	}
}

func (p *selector) choose(l lineRef) {
	r := &p.rooms[l.room]
	r.lines[l.line] = lineChosen
	p.chosen = append(p.chosen, Recalled{r.seat.Uplink.Space, r.seat.Room.Chat.Messages[l.line].ID, l.line})
	t := r.talk(l)
	if t.lines++; t.lines == 1 {
		p.spent += talkHead
	} else if l.line == 0 || r.lines[l.line-1] != lineChosen {
		p.spent += leaveHead
	}
	p.spent += p.v.lineTokens(r.seat, l.line)
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

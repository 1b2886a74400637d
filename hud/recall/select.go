package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// A SearchRequest is what [Search] searches for.
type SearchRequest struct {
	Rooms   []SearchRoom
	Query   LineQuery
	Weights RankWeights
	Budget  int // tokens
	// Tokens returns how many tokens a line of a room takes.
	Tokens func(room, line int) int
	// Shown calls yield with messages that the reader sees already and that are not
	// recalled, in lists.
	Shown func(yield func([]spaces.EventID))
}

// A LineRef names a line of one of the rooms of a [Request].
type LineRef struct{ Room, Number int }

// maxCandidates is how many lines with the highest scores selection looks at.
const maxCandidates = 1200

// Estimated tokens beside the lines themselves.
const (
	dateTokens = 5 // of the date above a conversation
	gapTokens  = 1 // of the speaker's name, repeated after a gap
)

// Search returns the lines of the rooms that answer the query best, in the order in
// which they were chosen, the question that a line answers before it. They take
// somewhat more than the budget rather than less, since their tokens are estimated:
// the caller cuts them to what fits.
func Search(r *SearchRequest) []LineRef {
	rooms, all := r.searchRooms()
	top := newTopLines(min(maxCandidates, 40+r.Budget/5, all))
	Rank(r.Rooms, r.Query, &r.Weights, top.takes, func(h SearchHit) {
		if rooms[h.Room].lines[h.Line] == lineOpen {
			top.add(scoredLine{LineRef{h.Room, h.Line}, h.Score})
		}
	})
	s := selector{SearchRequest: r, rooms: rooms}
	return s.choose(top.items)
}

// A searchRoom holds the state of a room during one search.
type searchRoom struct {
	*SearchRoom
	lines         []lineState         // of each message
	conversations []*conversationHits // of each conversation; nil until asked for
}

// A lineState says whether a line may be recalled.
type lineState uint8

const (
	lineOpen   lineState = iota
	lineShown            // the reader sees it already, or it is older than Room.Fresh
	lineChosen           // it is recalled already
)

// searchRooms returns the rooms with the states of their lines, and the number of
// lines of all of them.
func (r *SearchRequest) searchRooms() (rooms []searchRoom, all int) {
	rooms = make([]searchRoom, len(r.Rooms))
	for i := range r.Rooms {
		all += len(r.Rooms[i].Index.chat.Messages)
	}
	lines := make([]lineState, all)
	for i := range r.Rooms {
		chat := r.Rooms[i].Index.chat
		n := len(chat.Messages)
		rooms[i].SearchRoom, rooms[i].lines, lines = &r.Rooms[i], lines[:n], lines[n:]
		for line := range chat.After(r.Rooms[i].Fresh) {
			rooms[i].lines[line] = lineShown
		}
	}
	room, next := 0, make([]int, len(rooms))
	r.Shown(func(ids []spaces.EventID) {
		for _, id := range ids {
			for range rooms { // most ids follow their predecessor in the same room
				chat, i := rooms[room].Index.chat, next[room]
				if i >= len(chat.Messages) || chat.Messages[i].ID != id {
					i = chat.At(id)
				}
				if i >= 0 {
					rooms[room].lines[i], next[room] = lineShown, i+1
					break
				}
				room = (room + 1) % len(rooms)
			}
		}
	})
	return rooms, all
}

// hitsOf returns the hits of the conversation that a line belongs to.
func (r *searchRoom) hitsOf(l LineRef) *conversationHits {
	if r.conversations == nil {
		r.conversations = make([]*conversationHits, len(r.Index.conversations))
	}
	c := &r.conversations[r.Index.lines[l.Number].conversation]
	if *c == nil {
		*c = &conversationHits{room: l.Room}
	}
	return *c
}

// A scoredLine is a line that may be chosen.
type scoredLine struct {
	LineRef
	score float64
}

// topLines holds the lines with the highest scores, the worst of them first.
type topLines struct {
	priorityQueue[scoredLine]
	most int
}

func newTopLines(most int) *topLines {
	return &topLines{priorityQueue[scoredLine]{make([]scoredLine, 0, most), func(a, b *scoredLine) bool { return a.score < b.score }}, most}
}

// takes reports whether a line with that score would be held. Of equal ones the
// first is kept.
func (t *topLines) takes(score float64) bool {
	return len(t.items) < t.most || score > t.items[0].score
}

func (t *topLines) add(l scoredLine) {
	if len(t.items) < t.most {
		t.push(l)
		return
	}
	t.items[0] = l
	t.siftDown(0)
}

// A selector chooses lines by score and length, and lets no conversation crowd out
// the others.
type selector struct {
	*SearchRequest
	rooms  []searchRoom
	chosen []LineRef
	spent  int // estimated tokens of the chosen lines
	chain  []int
	alone  int // a line of more terms is taken without what it answers; 0: none
}

// conversationHits are the hits of one conversation, the best first. Each line chosen
// of a conversation discounts all its other lines alike, so their order stays.
type conversationHits struct {
	priorityQueue[weightedHit]
	room   int
	count  int     // hits at the start
	chosen int     // lines chosen of it
	worth  float64 // of its first hit, when it was last computed
}

// A weightedHit is a hit with its score for its length.
type weightedHit struct {
	score   float64
	penalty float64 // by which the length divides the score
	rate    float64 // the quotient
	line    int
}

// betterHit orders the hits of one conversation.
func betterHit(a, b *weightedHit) bool {
	switch {
	case a.rate != b.rate:
		return a.rate > b.rate
	case a.score != b.score:
		return a.score > b.score
	}
	return a.line < b.line
}

// choose chooses lines until their estimated tokens exceed the budget by a third.
func (s *selector) choose(lines []scoredLine) []LineRef {
	queue := s.queueConversations(lines)
	for len(queue.items) > 0 && s.spent < s.Budget*4/3+60 {
		top := queue.items[0]
		if now := s.worth(top); now < top.worth {
			top.worth = now
			queue.siftDown(0)
			continue
		}
		s.take(LineRef{top.room, top.pop().line})
		if len(top.items) == 0 {
			queue.pop()
			continue
		}
		top.worth = s.worth(top)
		queue.siftDown(0)
	}
	return s.chosen
}

// queueConversations returns the conversations of the lines, the one with the best
// hit first; of equal ones, that of the first room and line.
func (s *selector) queueConversations(lines []scoredLine) priorityQueue[*conversationHits] {
	queue := priorityQueue[*conversationHits]{before: func(x, y **conversationHits) bool {
		a, b := *x, *y
		if a.worth != b.worth {
			return a.worth > b.worth
		}
		i, k := &a.items[0], &b.items[0]
		return cmp.Or(cmp.Compare(k.score, i.score), cmp.Compare(s.Rooms[a.room].Space, s.Rooms[b.room].Space), cmp.Compare(i.line, k.line)) < 0
	}}
	for _, l := range lines {
		c := s.rooms[l.Room].hitsOf(l.LineRef)
		if c.count++; c.count == 1 {
			queue.items = append(queue.items, c)
		}
	}
	hits := make([]weightedHit, len(lines)) // shared by all conversations
	for _, c := range queue.items {
		c.priorityQueue, hits = priorityQueue[weightedHit]{hits[:0:c.count], betterHit}, hits[c.count:]
	}
	penalties := lengthPenalty{power: s.Weights.Thrift}
	for _, l := range lines {
		r := &s.rooms[l.Room]
		c, penalty := r.hitsOf(l.LineRef), penalties.of(len(r.Index.chat.Messages[l.Number].Text))
		c.items = append(c.items, weightedHit{l.score, penalty, l.score / penalty, l.Number})
	}
	for _, c := range queue.items {
		c.init()
		c.worth = s.worth(c)
	}
	queue.init()
	return queue
}

// A lengthPenalty computes by how much the length of a line divides its score. It
// caches the penalties of short lines.
type lengthPenalty struct {
	power float64
	cache [512]float64 // by bytes
}

func (p *lengthPenalty) of(bytes int) float64 {
	if bytes < len(p.cache) && p.cache[bytes] > 0 {
		return p.cache[bytes]
	}
	penalty := math.Pow(max(8, float64(bytes)/4), p.power)
	if bytes < len(p.cache) {
		p.cache[bytes] = penalty
	}
	return penalty
}

// worth returns the discounted score of the first hit of a conversation.
func (s *selector) worth(c *conversationHits) float64 {
	first := &c.items[0]
	return first.score / (1 + s.Weights.Crowding*float64(c.chosen)) / first.penalty
}

// take adds a line, behind the question that it answers and what that answers.
func (s *selector) take(l LineRef) {
	r := &s.rooms[l.Room]
	s.chain = append(s.chain[:0], l.Number)
	for q := r.Index.Question(l.Number); q >= 0 && !s.saysAll(r, l.Number); q = r.Index.Question(q) {
		if r.lines[q] == lineShown || !r.visible(q) {
			break
		}
		s.chain = append(s.chain, q)
	}
	for _, line := range slices.Backward(s.chain) {
		if r.lines[line] == lineOpen {
			s.addLine(LineRef{l.Room, line})
		}
	}
}

// saysAll reports whether a line is understood without what it answers.
func (s *selector) saysAll(r *searchRoom, line int) bool {
	d := r.Index.docOf[line]
	return s.alone > 0 && (len(s.chain) > 1 || d >= 0 && int(r.Index.docs[d].length) > s.alone)
}

func (s *selector) addLine(l LineRef) {
	r := &s.rooms[l.Room]
	r.lines[l.Number] = lineChosen
	s.chosen = append(s.chosen, l)
	c := r.hitsOf(l)
	if c.chosen++; c.chosen == 1 {
		s.spent += dateTokens
	} else if l.Number == 0 || r.lines[l.Number-1] != lineChosen {
		s.spent += gapTokens
	}
	s.spent += s.Tokens(l.Room, l.Number)
}

// Question returns the line that line i answers: the one it replies to, or the line
// before it when that ends with a question mark and has another sender; -1 for none.
// The index must be up to date.
func (x *LineIndex) Question(i int) int {
	ms := x.chat.Messages
	if ms[i].ReplyTo != "" {
		if q := x.chat.At(ms[i].ReplyTo); q >= 0 && q < i && x.hasWords(q) {
			return q
		}
		return -1
	}
	q := int(x.lines[i].before)
	if q >= 0 && ms[q].Sender != ms[i].Sender && x.hasWords(q) && strings.HasSuffix(ms[q].Text, "?") {
		return q
	}
	return -1
}

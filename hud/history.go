package hud

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// historyClips are the lengths, in characters, to which the words of a history
// line are cut in its forms.
var historyClips = [...]int{noLimit, ownClip, 80}

// ownClip is the most characters that the history shows of a message of the agent's own:
// it wrote the rest, and can read it again by the id that stands beside it.
const ownClip = 400

// maxCandidates is how many lines of one room a compaction may choose from: the newest
// and those that match the query best, half and half.
const maxCandidates = 1600

// There are fewer candidates when fewer lines can fit: no line takes less than leastLine
// tokens.
const (
	leastCandidates = 40
	leastLine       = 4
)

// A history is the delegate of one room's chat: lines by span and conversation, chosen
// by value.
type history struct {
	b             *keyframeBuilder
	v             *MindView
	seat          *RoomView
	picked        []int // the candidate lines, in order
	elements      []Element
	total         int
	most          int                       // of them
	leave         func(spaces.EventID) bool // reports messages in turns that are kept
	now           time.Time                 // when the newest line of the mind was said
	conversations map[int32]float64         // score of the best line of each conversation
	nearest       float64                   // of all
	talk          []talkStretch             // what is summarised where lines are left out; nil before that is asked for
}

// history makes elements of the lines of the seat's room that left does not
// name. reserve is how many tokens its newest lines get before anything else.
func (b *keyframeBuilder) history(s *RoomView, q recall.LineQuery, leave func(spaces.EventID) bool, tokens, reserve int) *history {
	h := &history{b: b, v: b.v, seat: s, leave: leave, most: min(maxCandidates, max(leastCandidates, tokens/leastLine)), now: b.v.newest(), conversations: map[int32]float64{}}
	end := len(s.Room.Chat.Messages)
	if s.Uplink.Space == b.v.Active {
		_, end = s.Room.messagesIn(0, s.Uplink.Cursor) // what is newer comes as a turn
	}
	h.total = end
	best := 0.0
	var hits []recall.SearchHit // in the order of the lines
	weights := b.v.weights()
	recall.Rank(b.v.searchRooms([]*RoomView{s}), q, &weights, nil, func(x recall.SearchHit) {
		hits = append(hits, x)
		best = max(best, x.Score)
		t := s.Room.index.Conversation(x.Line)
		h.conversations[t], h.nearest = max(h.conversations[t], x.Near), max(h.nearest, x.Near)
	})
	h.picked = h.candidates(hits, end)
	h.elements = make([]Element, len(h.picked))
	spent, floor := 0, h.floor(h.picked)
	for k, i := range slices.Backward(h.picked) {
		rel := 0.0
		for len(hits) > 0 && hits[len(hits)-1].Line > i {
			hits = hits[:len(hits)-1]
		}
		if n := len(hits); n > 0 && hits[n-1].Line == i && best > 0 {
			rel = hits[n-1].Score / best
		}
		e := &h.elements[k]
		*e = h.element(k, rel, end-1-i)
		if spent += e.Forms[0].Tokens; spent <= reserve || k >= floor && spent <= tokens/2 {
			e.Value += 100 * b.v.focus(s)
			e.Why += ", newest"
		}
	}
	h.pair()
	return h
}

// floor returns from which of the lines on the newest are shown before any is
// chosen: as many as Limits.KeepRecent of the active room, or all of a short talk.
func (h *history) floor(lines []int) int {
	l := h.v.Limits.withDefaults()
	switch {
	case h.seat.Uplink.Space != h.v.Active:
		return len(lines)
	case len(lines) <= l.SummariseAbove:
		return 0
	}
	return len(lines) - l.KeepRecent
}

// shows reports whether the history may show line i.
func (h *history) shows(i int) bool {
	m := &h.seat.Room.Chat.Messages[i]
	return m.Seq > h.seat.Uplink.Fresh && !m.Deleted && m.Notice == nil && !h.leave(m.ID)
}

// candidates returns the lines to look at, ascending.
func (h *history) candidates(hits []recall.SearchHit, end int) []int {
	picked := make([]int, 0, min(end, h.most))
	for i := end - 1; i >= 0 && len(picked) < h.most/2; i-- {
		if h.shows(i) {
			picked = append(picked, i)
		}
	}
	if len(hits) > h.most/2 {
		hits = slices.Clone(hits)
		recall.SortHits(hits, h.v.searchRooms([]*RoomView{h.seat}))
		hits = hits[:h.most/2]
	}
	for _, x := range hits {
		if x.Line < end && h.shows(x.Line) {
			picked = append(picked, x.Line)
		}
	}
	slices.Sort(picked)
	return slices.Compact(picked)
}

// formNames are what the forms of a history line are called.
var formNames = [len(historyClips)]FormName{Full, Trimmed, OneLine}

// element makes an element of the kth picked line.
func (h *history) element(k int, rel float64, rank int) Element {
	v, s, i := h.v, h.seat, h.picked[k]
	m := &s.Room.Chat.Messages[i]
	tokens := h.b.lineTokens(s, i, 0)
	age := h.age(i)
	talk, share := h.conversation(i)
	value := (baseWeight*age.baseFactor()*share + relevanceWeight*rel) * recency(rank, 300) * v.focus(s) * importance(v, s.Room, i, tokens)
	e := Element{Area: "history " + s.Short, What: ShortID(m.Seq), Value: value, Why: reason(rel, rank, string(age), string(talk)), lines: h.picked[k : k+1 : k+1]}
	e.Forms = make([]Form, 0, len(historyClips))
	long := m.Sender == v.Agent.Entity() && textformat.RunesLen(m.Text, ownClip) < len(m.Text)
	for k, limit := range historyClips {
		f := Form{Name: formNames[k], Tokens: tokens, Fidelity: []float64{1, 0.7, 0.4}[k], limit: limit}
		if k == 0 && long {
			continue
		}
		if k > 0 {
			if textformat.RunesLen(m.Text, limit) == len(m.Text) {
				continue
			}
			f.Tokens = h.b.lineTokens(s, i, k)
		}
		e.Forms = append(e.Forms, f)
	}
	return e
}

// pair joins a question with its answer, and a reply with what it answers, into
// one element: they are shown together or not at all.
func (h *history) pair() {
	ms := h.seat.Room.Chat.Messages
	for k := range h.elements {
		e := &h.elements[k]
		if len(e.lines) != 1 {
			continue
		}
		i := h.picked[k]
		q := h.seat.Room.Chat.At(ms[i].ReplyTo)
		if ms[i].ReplyTo == "" && i > 0 && strings.HasSuffix(ms[i-1].Text, "?") && ms[i-1].Sender != ms[i].Sender {
			q = i - 1
		}
		if o, ok := slices.BinarySearch(h.picked, q); ok && o != k && len(h.elements[o].lines) == 1 {
			h.join(o, k)
		}
	}
	h.elements = slices.DeleteFunc(h.elements, func(e Element) bool { return len(e.lines) == 0 })
	for k := range h.elements {
		h.allow(&h.elements[k])
	}
}

// allow adds to what an element takes the stubs of what its lines answer beyond it.
func (h *history) allow(e *Element) {
	ms := h.seat.Room.Chat.Messages
	if !slices.ContainsFunc(e.lines, func(i int) bool { return ms[i].ReplyTo != "" }) {
		return
	}
	c := newCompact(h.v, h.seat)
	c.quoted = h.unseen(slices.Sorted(slices.Values(e.lines)))
	for i := range c.quoted {
		c.quote(ms[i].ID)
	}
	if len(c.b) == 0 {
		return
	}
	n := h.b.count(string(c.b))
	for f := range e.Forms {
		e.Forms[f].Tokens += n
	}
}

// join puts the lines of element from into element to. Both have all of their
// shorter forms then.
func (h *history) join(to, from int) {
	a, b := &h.elements[to], &h.elements[from]
	forms := make([]Form, 0, len(historyClips))
	for k, limit := range historyClips {
		x, y := nearest(a.Forms, limit), nearest(b.Forms, limit)
		f := Form{
			Name: formNames[k], Tokens: x.Tokens + y.Tokens,
			Fidelity: (x.Fidelity + y.Fidelity) / 2, limit: limit,
		}
		if len(forms) == 0 || forms[len(forms)-1].Tokens > f.Tokens {
			forms = append(forms, f)
		}
	}
	a.Forms, a.Value, a.lines = forms, a.Value+b.Value, append(a.lines, b.lines...)
	a.What += " " + b.What
	b.lines = nil
}

// nearest returns the richest form that shows no more than limit characters.
func nearest(fs []Form, limit int) Form {
	for _, f := range fs {
		if f.limit <= limit {
			return f
		}
	}
	return fs[len(fs)-1]
}

// Elements returns the lines, oldest first.
func (h *history) Elements() []Element { return h.elements }

// Overhead returns the tokens of the room's head and of dates and gaps.
func (h *history) Overhead() int { return 24 }

// Section renders the chosen lines in order, with what was missed between spans.
func (h *history) Section(chosen []ChosenElement) (string, []spaces.EventID) {
	lines, limits := shownLines(chosen)
	above := summariesOf(chosen)
	if len(lines)+len(above) == 0 {
		return "", nil
	}
	on := takeBuffer()
	defer on.release()
	c := newCompact(h.v, h.seat)
	c.b = appendRoomHead(append(on.bytes, "HISTORY "...), h.v, h.seat, len(lines), h.total)
	c.refs = make([]spaces.EventID, 0, len(lines))
	h.refer(c, lines)
	c.quoted = h.unseen(lines)
	gaps := h.gaps()
	for k, i := range lines {
		for len(gaps) > 0 && gaps[0].before <= i {
			if k > 0 {
				c.away(gaps[0].words)
			}
			gaps = gaps[1:]
		}
		above = c.summaries(above, i)
		c.line(i, limits[k])
	}
	c.summaries(above, h.total)
	on.bytes = c.b
	return c.text(), c.refs
}

// shownLines returns the lines of the chosen elements, in order, and how many
// characters of the words of each are shown.
func shownLines(chosen []ChosenElement) (lines, limits []int) {
	type clippedLine struct{ line, limit int }
	all := make([]clippedLine, 0, 2*len(chosen))
	for _, c := range chosen {
		if c.Form == nil {
			continue
		}
		for _, i := range c.Element.lines {
			all = append(all, clippedLine{i, c.Form.limit})
		}
	}
	slices.SortFunc(all, func(a, b clippedLine) int { return cmp.Compare(a.line, b.line) })
	lines, limits = make([]int, len(all)), make([]int, len(all))
	for k, x := range all {
		lines[k], limits[k] = x.line, x.limit
	}
	return lines, limits
}

// unseen returns what the lines answer that the agent may see but does not: it
// is neither among them nor in a turn that is kept.
func (h *history) unseen(lines []int) map[int]bool {
	unseen := map[int]bool{}
	ms := h.seat.Room.Chat.Messages
	for _, i := range lines {
		if ms[i].ReplyTo == "" {
			continue
		}
		k := h.seat.Room.Chat.At(ms[i].ReplyTo)
		if _, shown := slices.BinarySearch(lines, k); k >= 0 && !shown && h.shows(k) {
			unseen[k] = true
		}
	}
	return unseen
}

// refer gives an id to what something shown refers to, or may soon: what a shown
// reply answers, what is pinned, what addresses the agent.
func (h *history) refer(c *compactRenderer, lines []int) {
	c.refer(lines)
	r := h.seat.Room
	for _, i := range lines {
		if m := &r.Chat.Messages[i]; m.Pinned || h.v.addressed(r, m) {
			c.named[i] = true
		}
	}
}

package hud

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// The lengths, in characters, to which the words of a line are cut when a turn
// of new lines does not fit, from mild to strict.
var inboxClips = []int{noLimit, 4000, 1000, 250, 80}

// shorten renders the entries within budget tokens, counted exactly. It
// appends to head.
func (w *inboxWriter) shorten(head []byte, budget int) ([]byte, []spaces.EventID) {
	v, es := w.v, w.entries
	budget -= messageOverhead + v.Counter.Count(string(head))
	keep := make([]int, len(es))
	w.limits = keep
	spent := 0
	try := func(i, most, ceiling int) bool {
		for _, limit := range inboxClips {
			if limit > most {
				continue
			}
			n := 1 + v.Counter.Count(string(w.appendEntry(nil, &es[i], limit)))
			if spent+n <= ceiling {
				spent += n
				keep[i] = limit
				return true
			}
		}
		return false
	}
	const gapLine = 24 // tokens of a line that counts what is left out
	for i := range slices.Backward(es) {
		if es[i].trigger {
			try(i, noLimit, budget-gapLine)
		}
	}
	for i := range slices.Backward(es) {
		if keep[i] == 0 && es[i].personal && !try(i, 1000, budget*3/4) {
			break
		}
	}
	fifth := spent + (budget-spent)/5
	for i := range slices.Backward(es) { // the newest, for continuity
		if keep[i] == 0 && !try(i, 1000, fifth) {
			break
		}
	}
	for _, i := range w.byRelevance() {
		if keep[i] == 0 && !try(i, 1000, budget*3/4) {
			break
		}
	}
	for _, i := range w.telling() {
		if keep[i] == 0 && try(i, 1000, budget*7/8-gapLine) {
			spent += gapLine // others around it are left out
		}
	}
	for i := range slices.Backward(es) {
		if keep[i] == 0 && !try(i, 250, budget*7/8) {
			break
		}
	}
	return w.joinKept(head, budget+messageOverhead+v.Counter.Count(string(head)))
}

// byRelevance returns the entries that answer the words of the triggers, best first.
func (w *inboxWriter) byRelevance() []int {
	v, s, es := w.v, w.seat, w.entries
	var words strings.Builder
	at := map[spaces.EventID]int{}
	for i := range es {
		if es[i].trigger {
			words.WriteString(es[i].message.Text + "\n")
		}
		if es[i].change == nil {
			at[es[i].id] = i
		}
	}
	if words.Len() == 0 {
		return nil
	}
	var hits []recall.SearchHit
	rooms, weights := v.searchRooms([]*RoomView{s}), v.weights()
	recall.Rank(rooms, recall.NewQuery(words.String()), &weights, nil, func(h recall.SearchHit) { hits = append(hits, h) })
	recall.SortHits(hits, rooms)
	var order []int
	for _, h := range hits {
		if i, ok := at[s.Room.Chat.Messages[h.Line].ID]; ok {
			order = append(order, i)
		}
	}
	return order
}

// telling returns the entries that say most, whatever is asked, best first.
func (w *inboxWriter) telling() []int {
	at := map[int]int{}
	lines := w.messagesOf(0, len(w.entries), at)
	var order []int
	for _, t := range w.seat.Room.index.Gist(lines, mostTelling, tellingChars).Telling {
		order = append(order, at[t.Line])
	}
	return order
}

// mostTelling is how many new lines are shown for what they tell.
const mostTelling = 24

// messagesOf returns the new messages among the entries from one on to another, as lines of
// the room, and stores in at which entries they are.
func (w *inboxWriter) messagesOf(from, to int, at map[int]int) []int {
	var lines []int
	for i := from; i < to; i++ {
		if e := &w.entries[i]; e.change == nil {
			line := w.seat.Room.Chat.At(e.id)
			lines, at[line] = append(lines, line), i
		}
	}
	return lines
}

// joinKept renders the kept lines, with one line for every run left out. Should
// those make it too long, the least pressing kept lines go too.
func (w *inboxWriter) joinKept(head []byte, budget int) ([]byte, []spaces.EventID) {
	es, keep := w.entries, w.limits
	for {
		b := slices.Clone(head)
		var refs []spaces.EventID
		day := w.at
		for i := 0; i < len(es); {
			if keep[i] > 0 {
				b, day = w.appendDay(b, day, &es[i])
				b = w.appendEntry(append(b, '\n'), &es[i], keep[i])
				refs = w.appendRefs(refs, &es[i])
				i++
				continue
			}
			from := i
			for i < len(es) && keep[i] == 0 {
				i++
			}
			b = w.appendElided(append(b, '\n'), from, i)
		}
		if messageOverhead+w.v.Counter.Count(string(b)) <= budget || !w.dropOne() {
			return b, refs
		}
	}
}

// dropOne leaves out the oldest line that neither woke nor addresses the agent,
// then the oldest of the others.
func (w *inboxWriter) dropOne() bool {
	es, keep := w.entries, w.limits
	for _, pressing := range []bool{false, true} {
		for i := range es {
			if keep[i] > 0 && !es[i].trigger && es[i].personal == pressing {
				keep[i] = 0
				return true
			}
		}
	}
	for i := range es {
		if keep[i] > inboxClips[len(inboxClips)-1] {
			keep[i] = inboxClips[len(inboxClips)-1]
			return true
		}
	}
	for i := range len(es) - 1 { // the newest trigger stays
		if keep[i] > 0 {
			keep[i] = 0
			return true
		}
	}
	return false
}

// appendElided appends what the entries from one on to another, which are left out, come to:
// `… 37 more lines, #b1 to #c2, by Kai, Nova: 3 decisions, 1 link (read_messages shows them)`.
func (w *inboxWriter) appendElided(dst []byte, from, to int) []byte {
	dst = append(dst, "… "...)
	dst = strconv.AppendInt(dst, int64(to-from), 10)
	dst = append(dst, " more lines, "...)
	dst = appendShort(dst, w.entries[from].seq)
	dst = append(dst, " to "...)
	dst = appendShort(dst, w.entries[to-1].seq)
	if to-from < leastStretch {
		return append(dst, ": read_messages shows them"...)
	}
	r := w.seat.Room
	dst = appendGist(dst, r, r.index.Gist(w.messagesOf(from, to, map[int]int{}), 0, 0))
	return append(dst, " (read_messages shows them)"...)
}

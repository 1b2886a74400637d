package hud

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// softFocus weights the lines of rooms other than the active one (CONTEXT 1.4).
const softFocus = 0.35

// recallFloor is the share of the best line's score, without that of its
// conversation, below which a line is not recalled.
const recallFloor = 0.25

// maxRecalled is how many lines are looked at closely.
const maxRecalled = 400

// A Recalled is an old line that may matter now and is not in the prefix.
type Recalled struct {
	Space spaces.SpaceID
	Event spaces.EventID
	Seq   int64
	Score float64
	Line  int // its place in the room's chat
}

// Recall finds the old lines of all rooms that answer query best, at most budget
// tokens of them, best first. An empty query stands for the newest words the
// agent was shown. Lines in the keyframe or in a turn are left out.
func (v *View) Recall(query string, budget int) []Recalled {
	terms := v.terms(query)
	if len(terms) == 0 || budget <= 0 {
		return nil
	}
	inPrefix := v.inPrefix()
	top := best{most: maxRecalled}
	for i := range v.Seats {
		s := &v.Seats[i]
		focus := v.focus(s)
		s.Room.index.search(s.Room, terms, func(h hit) {
			score := h.score * focus
			if m := &s.Room.Chat.Messages[h.line]; m.Seq > s.Uplink.Fresh && top.takes(score) && !inPrefix(m.ID) {
				top.add(candidate{Recalled{s.Uplink.Space, m.ID, m.Seq, score, h.line}, h.near * focus})
			}
		})
	}
	return v.within(top.lines(), budget)
}

// best holds the candidates with the highest scores: a heap whose root is the
// worst of them.
type best struct {
	most int
	heap []candidate
}

type candidate struct {
	Recalled
	near float64
}

// takes reports whether a candidate with that score would be held. Of equals
// the first stays.
func (b *best) takes(score float64) bool { return len(b.heap) < b.most || score > b.heap[0].Score }

func (b *best) add(c candidate) {
	if len(b.heap) < b.most {
		b.heap = append(b.heap, c)
		for i := len(b.heap) - 1; i > 0 && b.heap[i].Score < b.heap[(i-1)/2].Score; i = (i - 1) / 2 {
			b.heap[i], b.heap[(i-1)/2] = b.heap[(i-1)/2], b.heap[i]
		}
		return
	}
	b.heap[0] = c
	for i := 0; ; {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(b.heap); k++ {
			if b.heap[k].Score < b.heap[least].Score {
				least = k
			}
		}
		if least == i {
			return
		}
		b.heap[i], b.heap[least] = b.heap[least], b.heap[i]
		i = least
	}
}

// lines returns the held lines that are near enough to what was asked, best first.
func (b *best) lines() []Recalled {
	near := 0.0
	for _, c := range b.heap {
		near = max(near, c.near)
	}
	var found []Recalled
	for _, c := range b.heap {
		if c.near >= recallFloor*near {
			found = append(found, c.Recalled)
		}
	}
	slices.SortFunc(found, func(x, y Recalled) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Space, y.Space), cmp.Compare(x.Seq, y.Seq))
	})
	return found
}

// within takes lines from the best on until the budget is spent.
func (v *View) within(found []Recalled, budget int) []Recalled {
	const head = 24 // the block's own lines
	bound := head
	for _, f := range found {
		bound += Bound(v.Seat(f.Space).Room.Chat.Messages[f.Line].Text) + 80
	}
	if bound <= budget {
		return found
	}
	spent := head
	kept := found[:0]
	for _, f := range found {
		n := v.lineTokens(v.Seat(f.Space), f.Line) + 6
		if spent+n > budget {
			continue
		}
		spent += n
		kept = append(kept, f)
	}
	return kept
}

// lineTokens returns the exact tokens of a line standing alone, as long as it
// is shown whole.
func (v *View) lineTokens(s *Seat, i int) int {
	if v.bounded {
		return Bound(v.oneLine(s, i, noLimit))
	}
	if n := s.Room.tokens[i]; n > 0 {
		return int(n)
	}
	n := v.Counter.Count(v.oneLine(s, i, noLimit))
	s.Room.tokens[i] = uint16(min(n, 1<<16-1))
	return n
}

// oneLine renders a line as it stands in the middle of a bundle.
func (v *View) oneLine(s *Seat, i, limit int) string {
	c := newCompact(v, s)
	c.last = i // no date
	c.line(i, limit)
	return string(c.b)
}

func (v *View) focus(s *Seat) float64 {
	if v.Active == "" || s.Uplink.Space == v.Active {
		return 1
	}
	return softFocus
}

// terms returns the distinct terms of the query, or of the newest words shown.
func (v *View) terms(query string) []string {
	if query == "" {
		query = v.newestWords()
	}
	var terms []string
	eachTerm(query, nil, func(t []byte) {
		if len(terms) < 64 && !slices.Contains(terms, string(t)) {
			terms = append(terms, string(t))
		}
	})
	return terms
}

// newestWords returns the words of others shown by the newest turn that shows any.
func (v *View) newestWords() string {
	if text := v.wordsOf(v.Current); text != "" {
		return text
	}
	for _, c := range slices.Backward(v.Closed) {
		if text := v.wordsOf(c.Turns); text != "" {
			return text
		}
	}
	return ""
}

func (v *View) wordsOf(turns []spaces.Turn) string {
	for i := len(turns) - 1; i >= 0; i-- {
		t := &turns[i]
		if t.Role != spaces.RoleUser || len(t.Refs) == 0 {
			continue
		}
		var b strings.Builder
		for _, id := range t.Refs[max(0, len(t.Refs)-3):] {
			if _, m := v.find(id); m != nil {
				b.WriteString(m.Text)
				b.WriteByte('\n')
			}
		}
		if b.Len() > 0 {
			return b.String()
		}
	}
	return ""
}

// recalledBlock renders recalled lines, rooms in the order of the seats.
func (v *View) recalledBlock(rs []Recalled) (string, []spaces.EventID) {
	if len(rs) == 0 {
		return "", nil
	}
	b := []byte("RECALLED (older lines that may matter):\n")
	var refs []spaces.EventID
	for i := range v.Seats {
		s := &v.Seats[i]
		var lines []int
		for _, r := range rs {
			if r.Space == s.Uplink.Space {
				lines = append(lines, r.Line)
			}
		}
		if len(lines) == 0 {
			continue
		}
		slices.Sort(lines)
		c := newCompact(v, s)
		c.b, c.head = v.appendRoomHead(b, s, 0, 0), true
		for _, l := range slices.Compact(lines) {
			c.line(l, noLimit)
		}
		b, refs = c.b, append(refs, c.refs...)
	}
	return strings.TrimSuffix(string(b), "\n"), refs
}

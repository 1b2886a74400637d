package hud

import (
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
)

// A SpanBundle is what a cut made of the lines of one connection span (SEQ-35,
// SEQ-38, SEQ-71): those that were missed before it are with it, since they were
// read when it opened. What is older than the spans that are shown is one bundle
// without a span.
type SpanBundle struct {
	Space  string    `json:"space"`          // short, "s1"
	Span   int64     `json:"span,omitempty"` // its id; 0 before the first one that is shown
	Start  time.Time `json:"start,omitzero"`
	End    time.Time `json:"end,omitzero"` // zero while it is open
	Active bool      `json:"active,omitempty"`
	Age    AgeBucket `json:"age"`   // of its last line
	Talks  int       `json:"talks"` // conversations in it that were looked at
	Lines  int       `json:"lines"` // it holds, those in kept turns too
	Shown  int       `json:"shown"` // lines in whatever form
	Ratio  float64   `json:"ratio"` // of its lines, by how much of each is shown

	from, to int // lines of the room
}

// An AgeBucket is how long ago something was said (SEQ-65).
type AgeBucket string

// The ages of lines. Recent ones are kept in detail; of later ones counts more and
// more what they have to do with what is asked (SEQ-50, SEQ-66).
const (
	Recent     AgeBucket = "recent"     // within a day, or hardly anything was said since
	MidTerm    AgeBucket = "mid_term"   // within a week, or not much was said since
	Historical AgeBucket = "historical" // before that
)

// Up to when, and up to how many lines ago, a line is recent or in the mid-term.
const (
	recentTime   = 24 * time.Hour
	midTermTime  = 7 * recentTime
	recentLines  = 20
	midTermLines = 200
)

// age tells how old line i is, seen from the last line before end: no clock makes
// a keyframe other than it was (CON-47).
func (h *history) age(i int) AgeBucket {
	ms := h.seat.Room.Chat.Messages
	since, lines := h.now.Sub(ms[i].At), h.total-1-i
	switch {
	case since <= recentTime || lines < recentLines:
		return Recent
	case since <= midTermTime || lines < midTermLines:
		return MidTerm
	}
	return Historical
}

// worth is what a line of that age is worth beside what it has to do with what
// is asked.
func (a AgeBucket) worth() float64 {
	switch a {
	case MidTerm:
		return 0.5
	case Historical:
		return 0.25
	case Recent:
	}
	return 1
}

// bundles divides the room's lines by the newest spans of the uplink, oldest first.
func (h *history) bundles() []SpanBundle {
	spans := h.spans()
	bs := make([]SpanBundle, 0, len(spans)+1)
	bs = append(bs, SpanBundle{Space: h.seat.Short})
	for k := len(spans) - 1; k >= 0; k-- {
		s := &spans[k]
		from := h.seat.Room.Chat.After(s.From - 1)
		if k+1 < len(spans) {
			from = min(from, h.seat.Room.Chat.After(spans[k+1].To))
		}
		from = min(from, h.total)
		bs[len(bs)-1].to = from
		bs = append(bs, SpanBundle{Space: h.seat.Short, Span: s.ID, Start: s.Opened, End: s.Closed, Active: s.Active(), from: from})
	}
	bs[len(bs)-1].to = h.total
	whole := bs[:0]
	for _, b := range bs {
		if b.to > b.from {
			b.Age, b.Lines = h.age(b.to-1), b.to-b.from
			whole = append(whole, b)
		}
	}
	return whole
}

// told tells what the chosen forms leave of each span, oldest first.
func (h *history) told(chosen []Chosen) []SpanBundle {
	bs := h.bundles()
	ms := h.seat.Room.Chat.Messages
	last := make([]int, len(bs)) // line of a bundle that was looked at, plus one
	for _, c := range chosen {
		for _, i := range c.Element.lines {
			k := slices.IndexFunc(bs, func(b SpanBundle) bool { return i >= b.from && i < b.to })
			if k < 0 {
				continue
			}
			if last[k] == 0 || ms[i].At.Sub(ms[last[k]-1].At) >= recall.ConversationGap {
				bs[k].Talks++
			}
			last[k] = max(last[k], i+1)
			if c.Form != nil {
				bs[k].Shown++
				bs[k].Ratio += shares[c.Form.Name]
			}
		}
	}
	for k := range bs {
		bs[k].Ratio = score(bs[k].Ratio / float64(bs[k].Lines))
	}
	return bs
}

package hud

import (
	"slices"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// A SpanBundle describes what a compaction left of the lines of one connection span.
// Lines missed before the span belong to it, since they were read when it opened. Lines
// older than the spans that are shown are one bundle without a span.
type SpanBundle struct {
	Space  string    `json:"space"`          // short, "s1"
	Span   int64     `json:"span,omitempty"` // its id; 0 before the first one that is shown
	Start  time.Time `json:"start,omitzero"`
	End    time.Time `json:"end,omitzero"` // zero while it is open
	Active bool      `json:"active,omitempty"`
	Age    AgeBucket `json:"age"`   // of its last line
	Talks  int       `json:"talks"` // conversations among its candidate lines
	Lines  int       `json:"lines"` // of the span, those in kept turns too
	Shown  int       `json:"shown"` // lines shown in any form
	Ratio  float64   `json:"ratio"` // of its lines, by how much of each is shown

	from, to int // lines of the room
}

// bundles divides the room's lines by the newest spans of the uplink, oldest first.
func (h *history) bundles() []SpanBundle {
	spans := h.shownSpans()
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

// spanBundles describes what the chosen forms leave of each span, oldest first.
func (h *history) spanBundles(chosen []ChosenElement) []SpanBundle {
	bs := h.bundles()
	ms := h.seat.Room.Chat.Messages
	last := make([]int, len(bs)) // line of a bundle that was looked at, plus one
	bundle := func(i int) int {
		return slices.IndexFunc(bs, func(b SpanBundle) bool { return i >= b.from && i < b.to })
	}
	for _, c := range summariesOf(chosen) {
		for _, i := range c.Form.quotes {
			bs[bundle(i)].Shown++
			bs[bundle(i)].Ratio++
		}
	}
	for _, c := range chosen {
		for _, i := range c.Element.lines {
			k := bundle(i)
			if k < 0 {
				continue
			}
			if last[k] == 0 || ms[i].At.Sub(ms[last[k]-1].At) >= recall.ConversationGap {
				bs[k].Talks++
			}
			last[k] = max(last[k], i+1)
			if c.Form != nil {
				bs[k].Shown++
				bs[k].Ratio += formShares[c.Form.Name]
			}
		}
	}
	for k := range bs {
		bs[k].Ratio = roundScore(bs[k].Ratio / float64(bs[k].Lines))
	}
	return bs
}

// A spanGap is a time between two connection spans, in which the agent was not there.
type spanGap struct {
	before int // the first line that was missed, or that comes after it
	words  string
}

// shownSpans returns the newest spans of the uplink whose lines are shown, newest first.
func (h *history) shownSpans() []spaces.ConnectionSpan {
	spans, l := h.seat.Spans, h.v.Limits.withDefaults()
	shown := l.SpansShown
	if l.ActiveSpanBeside && len(spans) > 0 && spans[0].Active() {
		shown++
	}
	return spans[:min(len(spans), shown)]
}

// gaps returns the gaps between the newest spans of the uplink, oldest first.
func (h *history) gaps() []spanGap {
	spans := h.shownSpans()
	var gs []spanGap
	for k := len(spans) - 1; k > 0; k-- {
		older, newer := spans[k], spans[k-1]
		if older.Active() || newer.Opened.Sub(older.Closed) < time.Minute {
			continue
		}
		from, to := h.seat.Room.messagesIn(older.To, newer.From-1)
		words := "… away " + duration(newer.Opened.Sub(older.Closed))
		if to > from {
			words += ", " + textformat.CountNoun(to-from, "message")
		}
		gs = append(gs, spanGap{from, words})
	}
	return gs
}

// duration returns "3 h", "25 min" or "2 d".
func duration(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return strconv.Itoa(int(d.Hours()/24)) + " d"
	case d >= time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h"
	}
	return strconv.Itoa(int(d.Minutes())) + " min"
}

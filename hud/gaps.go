package hud

import (
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A spanGap is a time between two spans, in which the agent was not there.
type spanGap struct {
	before int // the first line that was missed, or that comes after it
	words  string
}

// spans returns the newest spans of the uplink that are shown, newest first (SEQ-29).
func (h *history) spans() []spaces.ConnectionSpan {
	spans, l := h.seat.Spans, h.v.Limits.withDefaults()
	shown := l.SpansShown
	if l.ActiveSpanBeside && len(spans) > 0 && spans[0].Active() {
		shown++
	}
	return spans[:min(len(spans), shown)]
}

// gaps returns the gaps between the newest spans of the uplink, oldest first.
func (h *history) gaps() []spanGap {
	spans := h.spans()
	var gs []spanGap
	for k := len(spans) - 1; k > 0; k-- {
		older, newer := spans[k], spans[k-1]
		if older.Active() || newer.Opened.Sub(older.Closed) < time.Minute {
			continue
		}
		from, to := h.seat.Room.messagesIn(older.To, newer.From-1)
		words := "… away " + duration(newer.Opened.Sub(older.Closed))
		if to > from {
			words += ", " + timesWord(to-from, "message")
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

package hud

import "math"

// A messageCache is what is remembered of a message until it changes.
type messageCache struct {
	tokens   [len(historyClips)]uint16 // of its compact line, clipped; 0 unknown
	said     uint16                    // tokens of what stands behind its colon; 0 unknown, or too many
	decision decisionFlag
}

// A decisionFlag says whether a message decides something.
type decisionFlag int8

const (
	unread decisionFlag = iota
	decides
	decidesNothing
)

// clippedTokens returns the exact tokens of a line standing alone with its words
// clipped to the limit k of historyClips, or a bound while that is enough.
func (v *View) clippedTokens(s *RoomView, i, k int) int {
	kept := &s.Room.gauges[i].tokens[k]
	if *kept > 0 && !v.bounded {
		return int(*kept)
	}
	on := takeSlate()
	defer on.wipe()
	on.bytes = v.appendLine(on.bytes, s, i, historyClips[k])
	if v.bounded {
		return len(on.bytes)
	}
	n := v.Counter.Count(string(on.bytes))
	*kept = uint16(min(n, math.MaxUint16))
	return n
}

// saidTokens returns the exact tokens of what stands behind the colon of a line that
// is shown whole, with its end. A token never begins before the blank behind the
// colon and ends after it: those of the line are these and the ones up to the colon.
func (v *View) saidTokens(s *RoomView, i int) int {
	kept := &s.Room.gauges[i].said
	if *kept > 0 {
		return int(*kept)
	}
	on := takeSlate()
	defer on.wipe()
	on.bytes = appendSaid(on.bytes, s.Room.Chat.Messages[i].Text)
	n := v.Counter.Count(string(on.bytes))
	if n <= math.MaxUint16 {
		*kept = uint16(n)
	}
	return n
}

// mostGauged is how many lines are counted at once between cycles.
const mostGauged = 64

// gaugeNewest counts the lines of a room from the newest back to one that is
// counted.
func (v *View) gaugeNewest(s *RoomView) {
	ms := s.Room.Chat.Messages
	for i := len(ms) - 1; i >= max(0, len(ms)-mostGauged); i-- {
		if s.Room.gauges[i].tokens[0] > 0 {
			return
		}
		for k, limit := range historyClips {
			if k == 0 || clipped(ms[i].Text, limit) < len(ms[i].Text) {
				v.clippedTokens(s, i, k)
			}
		}
	}
}

// decides reports whether the words of message i decide something.
func (r *Room) decides(i int) bool {
	g := &r.gauges[i]
	if g.decision == unread {
		g.decision = decidesNothing
		if decisive(r.Chat.Messages[i].Text) > 0 {
			g.decision = decides
		}
	}
	return g.decision == decides
}

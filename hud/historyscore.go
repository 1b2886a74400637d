package hud

import (
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
)

// The weights of a history line: relevance against what every line is worth, and what
// makes a line important.
const (
	relevanceWeight = 10.0
	baseWeight      = 0.5
	mentionFactor   = 1.6
	pinFactor       = 2.0
	decisionFactor  = 1.3
	fillerTokens    = 14 // a shorter line is worth less
)

// importance returns the factor of a line for what it is, whatever the query.
func importance(v *MindView, r *SharedRoom, i, tokens int) float64 {
	m := &r.Chat.Messages[i]
	w := min(1, float64(tokens)/fillerTokens)
	if v.addressed(r, m) {
		w *= mentionFactor
	}
	if m.Pinned {
		w *= pinFactor
	}
	if r.decides(i) {
		w *= decisionFactor
	}
	return w
}

// An AgeBucket is how long ago a line was written.
type AgeBucket string

// The ages of lines. Recent ones are kept in detail; the older a line, the more its
// relevance decides.
const (
	Recent     AgeBucket = "recent"     // within a day, or few lines ago
	MidTerm    AgeBucket = "mid_term"   // within a week, or not many lines ago
	Historical AgeBucket = "historical" // before that
)

// The times and numbers of lines up to which a line is recent or in the mid-term.
const (
	recentTime   = 24 * time.Hour
	midTermTime  = 7 * recentTime
	recentLines  = 20
	midTermLines = 200
)

// age returns the age of line i, relative to the newest line of the mind: a keyframe
// does not depend on the clock.
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

// baseFactor returns the factor of a line's base value for its age.
func (a AgeBucket) baseFactor() float64 {
	switch a {
	case MidTerm:
		return 0.5
	case Historical:
		return 0.25
	case Recent:
	}
	return 1
}

// ConversationWeights are factors of a line's base value by how relevant its
// conversation is.
type ConversationWeights struct {
	Keep    float64 // in a relevant one
	Partial float64 // in a partly relevant one, except for its first and last line
	Summary float64 // in any other
}

// DefaultConversationWeights returns the factors that are used where none are given.
func DefaultConversationWeights() ConversationWeights {
	return ConversationWeights{Keep: 1, Partial: 0.4, Summary: 0.1}
}

func (l ViewLimits) conversationWeights() ConversationWeights {
	if l.Threads == nil {
		return DefaultConversationWeights()
	}
	return *l.Threads
}

// Shares of the best line's score from which on a conversation is relevant, or partly.
const (
	relevantShare = 0.6
	partialShare  = 0.2
)

// A conversationScore is how relevant a conversation is to the query.
type conversationScore string

// The relevance of conversations.
const (
	conversationKept    conversationScore = "kept"
	conversationPartial conversationScore = "partial"
	conversationOther   conversationScore = "other"
)

// conversation returns the relevance of the conversation of line i, and the factor of
// the line's base value. Without a query, or without hits, all conversations are kept.
func (h *history) conversation(i int) (conversationScore, float64) {
	x, w := h.seat.Room.index, h.v.Limits.conversationWeights()
	if len(h.conversations) == 0 {
		return conversationKept, w.Keep
	}
	switch share := h.conversations[x.Conversation(i)] / h.nearest; {
	case share >= relevantShare:
		return conversationKept, w.Keep
	case share < partialShare:
		return conversationOther, w.Summary
	case x.AtEdge(i):
		return conversationPartial, w.Keep
	}
	return conversationPartial, w.Partial
}

// decides reports whether message i tells a decision.
func (r *SharedRoom) decides(i int) bool {
	r.index.Update()
	return r.index.Decisiveness(i) >= recall.LeastDecision
}

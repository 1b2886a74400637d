package hud

// ConversationWeights are what a line is worth by the conversation it stands in, beside what it
// says itself (SEQ-67).
type ConversationWeights struct {
	Keep    float64 // in one about what is asked (SEQ-68)
	Partial float64 // in one that touches it, but for its first and its last line (SEQ-69)
	Summary float64 // in any other (SEQ-70)
}

// DefaultShares returns the shares that are used where none are given.
func DefaultShares() ConversationWeights {
	return ConversationWeights{Keep: 1, Partial: 0.4, Summary: 0.1}
}

// From which part of the best line's score on a conversation is about what is
// asked, and from which on it touches it.
const (
	talkAbout   = 0.6
	talkTouches = 0.2
)

// A conversationScore is how much a conversation has to do with what is asked.
type conversationScore string

// What conversations are to a question.
const (
	talkKept    conversationScore = "kept"
	talkPartial conversationScore = "partial"
	talkOther   conversationScore = "other"
)

func (v *View) shares() ConversationWeights {
	if v.Limits.Threads == nil {
		return DefaultShares()
	}
	return *v.Limits.Threads
}

// talk tells what the conversation of line i is to the question, and what the line
// is worth for that. Where nothing was asked, or nothing answers, all are kept.
func (h *history) talk(i int) (conversationScore, float64) {
	x, s := h.seat.Room.index, h.v.shares()
	if len(h.talks) == 0 {
		return talkKept, s.Keep
	}
	switch part := h.talks[x.Conversation(i)] / h.nearest; {
	case part >= talkAbout:
		return talkKept, s.Keep
	case part < talkTouches:
		return talkOther, s.Summary
	case x.AtEdge(i):
		return talkPartial, s.Keep
	}
	return talkPartial, s.Partial
}

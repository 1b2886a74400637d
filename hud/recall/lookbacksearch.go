package recall

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A LookBackRequest is what [FindLookBack] searches for.
type LookBackRequest struct {
	SearchRequest // without a query
	LookBack
	// Sender reports whether a look back is at the lines of that entity; nil: at all of them.
	Sender func(spaces.EntityID) bool
	// Least is how much a line at least reads like a decision, from 0 to 1.
	Least float64
	// Asker is the message that asks; it is no part of the answer.
	Asker spaces.EventID
}

// How the lines of a look back are valued, beside what their words say.
const (
	matterWeight   = 0.12 // of a line that says much, against one that is a decision
	pinnedWeight   = 0.5
	answeredWeight = 0.1  // of a line that others answered
	settledWeight  = 0.25 // of a line after which people agree
	lookBackThrift = 0.35 // exponent of the length penalty
	lookCrowding   = 0.06 // discount of a conversation's lines for each line chosen of it
)

// LeastDecision is how much a line that tells of a decision at least reads like one. In rooms
// that are not in focus an overview is at such lines alone.
const LeastDecision = 0.35

// FindLookBack returns the lines that a look back shows, in the order in which they were
// chosen, as [Search] does: those that matter most, spread over the stretch of talk, until
// the budget is full.
func FindLookBack(r *LookBackRequest) []LineRef {
	for i := range r.Rooms {
		r.Rooms[i].Index.Update()
	}
	r.anchor()
	rooms, _ := r.searchRooms()
	top := newTopLines(40 + r.Budget/leastLineTokens)
	few := r.Kind != LookOverview && r.Kind != LookDecisions // of the lines may be shown
	for room := range r.Rooms {
		chat := r.Rooms[room].Index.chat
		for i := r.firstLine(chat); i < len(chat.Messages); i++ {
			m := &chat.Messages[i]
			if !r.To.IsZero() && !m.At.Before(r.To) && r.inOrder(chat, i) {
				break
			}
			if rooms[room].lines[i] != lineOpen || few && !r.Wants(LineRef{room, i}) {
				continue
			}
			score, settled := r.value(&r.Rooms[room], i)
			if score <= 0 || !top.takes(score+settled) || !few && !r.Wants(LineRef{room, i}) {
				continue
			}
			if r.Rooms[room].Index.settled(i) {
				score += settled
			}
			if top.takes(score) {
				top.add(scoredLine{LineRef{room, i}, score})
			}
		}
	}
	slices.SortFunc(top.items, func(a, b scoredLine) int { // the order of a heap is that of its insertions
		if a.Room != b.Room {
			return a.Room - b.Room
		}
		return a.Number - b.Number
	})
	r.Weights.Crowding, r.Weights.Thrift = lookCrowding, lookBackThrift
	s := selector{SearchRequest: &r.SearchRequest, rooms: rooms, alone: 8}
	return s.choose(top.items)
}

// leastLineTokens is what few lines of talk take less than.
const leastLineTokens = 6

// anchor bounds a look back by the first talk about what it is to begin with.
func (r *LookBackRequest) anchor() {
	if r.Anchor == "" {
		return
	}
	var best SearchHit
	weights := r.Weights
	Rank(r.Rooms, NewQuery(r.Anchor), &weights, nil, func(h SearchHit) {
		if m := &r.Rooms[h.Room].Index.chat.Messages[h.Line]; h.Score > best.Score && m.ID != r.Asker {
			best = h
		}
	})
	if best.Score == 0 {
		return
	}
	x := r.Rooms[best.Room].Index
	from, _ := x.conversationBounds(x.Conversation(best.Line))
	r.From = x.chat.Messages[from].At
}

// firstLine returns the first line that may be in the stretch.
func (r *LookBackRequest) firstLine(chat *spaces.Chat) int {
	if r.From.IsZero() {
		return 0
	}
	// Lines are in the order of the log, which is nearly that of their times.
	n, _ := slices.BinarySearchFunc(chat.Messages, r.From.Add(-time.Hour), func(m spaces.ChatMessage, at time.Time) int { return m.At.Compare(at) })
	return n
}

// inOrder reports whether the lines behind line i are no older than it.
func (r *LookBackRequest) inOrder(chat *spaces.Chat, i int) bool {
	return i+1 >= len(chat.Messages) || !chat.Messages[i+1].At.Before(r.To)
}

// Wants reports whether a line may be shown: it is of the kind that is asked for, by its
// sender, and within the time. The indexes must be up to date.
func (r *LookBackRequest) Wants(l LineRef) bool {
	room, i := &r.Rooms[l.Room], l.Number
	m := &room.Index.chat.Messages[i]
	if m.ID == r.Asker || !room.Index.hasWords(i) || m.At.Before(r.From) || !r.To.IsZero() && !m.At.Before(r.To) || !room.visible(i) {
		return false
	}
	if r.Sender != nil && !r.Sender(m.Sender) || r.Least > 0 && room.Index.Decisiveness(i) < r.Least {
		return false
	}
	switch r.Kind {
	case LookLinks:
		return HasLink(m.Text)
	case LookFiles:
		return len(m.Attachments) > 0
	case LookQuestions:
		return room.Index.IsOpenQuestion(i)
	case LookOverview, LookDecisions, LookCounts:
	}
	return true
}

// value returns how much line i of a room matters to the look back, and how much more where
// it is settled.
func (r *LookBackRequest) value(room *SearchRoom, i int) (value, settled float64) {
	x := room.Index
	m := &x.chat.Messages[i]
	decides := x.Decisiveness(i)
	if room.Focus < 1 && decides < LeastDecision && r.Kind != LookLinks && r.Kind != LookFiles {
		return 0, 0
	}
	n := 0.0
	if d := x.docOf[i]; d >= 0 {
		n = float64(x.docs[d].length)
	}
	value = decides + matterWeight*n/(n+8)
	if m.Pinned {
		value += pinnedWeight
	}
	return value * room.Focus, settledWeight * (0.3 + decides) * room.Focus
}

// settled reports whether one of the next lines by others is a short word of consent.
func (x *LineIndex) settled(i int) bool {
	ms := x.chat.Messages
	for k, n := int(x.lines[i].next), 0; k >= 0 && n < 3; k, n = int(x.lines[k].next), n+1 {
		if ms[k].Sender != ms[i].Sender && len(ms[k].Text) <= 40 && consents(ms[k].Text) {
			return true
		}
	}
	return false
}

// consents reports whether a short text agrees with what was said before it.
func consents(text string) bool {
	text = strings.ToLower(text)
	for _, w := range []string{"ok", "agreed", "deal", "works for me", "sounds good", "perfect", "great", "fine", "yes", "yep", "yay", "👍", "✅", "+1", "noted", "passt", "einverstanden", "super", "d'accord", "vale", "de acuerdo"} {
		if strings.HasPrefix(text, w) {
			return true
		}
	}
	return false
}

// HasLink reports whether a text holds the address of a page.
func HasLink(text string) bool {
	return strings.Contains(text, "http") && (strings.Contains(text, "http://") || strings.Contains(text, "https://")) || strings.Contains(text, "www.")
}

// IsOpenQuestion reports whether line i is a question to which no reply is known, and after
// which no other person spoke soon in its conversation. The index must be up to date.
func (x *LineIndex) IsOpenQuestion(i int) bool {
	ms := x.chat.Messages
	if !strings.Contains(ms[i].Text, "?") || !strings.HasSuffix(strings.TrimRight(ms[i].Text, " \n\t)!🙏😅🙂"), "?") && !strings.Contains(ms[i].Text, "? ") {
		return false
	}
	for k, n := int(x.lines[i].next), 0; k >= 0 && n < 3; k, n = int(x.lines[k].next), n+1 {
		if m := &ms[k]; m.Sender != ms[i].Sender && m.ReplyTo == "" && !strings.HasSuffix(m.Text, "?") && m.At.Sub(ms[i].At) < ConversationGap {
			return false
		}
	}
	later, _ := slices.BinarySearchFunc(x.replies, int32(i), func(l [2]int32, line int32) int { return cmp.Compare(l[0], line) })
	for _, l := range x.replies[later:] {
		if int(l[1]) == i {
			return false
		}
	}
	return true
}

// Judge computes [Decisiveness] of the oldest lines of which it never did, at most that many,
// and returns of how many: a look back that comes later finds it known.
func (x *LineIndex) Judge(most int) int {
	x.Update()
	n := min(most, len(x.docOf)-x.judged)
	for range n {
		x.Decisiveness(x.judged)
		x.judged++
	}
	return n
}

// Decisiveness returns [Decisiveness] of line i, which it remembers until the words change.
// The index must be up to date.
func (x *LineIndex) Decisiveness(i int) float64 {
	if len(x.decisive) < len(x.docOf) {
		x.decisive = append(x.decisive, make([]uint8, len(x.docOf)-len(x.decisive))...)
	}
	if x.decisive[i] == 0 {
		x.decisive[i] = 1 + uint8(254*decisiveness(x.chat.Messages[i].Text, &x.words))
	}
	return float64(x.decisive[i]-1) / 254
}

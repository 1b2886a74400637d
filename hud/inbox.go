package hud

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// Inbox returns the user turn that shows what is new in the seat's room, after
// < seq ≤ upto, in order:
//
//	INBOX (2 events):
//	#a7 [Family] Kai (human): "did you talk to Ahmad?" ← TRIGGER
//	#a8 [Family] Nova (human) ↩#a7: "he is away"
//
// A line whose event is in triggers is marked; the values (the gate's reasons)
// are not shown. The agent's own messages are left out, since its log has them
// as calls, and so is what is older than the uplink's fresh start, unless it woke
// the agent. A room that the prefix has not shown yet is introduced by its card. The
// turn has at most a quarter of the budget: triggers and what addresses the agent
// come first, the rest is left out from the middle and counted. Refs names the
// messages whose words are shown. When nothing is new, Text is empty.
func (v *MindView) Inbox(seat *RoomView, after, upto int64, triggers map[spaces.EventID]string) spaces.TranscriptTurn {
	w := inboxWriter{v: v, seat: seat, label: v.label(seat)}
	w.collect(after, upto, triggers)
	if len(w.entries) == 0 {
		return spaces.TranscriptTurn{Role: spaces.RoleUser}
	}
	b := make([]byte, 0, 160+96*min(len(w.entries), 64))
	if !v.introduced(seat) {
		b = append(b, "SPACE "...)
		b = append(appendCard(b, v, seat, membersShown), '\n')
	}
	b = append(b, "INBOX ("...)
	b = strconv.AppendInt(b, int64(len(w.entries)), 10)
	b = append(b, " events):"...)
	head := len(b)
	turn := spaces.TranscriptTurn{Role: spaces.RoleUser}
	for i := range w.entries {
		b = w.appendEntry(append(b, '\n'), &w.entries[i], noLimit)
		turn.Refs = w.entries[i].appendRef(turn.Refs)
	}
	if budget := v.Budget() / 4; len(b) > budget {
		b, turn.Refs = w.shorten(b[:head], budget)
	}
	turn.Text = string(b)
	return turn
}

// An inboxWriter renders what is new in one room.
type inboxWriter struct {
	v       *MindView
	seat    *RoomView
	label   string
	entries []entry // in seq order
	limits  []int   // of a shortened inbox: characters of each entry, 0 for left out
}

// An entry is one new thing in a room: a message, a notice, or a change.
type entry struct {
	seq      int64
	id       spaces.EventID
	message  *spaces.ChatMessage // of the change, its target
	change   *editEvent
	trigger  bool
	personal bool // names the agent or answers it
}

// appendRef appends the message whose words the entry shows.
func (e *entry) appendRef(refs []spaces.EventID) []spaces.EventID {
	switch {
	case e.message.Notice != nil, e.message.Deleted:
		return refs
	case e.change != nil && e.change.kind != spaces.KindEdited && e.change.kind != spaces.KindTranscribed:
		return refs
	}
	return append(refs, e.message.ID)
}

// collect sets the entries. A change of a message that is new itself is left out: the
// message shows it.
func (w *inboxWriter) collect(after, upto int64, triggers map[spaces.EventID]string) {
	v, s, r := w.v, w.seat, w.seat.Room
	from, to := r.messagesIn(after, upto)
	changes := r.changesIn(after, upto)
	es := make([]entry, 0, to-from+len(changes))
	shown := w.shownByKeyframe(from, to)
	for i := from; i < to; i++ {
		m := &r.Chat.Messages[i]
		_, woke := triggers[m.ID]
		if w.ownOrPast(m) || !woke && (shown[m.ID] || m.Seq <= s.Uplink.Fresh) {
			continue
		}
		es = append(es, entry{seq: m.Seq, id: m.ID, message: m, trigger: woke, personal: v.addressed(r, m)})
	}
	for i := range changes {
		c := &changes[i]
		_, woke := triggers[c.id]
		if c.actor == v.me() || !woke && (c.target >= from || c.seq <= s.Uplink.Fresh) {
			continue
		}
		target := &r.Chat.Messages[c.target]
		es = append(es, entry{
			seq: c.seq, id: c.id, message: target, change: c,
			trigger: woke, personal: target.Sender == v.me(),
		})
	}
	slices.SortStableFunc(es, func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
	w.entries = es
}

// shownByKeyframe returns the messages that a keyframe, made while the agent was in
// another room, shows already.
func (w *inboxWriter) shownByKeyframe(from, to int) map[spaces.EventID]bool {
	k := w.v.Keyframe
	if k == nil || from == to || w.seat.Room.Chat.Messages[from].At.After(k.At) {
		return nil
	}
	shown := map[spaces.EventID]bool{}
	for _, id := range k.Refs {
		shown[id] = true
	}
	return shown
}

// ownOrPast reports whether m is left out: the agent's own message, a failure, which
// the tail reports, or a message from before the chat was linked.
func (w *inboxWriter) ownOrPast(m *spaces.ChatMessage) bool {
	_, failed := m.Notice.(spaces.SendFailed)
	return failed || m.Past || m.Notice == nil && m.Sender == w.v.me()
}

// noLimit shows words in full.
const noLimit = 1 << 30

// appendEntry appends the line of e without a line end, at most limit
// characters of its words.
func (w *inboxWriter) appendEntry(dst []byte, e *entry, limit int) []byte {
	v, r := w.v, w.seat.Room
	dst = append(appendShort(dst, e.seq), " ["...)
	dst = append(append(dst, w.label...), "] "...)
	switch {
	case e.change != nil:
		dst = r.appendChange(dst, e, v.me(), limit)
	case e.message.Notice != nil:
		dst = r.appendNotice(dst, e.message, v.me())
	case e.message.Deleted:
		dst = append(r.appendSpeaker(dst, e.message.Sender, v.me()), ": [deleted]"...)
	default:
		dst = r.appendSpeaker(dst, e.message.Sender, v.me())
		dst = appendOrigin(r.appendMarks(r.appendAnswered(dst, e.message), e.message), v, e.message)
		dst = appendWords(dst, e.message.Text, limit)
	}
	if e.trigger {
		dst = append(dst, triggerMark...)
	}
	return dst
}

// appendWords appends a colon and the quoted words, or their beginning with
// how many characters there are in all.
func appendWords(dst []byte, text string, limit int) []byte {
	short := textformat.ClipRunes(text, limit)
	if len(short) < len(text) {
		dst = append(dst, " beginning of "...)
		dst = strconv.AppendInt(dst, int64(len([]rune(text))), 10)
		dst = append(dst, " characters"...)
	}
	return appendQuoted(append(dst, ": "...), short)
}

// appendOrigin tells from which of the agent's rooms a message was sent here; a room the mind is not in is not named.
func appendOrigin(dst []byte, v *MindView, m *spaces.ChatMessage) []byte {
	if m.Origin == nil {
		return dst
	}
	if s := v.Seat(m.Origin.Space); s != nil {
		return append(append(dst, " from "...), s.Short...)
	}
	return append(dst, " from elsewhere"...)
}

func (r *SharedRoom) appendChange(dst []byte, e *entry, self spaces.EntityID, limit int) []byte {
	c := e.change
	if c.kind == spaces.KindTranscribed && !e.message.Deleted {
		return appendWords(appendShort(append(dst, "heard in "...), e.message.Seq), e.message.Text, limit)
	}
	dst = r.appendSpeaker(dst, c.actor, self)
	target := func(verb string) []byte {
		return appendShort(append(dst, verb...), e.message.Seq)
	}
	switch {
	case c.kind == spaces.KindDeleted:
		return target(" deleted ")
	case c.kind == spaces.KindPinned:
		return target(" pinned ")
	case c.kind == spaces.KindUnpinned:
		return target(" unpinned ")
	case c.kind == spaces.KindReacted:
		return appendQuoted(append(target(" reacted to "), ": "...), textformat.ClipRunes(c.emoji, 32))
	case c.all && c.emoji == "":
		return target(" took every reaction off ")
	case c.all:
		return appendQuoted(append(target(" took everybody's reaction off "), ": "...), textformat.ClipRunes(c.emoji, 32))
	case c.kind == spaces.KindUnreacted:
		return appendQuoted(append(target(" took back a reaction to "), ": "...), textformat.ClipRunes(c.emoji, 32))
	case e.message.Deleted: // an edit of what is gone
		return append(target(" edited "), ": [deleted]"...)
	}
	return appendWords(target(" edited "), e.message.Text, limit)
}

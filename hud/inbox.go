package hud

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// Inbox returns the user turn that shows what is new in the seat's room, after
// < seq ≤ upto, in order:
//
//	INBOX (2 events), Wed 25 Nov 2026 10:05 CET:
//	#a7 10:02 [Family] Kai (human): "did you talk to Ahmad?" ← TRIGGER
//	#a8 10:03 [Family] Nova (human) ↩#a7: "he is away"
//
// The head has the time at which it is shown, each line the time of its event, with
// the day where that is another one than of the line above. A line whose event is in
// triggers is marked, with its age when that is over an hour; the values (the gate's
// reasons) are not shown. A reply to what is not among the lines quotes it. The agent's
// own messages are left out, since its log has them
// as calls, and so is what is older than the uplink's fresh start, unless it woke
// the agent. A room that the prefix has not shown yet is introduced by its card. The
// turn has at most a quarter of the budget: triggers and what addresses the agent
// come first, the rest is left out from the middle and counted. Refs names the
// messages whose words are shown. When nothing is new, Text is empty.
func (v *MindView) Inbox(seat *RoomView, after, upto int64, triggers map[spaces.EventID]string, at time.Time) spaces.TranscriptTurn {
	w := inboxWriter{v: v, seat: seat, label: v.label(seat), at: seat.local(at)}
	w.collect(after, upto, triggers)
	if len(w.entries) == 0 {
		return spaces.TranscriptTurn{Role: spaces.RoleUser}
	}
	b := make([]byte, 0, 160+96*min(len(w.entries), 64))
	if !v.introduced(seat) {
		b = append(b, "SPACE "...)
		b = append(appendCard(b, v, seat, membersShown), '\n')
	}
	b = appendInboxHead(b, len(w.entries), w.at)
	head := len(b)
	turn := spaces.TranscriptTurn{Role: spaces.RoleUser}
	day := w.at
	for i := range w.entries {
		b, day = w.appendDay(b, day, &w.entries[i])
		b = w.appendEntry(append(b, '\n'), &w.entries[i], noLimit)
		turn.Refs = w.appendRefs(turn.Refs, &w.entries[i])
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
	at      time.Time // when it is shown, in the room's time zone; may be zero
	entries []entry   // in seq order
	limits  []int     // of a shortened inbox: characters of each entry, 0 for left out
}

// appendInboxHead appends the head of a turn of new lines, without a line end.
func appendInboxHead(dst []byte, events int, at time.Time) []byte {
	dst = append(dst, "INBOX ("...)
	dst = strconv.AppendInt(dst, int64(events), 10)
	dst = append(dst, " events)"...)
	if !at.IsZero() {
		dst = at.AppendFormat(append(dst, ", "...), "Mon 2 Jan 2006 15:04 MST")
	}
	return append(dst, ':')
}

// InboxHead returns the head of a turn that shows so many new things of a room at a
// time, without a line end; the room may be nil.
func InboxHead(seat *RoomView, events int, at time.Time) string {
	return string(appendInboxHead(nil, events, seat.local(at)))
}

// appendDay appends the day of e, as a line of its own, when it is another one than that
// of the time before, and returns the time of e.
func (w *inboxWriter) appendDay(dst []byte, before time.Time, e *entry) ([]byte, time.Time) {
	at := w.seat.local(e.when())
	if before.IsZero() || onOneDay(before, at) {
		return dst, at
	}
	layout := "Mon 2 Jan"
	if at.Year() != w.at.Year() {
		layout = "Mon 2 Jan 2006"
	}
	dst = at.AppendFormat(append(dst, "\n— "...), layout)
	return append(dst, " —"...), at
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

// when returns when the thing happened.
func (e *entry) when() time.Time {
	if e.change != nil {
		return e.change.at
	}
	return e.message.At
}

// appendRefs appends the messages whose words the entry shows.
func (w *inboxWriter) appendRefs(refs []spaces.EventID, e *entry) []spaces.EventID {
	switch {
	case e.message.Notice != nil, e.message.Deleted:
		return refs
	case e.change != nil && e.change.kind == spaces.KindReacted && e.message.Sender == w.v.me():
		return append(refs, e.message.ID)
	case e.change != nil && e.change.kind != spaces.KindEdited && e.change.kind != spaces.KindTranscribed:
		return refs
	}
	if parent := w.quoted(e.message); e.change == nil && parent != nil && !parent.Deleted {
		refs = append(refs, parent.ID)
	}
	return append(refs, e.message.ID)
}

// collect sets the entries. A change of a message that is new itself is left out: the
// message shows it. Of several edits of a message only the last is shown, since each
// line has the newest words.
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
	last := lastEdits(changes)
	for i := range changes {
		c := &changes[i]
		_, woke := triggers[c.id]
		target := &r.Chat.Messages[c.target]
		itself := c.target >= from && !w.ownOrPast(target) // the line of the message shows the change
		if c.actor == v.me() || !woke && (itself || c.seq <= s.Uplink.Fresh) {
			continue
		}
		if !woke && c.kind == spaces.KindEdited && c.seq < last[editOf{c.target, c.actor}] {
			continue
		}
		es = append(es, entry{
			seq: c.seq, id: c.id, message: target, change: c,
			trigger: woke, personal: target.Sender == v.me(),
		})
	}
	slices.SortStableFunc(es, func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
	w.entries = es
}

// An editOf names the edits of one message by one person.
type editOf struct {
	target int
	by     spaces.EntityID
}

// lastEdits returns the seq of the last of each.
func lastEdits(changes []editEvent) map[editOf]int64 {
	last := map[editOf]int64{}
	for i := range changes {
		if c := &changes[i]; c.kind == spaces.KindEdited {
			last[editOf{c.target, c.actor}] = c.seq
		}
	}
	return last
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
	dst = w.seat.local(e.when()).AppendFormat(append(appendShort(dst, e.seq), ' '), "15:04")
	dst = append(dst, " ["...)
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
		dst = appendOrigin(r.appendMarks(w.appendAnswered(dst, e.message), e.message), v, e.message)
		dst = appendWords(dst, e.message.Text, limit)
	}
	if v.Unanswered[e.id] {
		dst = append(dst, unansweredMark...)
	}
	if e.trigger {
		dst = append(w.appendAge(dst, e.when()), triggerMark...)
	}
	return dst
}

// appendAge appends how long ago something was, once that is over an hour.
func (w *inboxWriter) appendAge(dst []byte, then time.Time) []byte {
	age := w.at.Sub(then)
	switch {
	case w.at.IsZero() || age < time.Hour:
		return dst
	case age < 48*time.Hour:
		dst = append(append(dst, " ("...), textformat.CountNoun(int(age/time.Hour), "hour")...)
	default:
		dst = append(append(dst, " ("...), textformat.CountNoun(int(age/(24*time.Hour)), "day")...)
	}
	return append(dst, " ago)"...)
}

// appendAnswered appends what a message replies to: its id and, unless it is among the
// lines, whose it is and its beginning.
func (w *inboxWriter) appendAnswered(dst []byte, m *spaces.ChatMessage) []byte {
	r, me := w.seat.Room, w.v.me()
	parent := w.quoted(m)
	if parent == nil {
		return r.appendAnswered(dst, m, me)
	}
	dst = append(dst, " ↩ "...)
	if parent.Sender == me {
		dst = append(dst, "your "...)
	}
	dst = append(appendMessageID(dst, parent, me), ' ')
	if parent.Sender != me {
		dst = append(append(dst, r.speakers.find(parent.Sender).label...), ' ')
	}
	if parent.Deleted {
		return append(dst, "[deleted]"...)
	}
	return appendQuoted(dst, textformat.ClipRunes(parent.Text, stubChars))
}

// quoted returns the message that m replies to, unless it is among the lines itself.
func (w *inboxWriter) quoted(m *spaces.ChatMessage) *spaces.ChatMessage {
	if m.ReplyTo == "" {
		return nil
	}
	if parent := w.seat.Room.Chat.Find(m.ReplyTo); parent != nil && !w.lists(parent) {
		return parent
	}
	return nil
}

// lists reports whether a message is one of the entries.
func (w *inboxWriter) lists(m *spaces.ChatMessage) bool {
	_, found := slices.BinarySearchFunc(w.entries, m.Seq, func(e entry, seq int64) int { return cmp.Compare(e.seq, seq) })
	return found
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
		return appendWords(appendMessageID(append(dst, "heard in "...), e.message, self), e.message.Text, limit)
	}
	dst = r.appendSpeaker(dst, c.actor, self)
	target := func(verb string) []byte {
		dst := append(dst, verb...)
		if e.message.Sender == self {
			dst = append(dst, "your "...)
		}
		return appendMessageID(dst, e.message, self)
	}
	switch {
	case c.kind == spaces.KindDeleted:
		return target(" deleted ")
	case c.kind == spaces.KindPinned:
		return target(" pinned ")
	case c.kind == spaces.KindUnpinned:
		return target(" unpinned ")
	case c.kind == spaces.KindReacted:
		dst = target(" reacted to ")
		if e.message.Sender == self && !e.message.Deleted {
			dst = appendQuoted(append(dst, ' '), textformat.ClipRunes(e.message.Text, stubChars))
		}
		return appendQuoted(append(dst, ": "...), textformat.ClipRunes(c.emoji, 32))
	case c.all && c.emoji == "":
		return target(" took every reaction off ")
	case c.all:
		return appendQuoted(append(target(" took everybody's reaction off "), ": "...), textformat.ClipRunes(c.emoji, 32))
	case c.kind == spaces.KindUnreacted:
		return appendQuoted(append(target(" took back a reaction to "), ": "...), textformat.ClipRunes(c.emoji, 32))
	case e.message.Deleted: // an edit of what is gone
		return append(target(" edited "), ": [deleted]"...)
	}
	dst = target(" edited ")
	for i := range e.message.Attachments {
		dst = appendAttachment(dst, &e.message.Attachments[i])
	}
	return appendWords(dst, e.message.Text, limit)
}

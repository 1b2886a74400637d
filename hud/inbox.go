package hud

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/trestle-bridge/trestle/spaces"
)

// Inbox returns the user turn that shows what is new in the seat's room, after
// < seq ≤ upto, in order (CON-05):
//
//	INBOX (2 events):
//	#a7 [Family] Kai (human): "did you talk to Ahmad?" ← TRIGGER
//	#a8 [Family] Nova (human) ↩#a7: "he is away"
//
// A line whose event is in triggers is marked; the values (the gate's reasons)
// are not shown. The agent's own messages are left out, since its log has them
// as calls, and so is what somebody left behind since, unless it woke the agent.
// A room the prefix has not shown yet is introduced by its card. The turn keeps
// to a quarter of the budget: triggers and what addresses the agent come first,
// the rest is left out from the middle and counted. Refs names the messages whose
// words are shown. When nothing is new, Text is empty.
func (v *View) Inbox(seat *RoomView, after, upto int64, triggers map[spaces.EventID]string) spaces.TranscriptTurn {
	es := v.news(seat, after, upto, triggers)
	if len(es) == 0 {
		return spaces.TranscriptTurn{Role: spaces.RoleUser}
	}
	b := make([]byte, 0, 160+96*min(len(es), 64))
	if !v.introduced(seat) {
		b = append(b, "SPACE "...)
		b = append(v.appendCard(b, seat, membersShown), '\n')
	}
	b = append(b, "INBOX ("...)
	b = strconv.AppendInt(b, int64(len(es)), 10)
	b = append(b, " events):"...)
	head := len(b)
	label := v.label(seat)
	turn := spaces.TranscriptTurn{Role: spaces.RoleUser}
	for i := range es {
		b = v.appendEntry(append(b, '\n'), seat, label, &es[i], noLimit)
		turn.Refs = es[i].refer(turn.Refs)
	}
	if budget := v.Budget() / 4; len(b) > budget {
		b, turn.Refs = v.shortInbox(b[:head], seat, label, es, budget)
	}
	turn.Text = string(b)
	return turn
}

// An entry is one new thing in a room: a message, a notice, or a change.
type entry struct {
	seq      int64
	id       spaces.EventID
	message  *spaces.Message // of the change, its target
	change   *editEvent
	trigger  bool
	personal bool // names the agent or answers it
}

// refer adds the message whose words the entry shows.
func (e *entry) refer(refs []spaces.EventID) []spaces.EventID {
	switch {
	case e.message.Notice != nil, e.message.Deleted:
		return refs
	case e.change != nil && e.change.kind != spaces.KindEdited && e.change.kind != spaces.KindTranscribed:
		return refs
	}
	return append(refs, e.message.ID)
}

// news lists what is new in seq order. A change of a message that is new itself
// has nothing to add to it.
func (v *View) news(s *RoomView, after, upto int64, triggers map[spaces.EventID]string) []entry {
	r := s.Room
	from, to := r.messagesIn(after, upto)
	changes := r.changesIn(after, upto)
	es := make([]entry, 0, to-from+len(changes))
	told := v.toldByKeyframe(s, from, to)
	for i := from; i < to; i++ {
		m := &r.Chat.Messages[i]
		_, woke := triggers[m.ID]
		if v.old(m) || !woke && (told[m.ID] || m.Seq <= s.Uplink.Fresh) {
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
	return es
}

// toldByKeyframe returns the messages among the new ones that a keyframe, cut
// while the agent was busy elsewhere, has shown already (SEQ-58).
func (v *View) toldByKeyframe(s *RoomView, from, to int) map[spaces.EventID]bool {
	if v.Keyframe == nil || from == to || s.Room.Chat.Messages[from].At.After(v.Keyframe.At) {
		return nil
	}
	told := map[spaces.EventID]bool{}
	for _, id := range v.Keyframe.Refs {
		told[id] = true
	}
	return told
}

// old reports whether m is no news: the agent's own doing, whose failures are told
// by the tail, or what was said before anybody listened.
func (v *View) old(m *spaces.Message) bool {
	_, failed := m.Notice.(spaces.Failed)
	return failed || m.Past || m.Notice == nil && m.Sender == v.me()
}

func (v *View) addressed(r *Room, m *spaces.Message) bool {
	if len(m.Mentions) > 0 && slices.Contains(m.Mentions, v.me()) {
		return true
	}
	if m.ReplyTo == "" {
		return false
	}
	parent := r.Chat.Find(m.ReplyTo)
	return parent != nil && parent.Sender == v.me()
}

// noLimit shows words in full.
const noLimit = 1 << 30

// appendEntry appends the line of e without a line end, at most limit
// characters of its words.
func (v *View) appendEntry(dst []byte, s *RoomView, label string, e *entry, limit int) []byte {
	r := s.Room
	dst = append(appendShort(dst, e.seq), " ["...)
	dst = append(append(dst, label...), "] "...)
	switch {
	case e.change != nil:
		dst = r.appendChange(dst, e, v.me(), limit)
	case e.message.Notice != nil:
		dst = r.appendNotice(dst, e.message, v.me())
	case e.message.Deleted:
		dst = append(r.appendSpeaker(dst, e.message.Sender, v.me()), ": [deleted]"...)
	default:
		dst = r.appendSpeaker(dst, e.message.Sender, v.me())
		dst = v.appendOrigin(r.appendMarks(r.appendAnswered(dst, e.message), e.message), e.message)
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
	short := clip(text, limit)
	if len(short) < len(text) {
		dst = append(dst, " beginning of "...)
		dst = strconv.AppendInt(dst, int64(len([]rune(text))), 10)
		dst = append(dst, " characters"...)
	}
	return appendQuoted(append(dst, ": "...), short)
}

// appendOrigin tells from which of the agent's rooms a message was sent here
// (GTS-23); a room the mind is not in is not named.
func (v *View) appendOrigin(dst []byte, m *spaces.Message) []byte {
	if m.Origin == nil {
		return dst
	}
	if s := v.Seat(m.Origin.Space); s != nil {
		return append(append(dst, " from "...), s.Short...)
	}
	return append(dst, " from elsewhere"...)
}

func (r *Room) appendChange(dst []byte, e *entry, self spaces.EntityID, limit int) []byte {
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
		return appendQuoted(append(target(" reacted to "), ": "...), clip(c.emoji, 32))
	case c.all && c.emoji == "":
		return target(" took every reaction off ")
	case c.all:
		return appendQuoted(append(target(" took everybody's reaction off "), ": "...), clip(c.emoji, 32))
	case c.kind == spaces.KindUnreacted:
		return appendQuoted(append(target(" took back a reaction to "), ": "...), clip(c.emoji, 32))
	case e.message.Deleted: // an edit of what is gone
		return append(target(" edited "), ": [deleted]"...)
	}
	return appendWords(target(" edited "), e.message.Text, limit)
}

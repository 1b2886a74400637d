package hud

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// triggerMark is the end of a line that woke the agent.
const triggerMark = " ← TRIGGER"

// appendSpeaker appends `Kai (human)`, with "you" for the agent itself.
func (r *SharedRoom) appendSpeaker(dst []byte, id, self spaces.EntityID) []byte {
	if id == "" {
		return append(dst, "The platform (service)"...)
	}
	p := r.speakers.find(id)
	dst = append(dst, p.label...)
	dst = append(dst, " ("...)
	dst = append(dst, kindWord(p.kind)...)
	if id == self {
		dst = append(dst, ", you"...)
	}
	return append(dst, ')')
}

func kindWord(k spaces.EntityKind) string {
	switch k {
	case spaces.Human, spaces.Agent, spaces.Bot, spaces.Service:
		return string(k)
	}
	return "unknown"
}

// appendPeople appends names with commas between.
func (r *SharedRoom) appendPeople(dst []byte, who []spaces.EntityID, self spaces.EntityID) []byte {
	for i, id := range slices.Compact(slices.Clone(who)) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = r.appendSpeaker(dst, id, self)
	}
	return dst
}

// appendAnswered appends the id of the message that m replies to.
func (r *SharedRoom) appendAnswered(dst []byte, m *spaces.ChatMessage) []byte {
	if parent := r.Chat.Find(m.ReplyTo); m.ReplyTo != "" && parent != nil {
		dst = append(dst, " ↩"...)
		dst = appendShort(dst, parent.Seq)
	}
	return dst
}

// appendMarks appends the properties of a message. They come before the colon, so that
// no words can imitate them.
func (r *SharedRoom) appendMarks(dst []byte, m *spaces.ChatMessage) []byte {
	if m.Thread != "" {
		dst = append(dst, " thread "...)
		dst = appendQuoted(dst, r.threadTitle(m.Thread))
	}
	if m.Forwarded != "" {
		dst = append(dst, " forwarded "...)
		dst = appendQuoted(dst, textformat.ClipRunes(m.Forwarded, maxName))
	}
	if m.Broadcast {
		dst = append(dst, " broadcast"...)
	}
	for i := range m.Attachments {
		dst = appendAttachment(dst, &m.Attachments[i])
	}
	if m.Heard {
		dst = append(dst, " heard"...)
	}
	if !m.EditedAt.IsZero() {
		dst = append(dst, " edited"...)
	}
	if m.Pinned {
		dst = append(dst, " pinned"...)
	}
	if m.Failure != "" {
		dst = append(dst, " not delivered"...)
	}
	if len(m.Reactions) > 0 {
		dst = append(dst, " reactions "...)
		dst = appendQuoted(dst, reactions(m.Reactions))
	}
	return dst
}

func (r *SharedRoom) threadTitle(t spaces.ThreadID) string {
	if title := r.Chat.Threads[t]; title != "" {
		return textformat.ClipRunes(title, maxName)
	}
	return string(t)
}

func reactions(rs []spaces.EmojiReaction) string {
	var b strings.Builder
	for i := range rs[:min(len(rs), 12)] {
		b.WriteString(textformat.ClipRunes(rs[i].Emoji, 16))
	}
	return b.String()
}

func appendAttachment(dst []byte, a *spaces.FileAttachment) []byte {
	dst = append(dst, " +"...)
	dst = append(dst, word(a.Kind)...)
	if a.Name != "" {
		dst = append(dst, ' ')
		dst = appendQuoted(dst, textformat.ClipRunes(a.Name, maxName))
	}
	if a.Size > 0 {
		dst = append(dst, ' ')
		dst = strconv.AppendInt(dst, (a.Size+1023)/1024, 10)
		dst = append(dst, " KB"...)
	}
	return dst
}

// word returns the small Latin letters of s, or "file".
func word(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r == '_' {
			return r
		}
		return -1
	}, strings.ToLower(s))
	if s == "" || len(s) > 16 {
		return "file"
	}
	return s
}

// appendNotice appends the text of an event that is no message.
func (r *SharedRoom) appendNotice(dst []byte, m *spaces.ChatMessage, self spaces.EntityID) []byte {
	switch b := m.Notice.(type) {
	case spaces.MemberJoined:
		return append(r.appendSpeaker(dst, b.Who, self), " joined"...)
	case spaces.MemberLeft:
		if b.By != "" && b.By != b.Who {
			dst = append(r.appendSpeaker(dst, b.By, self), " removed "...)
			return r.appendSpeaker(dst, b.Who, self)
		}
		return append(r.appendSpeaker(dst, b.Who, self), " left"...)
	case spaces.SpaceRenamed:
		dst = r.appendSpeaker(dst, m.Sender, self)
		if m.Thread != "" {
			dst = append(dst, " named a thread: "...)
		} else {
			dst = append(dst, " renamed the space: "...)
		}
		return appendQuoted(dst, textformat.ClipRunes(b.Title, 2*maxName))
	case spaces.HistoryGap:
		dst = append(dst, "nothing was heard from "...)
		dst = b.From.UTC().AppendFormat(dst, stampFormat)
		dst = append(dst, " to "...)
		dst = b.To.UTC().AppendFormat(dst, stampFormat)
		dst = append(dst, ": "...)
		return appendQuoted(dst, textformat.ClipRunes(b.Reason, 120))
	case spaces.UnreadableUpdate:
		if b.What == spaces.AttachmentMissing {
			dst = append(dst, "an attachment could not be fetched: "...)
			return appendQuoted(dst, textformat.ClipRunes(b.Reason, 120))
		}
		dst = append(r.appendSpeaker(dst, m.Sender, self), " sent something unreadable: "...)
		return appendQuoted(dst, textformat.ClipRunes(b.What, maxName))
	case spaces.SendFailed:
		dst = append(dst, "a message was not delivered: "...)
		return appendQuoted(dst, textformat.ClipRunes(b.Reason, 120))
	case spaces.ChatLinked:
		return append(dst, "a chat was linked"...)
	case spaces.ChatUnlinked:
		dst = append(dst, "a chat cannot be reached any more: "...)
		return appendQuoted(dst, textformat.ClipRunes(b.Reason, 120))
	case spaces.ChatMigrated:
		return append(dst, "the chat moved on its platform"...)
	case spaces.MessagePosted, spaces.MessageEdited, spaces.VoiceTranscribed, spaces.MessageDeleted, spaces.ReactionAdded, spaces.ReactionRemoved, spaces.MessagePinned, spaces.MessageUnpinned,
		spaces.ActionDelivered, spaces.NoteAdded, spaces.BookmarkSet, spaces.CycleStarted, spaces.ThoughtRecorded, spaces.ToolCalled, spaces.ToolReturned,
		spaces.CycleSummarised, spaces.GoalSet, spaces.MemoryAdded, spaces.MemoryRemoved, spaces.CallDenied, spaces.StatesChanged,
		spaces.ContextCompacted, spaces.CycleStopped, spaces.SpanChanged:
	}
	panic("hud: a notice of no known kind")
}

// Times are shown absolute, to the minute.
const (
	stampFormat = "2006-01-02 15:04"
	clockFormat = "Mon " + stampFormat + " MST"
)

// membersShown is how many members a space card names.
const membersShown = 12

// appendCard appends `SPACE s1 "Family" (direct): Kai (human), Ada (agent, you)`
// without a line end. An empty room has an empty list.
func appendCard(dst []byte, v *MindView, s *RoomView, members int) []byte {
	dst = append(dst, s.Short...)
	dst = append(dst, ' ')
	dst = appendQuoted(dst, v.label(s))
	dst = append(dst, " ("...)
	dst = append(dst, kindOfRoom(s.Room.space)...)
	dst = append(dst, "): "...)
	ms := s.Room.members
	n := min(len(ms), members)
	for i := range n {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = s.Room.appendSpeaker(dst, ms[i].ID, v.me())
	}
	switch rest := len(ms) - n; {
	case len(ms) == 0:
		dst = append(dst, "nobody"...)
	case n == 0:
		dst = strconv.AppendInt(dst, int64(rest), 10)
		dst = append(dst, " members"...)
	case rest > 0:
		dst = append(dst, " and "...)
		dst = strconv.AppendInt(dst, int64(rest), 10)
		dst = append(dst, " others"...)
	}
	return dst
}

func kindOfRoom(s spaces.Space) string {
	if s.Direct {
		return "direct"
	}
	return "group"
}

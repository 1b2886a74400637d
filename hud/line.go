package hud

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// triggerMark is the end of a line that woke the agent.
const triggerMark = " ← TRIGGER"

// unansweredMark is behind the words of a message that the agent could not answer before.
const unansweredMark = " UNANSWERED"

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
func (r *SharedRoom) appendAnswered(dst []byte, m *spaces.ChatMessage, self spaces.EntityID) []byte {
	if parent := r.Chat.Find(m.ReplyTo); m.ReplyTo != "" && parent != nil {
		dst = appendMessageID(append(dst, " ↩"...), parent, self)
	}
	return dst
}

// appendMessageID appends the id under which an agent is shown a message: a [Handle] for
// one of its own, which is known when it is sent, else a [ShortID].
func appendMessageID(dst []byte, m *spaces.ChatMessage, self spaces.EntityID) []byte {
	if m.Sender == self && m.Notice == nil {
		return append(dst, Handle(m.ID)...)
	}
	return appendShort(dst, m.Seq)
}

// appendMarks appends the properties of a message. They come before the colon, so that
// no words can imitate them.
func (r *SharedRoom) appendMarks(dst []byte, m *spaces.ChatMessage) []byte {
	if m.Thread != "" {
		dst = r.appendThread(append(dst, " thread "...), m.Thread)
	}
	if m.Forwarded != "" {
		dst = append(dst, " forwarded "...)
		dst = appendQuoted(dst, textformat.ClipRunes(m.Forwarded, maxName))
	}
	if m.Viewing != "" {
		dst = append(dst, " viewing "...)
		dst = appendQuoted(dst, textformat.ClipRunes(m.Viewing, maxName))
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
		dst = r.appendReactions(append(dst, " reactions"...), m.Reactions)
	}
	return dst
}

// Bounds on what a line shows of the reactions to it.
const (
	maxEmojis  = 6 // different ones
	maxReacted = 3 // people named for each
)

// appendReactions appends each emoji, in the order in which they came, with the people
// who chose it.
func (r *SharedRoom) appendReactions(dst []byte, rs []spaces.EmojiReaction) []byte {
	var emojis []string
	for i := range rs {
		if !slices.Contains(emojis, rs[i].Emoji) {
			emojis = append(emojis, rs[i].Emoji)
		}
	}
	for _, emoji := range emojis[:min(len(emojis), maxEmojis)] {
		dst = appendQuoted(append(dst, ' '), textformat.ClipRunes(emoji, 16))
		n := 0
		for i := range rs {
			if rs[i].Emoji != emoji {
				continue
			}
			if n++; n > maxReacted {
				continue
			}
			if n > 1 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, ' '), r.speakers.find(rs[i].Who).label...)
		}
		if n > maxReacted {
			dst = strconv.AppendInt(append(dst, " +"...), int64(n-maxReacted), 10)
		}
	}
	return dst
}

// appendThread appends the label of a thread and, where it has one, its title.
func (r *SharedRoom) appendThread(dst []byte, t spaces.ThreadID) []byte {
	dst = append(dst, ThreadLabel(t)...)
	if title := r.Chat.Threads[t]; title != "" {
		dst = appendQuoted(append(dst, ' '), textformat.ClipRunes(title, maxName))
	}
	return dst
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
		dst = append(dst, " UTC: "...)
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

// appendCard appends `s1 "Family" (group, zone Europe/Zurich): Kai @kai2 (human, zone
// Asia/Tokyo), Ada (agent, you)` without a line end. The time zone of the room is left
// out where it is UTC, that of a person where it is the room's or unknown, and a handle
// where it is the name. An empty room has no list.
func appendCard(dst []byte, v *MindView, s *RoomView, members int) []byte {
	dst = append(dst, s.Short...)
	dst = append(dst, ' ')
	dst = appendQuoted(dst, v.label(s))
	dst = append(dst, " ("...)
	dst = append(dst, kindOfRoom(s.Room.space)...)
	if s.Zone != nil && s.Zone != time.UTC && s.Zone != time.Local {
		dst = append(append(dst, ", zone "...), s.Zone.String()...)
	}
	dst = append(dst, "): "...)
	ms := s.Room.members
	n := min(len(ms), members)
	for i := range n {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = s.appendMember(dst, &ms[i], v.me())
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

// appendMember appends a person with what others need to know to call them.
func (s *RoomView) appendMember(dst []byte, m *spaces.SpaceMember, self spaces.EntityID) []byte {
	p := s.Room.speakers.find(m.ID)
	dst = append(dst, p.label...)
	if handle := CleanName(m.Handle); m.Handle != "" && skeleton(handle) != skeleton(p.label) {
		dst = append(append(dst, " @"...), handle...)
	}
	dst = append(append(dst, " ("...), kindWord(p.kind)...)
	if m.ID == self {
		dst = append(dst, ", you"...)
	}
	if m.Zone != "" && (s.Zone == nil || s.Zone.String() != m.Zone) {
		dst = append(append(dst, ", zone "...), zoneName(m.Zone)...)
	}
	return append(dst, ')')
}

// zoneName returns the name of a time zone as a line shows it.
func zoneName(zone string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/_+-", r) {
			return r
		}
		return -1
	}, textformat.ClipRunes(zone, maxName))
}

func kindOfRoom(s spaces.Space) string {
	switch {
	case s.Direct:
		return "direct"
	case s.Guest:
		return "guest"
	}
	return "group"
}

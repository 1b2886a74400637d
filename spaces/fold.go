package spaces

import (
	"cmp"
	"slices"
	"time"
)

// revise applies what is about one message, or keeps it until that comes.
func (c *Chat) revise(e Event) []int {
	id, ref := Target(e.Body)
	if id == "" {
		id = c.byRef[ref]
	}
	i, ok := c.byID[id]
	if !ok {
		c.wait(ref, e)
		return nil
	}
	if !ref.IsZero() {
		c.catchUp(i, ref) // the event may be the first to have the ref of its message
	}
	amend(&c.Messages[i], e)
	return []int{i}
}

// wait keeps what is about a message that has not come. For one that is deleted
// by then nothing else is kept.
func (c *Chat) wait(ref MessageRef, e Event) {
	early := c.early[ref]
	if ref.IsZero() || len(early) > 0 && early[0].Body.Kind() == KindDeleted {
		return
	}
	if e.Body.Kind() == KindDeleted {
		early = nil
	}
	c.early[ref] = append(early, e)
}

// Withdrawn reports whether any of the refs was deleted before the log knew which
// message it belongs to.
func (c *Chat) Withdrawn(refs []MessageRef) bool {
	return slices.ContainsFunc(refs, func(ref MessageRef) bool {
		early := c.early[ref]
		return len(early) > 0 && early[0].Body.Kind() == KindDeleted
	})
}

// deliver stores the refs of an agent's message, and that this action did
// not fail after all.
func (c *Chat) deliver(b ActionDelivered) []int {
	i, ok := c.byID[b.Message]
	if !ok {
		return nil
	}
	c.settle(i, b.Action, nil)
	return append(c.refer(i, b.Refs...), i)
}

func (c *Chat) fail(e Event, b SendFailed) []int {
	i, ok := c.byID[b.Message]
	if !ok || c.Messages[i].Notice != nil {
		return []int{c.notice(e)} // an edit, delete or reaction failed
	}
	c.settle(i, b.Action, &b)
	return []int{i, c.notice(e)}
}

// settle replaces the failure of one action. The message has the state of the latest
// failure that remains.
func (c *Chat) settle(i int, action ActionID, now *SendFailed) {
	m := &c.Messages[i]
	all := slices.DeleteFunc(c.failed[m.ID], func(f SendFailed) bool { return f.Action == action })
	if now != nil {
		all = append(all, *now)
	}
	if len(all) == 0 {
		delete(c.failed, m.ID)
		m.Failure = ""
		return
	}
	c.failed[m.ID] = all
	if !m.Deleted {
		m.Failure = all[len(all)-1].State
	}
}

// refer stores refs of the message and applies what came too early
// for it. It returns the replies that were waiting for it.
func (c *Chat) refer(i int, refs ...MessageRef) (replies []int) {
	m := &c.Messages[i]
	refs = c.placed(refs)
	for _, ref := range refs {
		if !slices.Contains(m.Refs, ref) {
			m.Refs = append(m.Refs, ref)
		}
	}
	c.catchUp(i, refs...)
	for _, ref := range refs {
		for _, id := range c.orphans[ref] {
			k := c.byID[id]
			if c.Messages[k].Deleted {
				continue
			}
			c.Messages[k].ReplyTo = m.ID
			replies = append(replies, k)
		}
		delete(c.orphans, ref)
	}
	return replies
}

// placed returns refs that share what those of the newest messages say. The event
// they are of may be another account's, too, so it stays unchanged.
func (c *Chat) placed(refs []MessageRef) []MessageRef {
	refs = slices.Clone(refs)
	near := c.newest()
	for k := range refs {
		for i := range near {
			if len(near[i].Refs) > 0 {
				share(&refs[k].Account, near[i].Refs[0].Account)
				share(&refs[k].Chat, near[i].Refs[0].Chat)
			}
		}
	}
	return refs
}

// catchUp applies what came too early for the message at refs, in seq order,
// and has what comes from now on find it.
func (c *Chat) catchUp(i int, refs ...MessageRef) {
	m := &c.Messages[i]
	var early []Event
	for _, ref := range refs {
		c.byRef[ref] = m.ID
		early = append(early, c.early[ref]...)
		delete(c.early, ref)
	}
	slices.SortFunc(early, func(a, b Event) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, e := range early {
		amend(m, e)
	}
}

// amend applies an edit, delete, reaction or pin to its message. A deleted
// message stays deleted whatever comes later.
func amend(m *ChatMessage, e Event) {
	if m.Deleted {
		return
	}
	switch b := e.Body.(type) {
	case MessageEdited:
		m.edit(b, e.At)
	case MessageDeleted:
		*m = ChatMessage{ID: m.ID, Seq: m.Seq, Sender: m.Sender, At: m.At, Thread: m.Thread, Refs: m.Refs, Deleted: true}
	case ReactionAdded:
		r := EmojiReaction{b.Emoji, e.Actor}
		if !slices.Contains(m.Reactions, r) {
			m.Reactions = append(m.Reactions, r)
		}
	case ReactionRemoved:
		m.Reactions = slices.DeleteFunc(m.Reactions, func(r EmojiReaction) bool {
			if b.Everybody {
				return b.Emoji == "" || b.Emoji == r.Emoji
			}
			return r == EmojiReaction{b.Emoji, e.Actor}
		})
	case VoiceTranscribed:
		m.hear(b.Text)
	case MessagePinned:
		m.Pinned = true
	case MessageUnpinned:
		m.Pinned = false
	case MessagePosted, MemberJoined, MemberLeft, SpaceRenamed, ChatMigrated, ChatLinked, ChatUnlinked, ActionDelivered, SendFailed, HistoryGap, UnreadableUpdate,
		NoteAdded, BookmarkSet, CycleStarted, ThoughtRecorded, ToolCalled, ToolReturned, CycleSummarised, GoalSet, MemoryAdded, MemoryRemoved,
		CallDenied, StatesChanged, ContextCompacted, CycleStopped, SpanChanged:
		panic("spaces: " + string(e.Body.Kind()) + " does not amend a message")
	}
}

// edit replaces the words and attachments of a message, unless it has them already.
func (m *ChatMessage) edit(b MessageEdited, at time.Time) {
	changed := b.Attachments != nil && !slices.Equal(b.Attachments, m.Attachments)
	if b.Text == m.Text && !changed {
		return
	}
	before := TextRevision{Text: m.Text, At: m.At}
	if !m.EditedAt.IsZero() {
		before.At = m.EditedAt
	}
	if changed {
		before.Attachments = m.Attachments
		m.Attachments, m.FileAccount = b.Attachments, b.Ref.Account
	}
	m.Edits = append(m.Edits, before)
	m.Text, m.EditedAt = b.Text, at
}

// hear adds what a voice says to what was written beside it.
func (m *ChatMessage) hear(text string) {
	if m.Text != "" {
		m.Text += "\n"
	}
	m.Text, m.Heard = m.Text+text, true
}

// Target returns which message a body is about: its event id, its platform
// reference, or both. Bodies that are about no message have neither.
func Target(b EventBody) (EventID, MessageRef) {
	switch b := b.(type) {
	case MessageEdited:
		return b.Target, b.Ref
	case MessageDeleted:
		return b.Target, b.Ref
	case ReactionAdded:
		return b.Target, b.Ref
	case ReactionRemoved:
		return b.Target, b.Ref
	case VoiceTranscribed:
		return b.Target, b.Ref
	case MessagePinned:
		return b.Target, b.Ref
	case MessageUnpinned:
		return b.Target, b.Ref
	case MessagePosted, MemberJoined, MemberLeft, SpaceRenamed, ChatMigrated, ChatLinked, ChatUnlinked, ActionDelivered, SendFailed, HistoryGap, UnreadableUpdate,
		NoteAdded, BookmarkSet, CycleStarted, ThoughtRecorded, ToolCalled, ToolReturned, CycleSummarised, GoalSet, MemoryAdded, MemoryRemoved,
		CallDenied, StatesChanged, ContextCompacted, CycleStopped, SpanChanged:
		return "", MessageRef{}
	}
	panic("spaces: target misses a body")
}

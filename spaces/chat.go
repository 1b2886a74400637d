package spaces

import (
	"slices"
	"sort"
	"time"
)

// A ChatMessage is the current state of one entry of a chat. Who has read it
// follows from the uplinks' cursors and is not kept here.
type ChatMessage struct {
	ID          EventID
	Seq         int64
	Sender      EntityID
	Text        string // empty once deleted
	At          time.Time
	Thread      ThreadID
	ReplyTo     EventID
	Refs        []MessageRef // its places on platforms, one for each part
	Mentions    []EntityID
	Attachments []FileAttachment
	FileAccount string // of which the ids of Attachments are; empty for an agent's message
	Forwarded   string
	Viewing     string // the chat that its author had open beside this one
	Broadcast   bool   // shown beside its thread, see [Said.Broadcast]
	Past        bool   // written into the log later, see [Said.Past]
	Origin      *SendOrigin
	Reactions   []EmojiReaction
	Edits       []TextRevision // earlier texts, oldest first
	EditedAt    time.Time      // zero if never
	Heard       bool           // Text, or the end of it, was spoken and heard by a machine
	Deleted     bool
	Pinned      bool
	// Failure is the state an agent's message ended in when it did not reach one
	// of its chats; empty otherwise, also once an unknown outcome proved good.
	Failure ActionState
	// Notice is set when the entry is no message but a fact people should see:
	// joined, left, renamed, gap, unreadable, failed, linked, unlinked, migrated.
	Notice EventBody
}

// An EmojiReaction is one emoji by one entity.
type EmojiReaction struct {
	Emoji string
	Who   EntityID
}

// A TextRevision is what a message no longer says or carries, and when it was written.
type TextRevision struct {
	Text string
	At   time.Time
	// Attachments are those that an edit replaced; nil where it left them as they were.
	Attachments []FileAttachment
}

// A Chat is the object that holds what was said in a room: a fold of its
// events. Edits, deletes, reactions and replies that arrive before the message
// they are about wait for it: the order of arrival does not matter.
//
// A Chat is not safe for concurrent use.
type Chat struct {
	Messages []ChatMessage // in seq order
	// Threads holds the titles of threads that have one.
	Threads map[ThreadID]string
	told    map[ThreadID]string // titles as messages told them last
	// Activity is when each entity last did something.
	Activity map[EntityID]time.Time
	Last     time.Time // when anything last happened
	Upto     int64     // seq of the last event applied

	byID    map[EventID]int
	byRef   map[MessageRef]EventID
	early   map[MessageRef][]Event   // what is about a message that has not come
	orphans map[MessageRef][]EventID // replies to a message that has not come
	failed  map[EventID][]SendFailed // by message, one for each failed action
}

// NewChat returns an empty chat.
func NewChat() *Chat {
	return &Chat{
		Threads: map[ThreadID]string{}, told: map[ThreadID]string{}, Activity: map[EntityID]time.Time{},
		byID: map[EventID]int{}, byRef: map[MessageRef]EventID{}, early: map[MessageRef][]Event{},
		orphans: map[MessageRef][]EventID{}, failed: map[EventID][]SendFailed{},
	}
}

// Grow makes room for n more messages, so that folding that many does not copy those
// that are there.
func (c *Chat) Grow(n int) {
	c.Messages = slices.Grow(c.Messages, n)
	if len(c.Messages) == 0 {
		c.byID, c.byRef = make(map[EventID]int, n), make(map[MessageRef]EventID, n)
	}
}

// Find returns the message with that id, or nil. The pointer is good until the
// next Apply.
func (c *Chat) Find(id EventID) *ChatMessage {
	if i, ok := c.byID[id]; ok {
		return &c.Messages[i]
	}
	return nil
}

// About returns the message that a body is about, or nil.
func (c *Chat) About(b EventBody) *ChatMessage {
	id, ref := Target(b)
	if id == "" {
		id = c.byRef[ref]
	}
	return c.Find(id)
}

// At returns the index of the message with that id, or -1.
func (c *Chat) At(id EventID) int {
	if i, ok := c.byID[id]; ok {
		return i
	}
	return -1
}

// BySeq returns the message whose event has that seq, or nil.
func (c *Chat) BySeq(seq int64) *ChatMessage {
	i := c.After(seq - 1)
	if i < len(c.Messages) && c.Messages[i].Seq == seq {
		return &c.Messages[i]
	}
	return nil
}

// After returns the index of the first message later than seq.
func (c *Chat) After(seq int64) int {
	return sort.Search(len(c.Messages), func(i int) bool { return c.Messages[i].Seq > seq })
}

// Apply folds one event into the chat and reports the indexes of the messages
// it changed: a new one is the last. Events must come in seq order; one that
// was already applied changes nothing.
func (c *Chat) Apply(e Event) (changed []int) {
	if e.Seq <= c.Upto {
		return nil
	}
	c.Upto = e.Seq
	c.active(e)
	switch b := e.Body.(type) {
	case MessagePosted:
		return c.say(e, b)
	case MessageEdited, MessageDeleted, ReactionAdded, ReactionRemoved, VoiceTranscribed, MessagePinned, MessageUnpinned:
		return c.revise(e)
	case ActionDelivered:
		return c.deliver(b)
	case SendFailed:
		return c.fail(e, b)
	case SpaceRenamed:
		if e.Thread != "" {
			c.Threads[e.Thread] = b.Title
		}
		return []int{c.notice(e)}
	case MemberJoined, MemberLeft, HistoryGap, UnreadableUpdate, ChatLinked, ChatUnlinked, ChatMigrated:
		return []int{c.notice(e)}
	case NoteAdded, BookmarkSet, CycleStarted, ThoughtRecorded, ToolCalled, ToolReturned, CycleSummarised, GoalSet, MemoryAdded, MemoryRemoved,
		CallDenied, StatesChanged, ContextCompacted, CycleStopped, SpanChanged:
		return nil // inner events are no part of a chat
	}
	panic("spaces: chat fold misses a body")
}

// active notes who was active when; what comes late does not turn the clock back.
func (c *Chat) active(e Event) {
	if at, ok := c.Activity[e.Actor]; e.Actor != "" && (!ok || e.At.After(at)) {
		c.Activity[e.Actor] = e.At
	}
	if e.At.After(c.Last) {
		c.Last = e.At
	}
}

// title keeps the title of a thread that a message tells, unless it is older than the one
// that is known: a platform may go on telling the first title after the thread was renamed.
func (c *Chat) title(thread ThreadID, b MessagePosted) {
	if thread == "" || b.ThreadTitle == "" || b.ThreadTitle == c.told[thread] {
		return
	}
	_, before := c.told[thread]
	if c.Threads[thread] == "" || before && !b.Past {
		c.Threads[thread] = b.ThreadTitle
	}
	if !before || !b.Past {
		c.told[thread] = b.ThreadTitle
	}
}

func (c *Chat) say(e Event, b MessagePosted) []int {
	c.title(e.Thread, b)
	m := ChatMessage{
		ID: e.ID, Seq: e.Seq, Sender: e.Actor, Text: b.Text, At: e.At, Thread: e.Thread, ReplyTo: e.ReplyTo,
		Mentions: b.Mentions, Attachments: b.Attachments, FileAccount: b.Ref.Account, Forwarded: b.Forwarded, Viewing: b.Viewing, Broadcast: b.Broadcast, Past: b.Past, Origin: b.Origin,
	}
	if m.ReplyTo == "" && !b.ReplyRef.IsZero() {
		if m.ReplyTo = c.byRef[b.ReplyRef]; m.ReplyTo == "" {
			c.orphans[b.ReplyRef] = append(c.orphans[b.ReplyRef], m.ID)
		}
	}
	i := c.add(m)
	if b.Ref.IsZero() {
		return []int{i}
	}
	return append(c.refer(i, b.Ref), i)
}

func (c *Chat) notice(e Event) int {
	return c.add(ChatMessage{ID: e.ID, Seq: e.Seq, Sender: e.Actor, At: e.At, Thread: e.Thread, Notice: e.Body})
}

func (c *Chat) add(m ChatMessage) int {
	near := c.newest()
	for i := range near {
		share(&m.Sender, near[i].Sender)
		share(&m.Thread, near[i].Thread)
	}
	c.Messages = append(c.Messages, m)
	i := len(c.Messages) - 1
	c.byID[m.ID] = i
	return i
}

// newest returns the last few messages: what the next one has in common with any
// is mostly in common with one of them.
func (c *Chat) newest() []ChatMessage { return c.Messages[max(0, len(c.Messages)-4):] }

// share makes s the same memory as its equal: what all messages of a room say of
// it, who and where, is kept once, however often it was read.
func share[S ~string](s *S, equal S) {
	if *s == equal {
		*s = equal
	}
}

package spaces

import (
	"slices"
	"sort"
	"time"
)

// A Message is one entry of a chat as it stands now (SEQ-17). Who has read it
// follows from the uplinks' cursors and is not kept here.
type Message struct {
	ID          EventID
	Seq         int64
	Sender      EntityID
	Text        string // empty once deleted
	At          time.Time
	Thread      ThreadID
	ReplyTo     EventID
	Refs        []Ref // where it stands on platforms, one a part
	Mentions    []EntityID
	Attachments []Attachment
	Forwarded   string
	Origin      *Provenance
	Reactions   []Reaction
	Edits       []Revision // earlier texts, oldest first
	EditedAt    time.Time  // zero if never
	Deleted     bool
	Pinned      bool
	// Failure is the state an agent's message ended in when it did not reach its
	// platform; empty otherwise.
	Failure ActionState
	// Notice is set when the entry is no message but a fact people should see:
	// joined, left, renamed, gap, unreadable, failed, linked, unlinked, migrated.
	Notice Body
}

// A Reaction is one emoji by one entity.
type Reaction struct {
	Emoji string
	Who   EntityID
}

// A Revision is a text a message no longer has.
type Revision struct {
	Text string
	At   time.Time
}

// A Chat is the object that holds what was said in a room: a fold of its
// events. Edits, deletes and reactions that arrive before their message wait
// for it, so that the order of arrival does not matter (F24).
//
// A Chat is not safe for concurrent use.
type Chat struct {
	Messages []Message // in seq order
	// Threads holds the titles of threads that have one.
	Threads map[ThreadID]string
	// Activity is when each entity last did something.
	Activity map[EntityID]time.Time
	Last     time.Time
	Upto     int64 // seq of the last event applied

	byID  map[EventID]int
	byRef map[Ref]EventID
	early map[Ref][]Event
}

// NewChat returns an empty chat.
func NewChat() *Chat {
	return &Chat{
		Threads: map[ThreadID]string{}, Activity: map[EntityID]time.Time{},
		byID: map[EventID]int{}, byRef: map[Ref]EventID{}, early: map[Ref][]Event{},
	}
}

// Find returns the message with that id, or nil. The pointer is good until the
// next Apply.
func (c *Chat) Find(id EventID) *Message {
	if i, ok := c.byID[id]; ok {
		return &c.Messages[i]
	}
	return nil
}

// About returns the message that a body is about, or nil.
func (c *Chat) About(b Body) *Message {
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
func (c *Chat) BySeq(seq int64) *Message {
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
	if e.Actor != "" {
		c.Activity[e.Actor] = e.At
	}
	c.Last = e.At
	switch b := e.Body.(type) {
	case Said:
		return c.say(e, b)
	case Edited, Deleted, Reacted, Unreacted, Pinned, Unpinned:
		return c.revise(e)
	case Delivered:
		return c.deliver(b)
	case Failed:
		return c.fail(e, b)
	case Renamed:
		if e.Thread != "" {
			c.Threads[e.Thread] = b.Title
		}
		return c.notice(e)
	case Joined, Left, Gap, Unreadable, Linked, Unlinked, Migrated:
		return c.notice(e)
	case Noted, Bookmarked, Woke, Thought, Acted, Result, Summed, Goal, Remembered, Forgot,
		Denied, Transitioned, Compacted, Stopped, Spanned:
		return nil // inner events are no part of a chat
	}
	panic("spaces: chat fold misses a body")
}

func (c *Chat) say(e Event, b Said) []int {
	m := Message{
		ID: e.ID, Seq: e.Seq, Sender: e.Actor, Text: b.Text, At: e.At, Thread: e.Thread, ReplyTo: e.ReplyTo,
		Mentions: b.Mentions, Attachments: b.Attachments, Forwarded: b.Forwarded, Origin: b.Origin,
	}
	i := c.add(m)
	if b.Ref.IsZero() {
		return []int{i}
	}
	c.refer(i, b.Ref)
	return []int{i}
}

// refer notes that the message stands at ref and applies what came too early for it.
func (c *Chat) refer(i int, ref Ref) {
	m := &c.Messages[i]
	m.Refs = append(m.Refs, ref)
	c.byRef[ref] = m.ID
	for _, e := range c.early[ref] {
		amend(m, e)
	}
	delete(c.early, ref)
}

func (c *Chat) add(m Message) int {
	c.Messages = append(c.Messages, m)
	i := len(c.Messages) - 1
	c.byID[m.ID] = i
	return i
}

func (c *Chat) notice(e Event) []int {
	return []int{c.add(Message{ID: e.ID, Seq: e.Seq, Sender: e.Actor, At: e.At, Thread: e.Thread, Notice: e.Body})}
}

func (c *Chat) revise(e Event) []int {
	id, ref := Target(e.Body)
	if id == "" {
		id = c.byRef[ref]
	}
	i, ok := c.byID[id]
	if !ok {
		if !ref.IsZero() {
			c.early[ref] = append(c.early[ref], e)
		}
		return nil
	}
	amend(&c.Messages[i], e)
	return []int{i}
}

func (c *Chat) deliver(b Delivered) []int {
	i, ok := c.byID[b.Message]
	if !ok {
		return nil
	}
	for _, ref := range b.Refs {
		c.refer(i, ref)
	}
	return []int{i}
}

func (c *Chat) fail(e Event, b Failed) []int {
	if i, ok := c.byID[b.Message]; ok && c.Messages[i].Notice == nil {
		c.Messages[i].Failure = b.State
	}
	return c.notice(e)
}

// amend applies an edit, delete, reaction or pin to its message. A deleted
// message stays deleted whatever comes later.
func amend(m *Message, e Event) {
	if m.Deleted {
		return
	}
	switch b := e.Body.(type) {
	case Edited:
		if b.Text == m.Text {
			return
		}
		m.Edits = append(m.Edits, Revision{m.Text, m.At})
		m.Text, m.EditedAt = b.Text, e.At
	case Deleted:
		*m = Message{ID: m.ID, Seq: m.Seq, Sender: m.Sender, At: m.At, Thread: m.Thread, Refs: m.Refs, Deleted: true}
	case Reacted:
		r := Reaction{b.Emoji, e.Actor}
		if !slices.Contains(m.Reactions, r) {
			m.Reactions = append(m.Reactions, r)
		}
	case Unreacted:
		m.Reactions = slices.DeleteFunc(m.Reactions, func(r Reaction) bool { return r == Reaction{b.Emoji, e.Actor} })
	case Pinned:
		m.Pinned = true
	case Unpinned:
		m.Pinned = false
	default:
		panic("spaces: " + string(e.Body.Kind()) + " does not amend a message")
	}
}

// Target returns which message a body is about: its event id, its platform
// reference, or both. Bodies that are about no message have neither.
func Target(b Body) (EventID, Ref) {
	switch b := b.(type) {
	case Edited:
		return b.Target, b.Ref
	case Deleted:
		return b.Target, b.Ref
	case Reacted:
		return b.Target, b.Ref
	case Unreacted:
		return b.Target, b.Ref
	case Pinned:
		return b.Target, b.Ref
	case Unpinned:
		return b.Target, b.Ref
	case Said, Joined, Left, Renamed, Migrated, Linked, Unlinked, Delivered, Failed, Gap, Unreadable,
		Noted, Bookmarked, Woke, Thought, Acted, Result, Summed, Goal, Remembered, Forgot,
		Denied, Transitioned, Compacted, Stopped, Spanned:
		return "", Ref{}
	}
	panic("spaces: target misses a body")
}

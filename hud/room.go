package hud

import (
	"cmp"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// A SharedRoom holds what the minds in one room share: its chat, the labels of its people, and
// the index of its lines. Applying an event takes the same time for any length of
// history.
//
// A Room is not safe for concurrent use, reads included.
type SharedRoom struct {
	Chat *spaces.Chat
	Info spaces.RoomInfo

	space    spaces.Space
	members  []spaces.SpaceMember
	met      bool // members is up to date with the last event
	speakers speakerNames
	changes  []editEvent // in seq order
	index    *recall.LineIndex
	files    []int          // messages that carry files, those deleted since too
	cache    []messageCache // of each message
	cleaned  nameCache

	readership spaces.ReaderProof
	reworded   map[int][]int64 // by message, the seqs of what changed its words
}

// An editEvent is an event about an earlier message: it has no entry of its own in
// the chat.
type editEvent struct {
	seq    int64
	id     spaces.EventID
	kind   spaces.EventKind
	actor  spaces.EntityID
	at     time.Time
	target int // index of the message
	emoji  string
	all    bool // everybody's
}

// NewRoom returns an empty room; fold its events with [Room.Apply].
func NewRoom(s spaces.Space) *SharedRoom {
	r := &SharedRoom{Chat: spaces.NewChat(), space: s}
	r.index = recall.NewIndex(r.Chat, func(id spaces.EntityID) string { return r.speakers.find(id).label })
	return r
}

// Space returns the space that was last set.
func (r *SharedRoom) Space() spaces.Space { return r.space }

// SetSpace sets the current state of the space.
func (r *SharedRoom) SetSpace(s spaces.Space) { r.space = s }

// Members returns who is in the room, in the order they came. The slice is the room's.
func (r *SharedRoom) Members() []spaces.SpaceMember { return r.members }

// Met reports whether SetMembers was called since the last event that may have changed
// the members, their names or the name of the room.
func (r *SharedRoom) Met() bool { return r.met }

// SetMembers sets the current members. Those who left keep their names on the lines they
// wrote.
func (r *SharedRoom) SetMembers(ms []spaces.SpaceMember) {
	r.members, r.met = slices.Clone(ms), true
	slices.SortFunc(r.members, func(a, b spaces.SpaceMember) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.ID, b.ID))
	})
	for _, m := range r.members {
		r.rename(m.Entity)
	}
}

// Meet compares members with how they were last seen. If one of them has another name
// now, [Room.Met] returns false until SetMembers is called.
func (r *SharedRoom) Meet(seen []spaces.SpaceMember) {
	next := 0
	for i := range seen {
		s := &seen[i]
		if next >= len(r.members) || r.members[next].ID != s.ID { // the usual case: the same order
			next = slices.IndexFunc(r.members, func(m spaces.SpaceMember) bool { return m.ID == s.ID })
		}
		if next < 0 {
			next = 0
			continue // an event will report who joined
		}
		m := &r.members[next]
		r.met = r.met && m.Name == s.Name && m.Handle == s.Handle && m.Kind == s.Kind && m.Zone == s.Zone
		next++
	}
}

// Grow makes room for n more messages.
func (r *SharedRoom) Grow(n int) {
	r.Chat.Grow(n)
	r.cache = slices.Grow(r.cache, n)
}

// Apply folds one event. Events must come in seq order; one that was applied
// already changes nothing.
func (r *SharedRoom) Apply(e spaces.Event) {
	if e.Seq <= r.Chat.Upto {
		return
	}
	r.met = r.met && !r.changesPeople(e)
	r.Info.Apply(e)
	r.readership.Apply(e)
	title := r.Chat.Threads[e.Thread]
	changed := r.Chat.Apply(e)
	if e.Thread != "" && r.Chat.Threads[e.Thread] != title {
		r.retitled(e.Thread)
	}
	for _, i := range changed {
		switch {
		case i == len(r.cache):
			r.cache = append(r.cache, messageCache{})
			r.listFiles(i)
		case amends(e.Body):
			r.amended(e, i)
		default: // a delivery or failure; it may have brought an edit that came too early
			r.rewrite(i)
		}
	}
}

// retitled clears the caches of the lines of a thread, which show its title.
func (r *SharedRoom) retitled(thread spaces.ThreadID) {
	for i := range r.cache { // the newest message has none yet
		if r.Chat.Messages[i].Thread == thread {
			r.cache[i] = messageCache{}
		}
	}
}

// changesPeople reports whether the event may change who is in the room or what
// they or it are called.
func (r *SharedRoom) changesPeople(e spaces.Event) bool {
	switch e.Body.Kind() {
	case spaces.KindJoined, spaces.KindLeft, spaces.KindRenamed, spaces.KindLinked, spaces.KindUnlinked:
		return true
	default: // the first event of a sender
		return e.Actor != "" && !slices.ContainsFunc(r.members, func(x spaces.SpaceMember) bool { return x.ID == e.Actor })
	}
}

// amends reports whether b is about an earlier message and leaves no entry.
func amends(b spaces.EventBody) bool {
	id, ref := spaces.Target(b)
	return id != "" || !ref.IsZero()
}

func (r *SharedRoom) amended(e spaces.Event, i int) {
	c := editEvent{seq: e.Seq, id: e.ID, kind: e.Body.Kind(), actor: e.Actor, at: e.At, target: i}
	if b, ok := e.Body.(spaces.ReactionAdded); ok {
		c.emoji = b.Emoji
	}
	if b, ok := e.Body.(spaces.ReactionRemoved); ok {
		c.emoji, c.all = b.Emoji, b.Everybody
	}
	if c.kind == spaces.KindEdited || c.kind == spaces.KindTranscribed || c.kind == spaces.KindDeleted {
		r.rewrite(i)
	}
	if c.kind == spaces.KindEdited || c.kind == spaces.KindTranscribed {
		if r.reworded == nil {
			r.reworded = map[int][]int64{}
		}
		r.reworded[i] = append(r.reworded[i], e.Seq)
	}
	r.cache[i] = messageCache{}
	r.changes = append(r.changes, c)
}

// listFiles adds message i to those with files, or removes it, by what it carries now.
func (r *SharedRoom) listFiles(i int) {
	at, listed := slices.BinarySearch(r.files, i)
	switch carries := len(r.Chat.Messages[i].Attachments) > 0; {
	case carries && !listed:
		r.files = slices.Insert(r.files, at, i)
	case !carries && listed:
		r.files = slices.Delete(r.files, at, at+1)
	}
}

// rewrite updates caches and indexes of message i after a change.
func (r *SharedRoom) rewrite(i int) {
	m := &r.Chat.Messages[i]
	r.cache[i] = messageCache{}
	r.listFiles(i)
	r.index.LinkReply(i)
	if m.EditedAt.IsZero() && !m.Heard && !m.Deleted {
		return
	}
	r.index.MarkChanged(i)
}

// SetEmbeddings stores the embeddings of messages; those of unknown or deleted
// messages are ignored.
func (r *SharedRoom) SetEmbeddings(es []spaces.MessageEmbedding) { r.index.SetEmbeddings(es) }

// WithoutEmbedding returns the oldest messages whose embeddings are missing, at most
// limit of them. Only the newest messages of a room are compared, so only they need one.
func (r *SharedRoom) WithoutEmbedding(limit int) []*spaces.ChatMessage {
	return r.index.WithoutEmbedding(limit)
}

// changesIn returns the changes with after < seq ≤ upto.
func (r *SharedRoom) changesIn(after, upto int64) []editEvent {
	from, _ := slices.BinarySearchFunc(r.changes, after+1, func(c editEvent, s int64) int { return cmp.Compare(c.seq, s) })
	to, _ := slices.BinarySearchFunc(r.changes, upto+1, func(c editEvent, s int64) int { return cmp.Compare(c.seq, s) })
	return r.changes[from:max(from, to)]
}

// messagesIn returns the bounds of the messages with after < seq ≤ upto.
func (r *SharedRoom) messagesIn(after, upto int64) (from, to int) {
	from = r.Chat.After(after)
	return from, max(from, r.Chat.After(upto))
}

// ID returns the id of the room's space.
func (r *SharedRoom) ID() spaces.SpaceID { return r.space.ID }

// OneChat reports whether the room was never mapped to more than one chat: then all its
// members can read all of it.
func (r *SharedRoom) OneChat() bool { return r.readership.OneChat() }

// Name returns the name of the room, which people choose.
func (r *SharedRoom) Name() string { return cmp.Or(r.space.Name, r.Info.Title) }

// Upto returns the seq of the last event applied.
func (r *SharedRoom) Upto() int64 { return r.Chat.Upto }

// cleanedName returns the room's cleaned name, and a key that all names that look like
// it share.
func (r *SharedRoom) cleanedName() (name, key string) {
	if now := r.Name(); r.cleaned.key == "" || r.cleaned.from != now {
		clean := CleanName(now)
		r.cleaned = nameCache{now, clean, skeleton(clean)}
	}
	return r.cleaned.name, r.cleaned.key
}

// A nameCache holds a room's cleaned name and the name it was made from.
type nameCache struct{ from, name, key string }

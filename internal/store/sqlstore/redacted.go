package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// The log is never changed: what an inner log repeats of words that were deleted
// is taken out whenever it is read.

const (
	insertRedacted engine.Query = `insert into redacted (agent, circle, event) values ($1, $2, $3) on conflict (agent, circle, event) do nothing`
	redactedEvents engine.Query = `select ` + eventColumns + ` from redacted r join events e on e.id = r.event where r.agent = $1 and r.circle = $2`
	wordsAfter     engine.Query = `select ` + eventColumns + ` from events e
where e.space = $1 and e.branch = 'main' and e.seq > $2 and e.kind in ('edited', 'transcribed') order by e.seq`
	deletedAfter engine.Query = `select ` + eventColumns + ` from events e
where e.space = $1 and e.branch = 'main' and e.seq > $2 and e.kind = 'deleted' order by e.seq`
)

// A derivedFrom is what a message led to.
type derivedFrom struct {
	words    []spaces.EventID // it, its edits, and what was heard in it
	memories []string         // what a mind remembers because of it
}

// ledTo finds what a message led to, beside the writer: rooms and inner logs are long.
func (s AgentStore) ledTo(ctx context.Context, m spaces.Mind, message spaces.EventID) (c derivedFrom, err error) {
	gone, err := eventOf(ctx, s.s.engine, message)
	if err != nil || gone == nil {
		return c, err
	}
	later, err := engine.AllRows(ctx, s.s.engine, wordsAfter, []any{string(gone.Space), gone.Seq}, scanEvent)
	if err != nil {
		return c, err
	}
	c.words = []spaces.EventID{message}
	said, _ := gone.Body.(spaces.Said)
	for _, e := range later {
		if target, ref := spaces.Target(e.Body); target == message || target == "" && !ref.IsZero() && ref == said.Ref {
			c.words = append(c.words, e.ID)
		}
	}
	var self spaces.InnerState
	err = engine.EachRow(ctx, s.s.engine, selfEvents, []any{string(m.Inner()), string(m.Branch())}, func(r engine.Row) error {
		e, err := scanEvent(r)
		self.Apply(e)
		return err
	})
	for _, x := range self.Memories.All {
		if slices.Contains(x.Sources, message) {
			c.memories = append(c.memories, x.ID)
		}
	}
	return c, err
}

// takeBack notes that a mind is not to be shown a message any more, and forgets what
// it remembered because of it (SECURITY S14).
func (t *frameTx) hideMessage(ctx context.Context, m spaces.Mind, c derivedFrom, at time.Time) error {
	for _, id := range c.words {
		if err := t.Run(ctx, insertRedacted, string(m.Agent), string(m.Circle), string(id)); err != nil {
			return fmt.Errorf("note that %s is deleted: %w", id, err)
		}
	}
	for _, id := range c.memories {
		if err := t.inner.append(ctx, m, at, spaces.Forgot{ID: id}); err != nil {
			return err
		}
	}
	return nil
}

// wordsOf returns the words that an event adds to a message; most add none.
func wordsOf(b spaces.Body) string {
	if b, ok := b.(spaces.Said); ok {
		return b.Text
	}
	if b, ok := b.(spaces.Edited); ok {
		return b.Text
	}
	if b, ok := b.(spaces.Transcribed); ok {
		return b.Text
	}
	return ""
}

// A redactor is what a mind's inner log must not show.
type redactor struct {
	messages map[spaces.EventID]bool
	words    hud.Redaction
}

// silenceOf returns what must not be shown of a mind's inner log.
func silenceOf(ctx context.Context, src engine.Reader, m spaces.Mind) (redactor, error) {
	s := redactor{messages: map[spaces.EventID]bool{}}
	var gone []string
	events, err := engine.AllRows(ctx, src, redactedEvents, []any{string(m.Agent), string(m.Circle)}, scanEvent)
	for _, e := range events {
		s.messages[e.ID] = true
		gone = append(gone, wordsOf(e.Body))
	}
	if err != nil || len(events) == 0 {
		return s, err
	}
	own, err := engine.AllRows(ctx, src, selfEvents, []any{string(m.Inner()), string(m.Branch())}, scanEvent)
	for _, e := range own { // what they led to is silent as well
		gone = append(gone, madeOf(e.Body, func(id spaces.EventID) bool { return s.messages[id] })...)
	}
	s.words = hud.NewRedaction(gone...)
	return s, err
}

// withdrawn adds those of a room's events, the oldest first, whose message was deleted
// before any mind was shown it: nothing was taken back of them.
func (s redactor) withdrawn(ctx context.Context, src engine.Reader, events []spaces.Event) error {
	if len(events) == 0 {
		return nil
	}
	deleted, err := deletedSince(ctx, src, events[0].Space, events[0].Seq)
	s.cover(events, deleted)
	return err
}

// deletedSince returns the messages of a room that were deleted behind an event of its log.
func deletedSince(ctx context.Context, src engine.Reader, space spaces.SpaceID, seq int64) (supersededMessages, error) {
	later, err := engine.AllRows(ctx, src, deletedAfter, []any{string(space), seq}, scanEvent)
	deleted := supersededMessages{}
	for _, e := range later {
		deleted.note(spaces.Target(e.Body))
	}
	return deleted, err
}

// cover adds those of the events whose message is among the deleted.
func (s redactor) cover(events []spaces.Event, deleted supersededMessages) {
	for _, e := range events {
		message, ref := spaces.Target(e.Body)
		if said, ok := e.Body.(spaces.Said); ok {
			message, ref = e.ID, said.Ref
		}
		if deleted[message] || deleted[ref] {
			s.messages[e.ID] = true
		}
	}
}

// from returns the events without the words of messages that are among the deleted.
func (o supersededMessages) from(events []spaces.Event) []spaces.Event {
	s := redactor{messages: map[spaces.EventID]bool{}}
	s.cover(events, o)
	return s.over(events)
}

// madeOf returns the words of a memory or a proposal that one of the messages led to.
func madeOf(b spaces.Body, led func(spaces.EventID) bool) []string {
	if b, ok := b.(spaces.Remembered); ok && slices.ContainsFunc(b.Sources, led) {
		return []string{b.Fact}
	}
	if b, ok := b.(spaces.Noted); ok && b.SetUp != nil && slices.ContainsFunc(b.SetUp.Sources, led) {
		return b.SetUp.Plan.Words()
	}
	return nil
}

// over returns the events as they may be shown.
func (s redactor) over(events []spaces.Event) []spaces.Event {
	if len(s.messages) == 0 {
		return events
	}
	for i := range events {
		events[i].Body = s.body(events[i])
	}
	return events
}

// body returns what an event may show: a message that was deleted nothing, and
// what a mind wrote itself what is not of its words.
func (s redactor) body(e spaces.Event) spaces.Body {
	said := func(words string) string { return words }
	if s.messages[e.ID] {
		said = func(string) string { return "[deleted]" }
	}
	switch b := e.Body.(type) {
	case spaces.Said:
		if s.messages[e.ID] {
			b.Attachments, b.Args = nil, ""
		}
		return reworded(&b, &b.Text, said)
	case spaces.Edited:
		return reworded(&b, &b.Text, said)
	case spaces.Transcribed:
		return reworded(&b, &b.Text, said)
	case spaces.Noted:
		if b.SetUp != nil {
			left := b.SetUp.Without(func(id spaces.EventID) bool { return s.messages[id] }, s.words.Text)
			b.SetUp = &left
		}
		return reworded(&b, &b.Text, s.words.Text)
	case spaces.Bookmarked:
		return reworded(&b, &b.Label, s.words.Text)
	case spaces.Thought:
		return reworded(&b, &b.Text, s.words.Text)
	case spaces.ToolCalled:
		return reworded(&b, &b.Args, s.words.Text)
	case spaces.CycleSummarised:
		return reworded(&b, &b.Text, s.words.Text)
	case spaces.Goal:
		return reworded(&b, &b.Text, s.words.Text)
	case spaces.Remembered:
		return reworded(&b, &b.Fact, s.words.Text)
	case spaces.Deleted, spaces.Reacted, spaces.Unreacted, spaces.Joined, spaces.Left, spaces.Renamed, spaces.Pinned,
		spaces.Unpinned, spaces.Migrated, spaces.Linked, spaces.Unlinked, spaces.Delivered, spaces.Failed, spaces.Gap,
		spaces.Unreadable, spaces.CycleStarted, spaces.ToolReturned, spaces.Forgot, spaces.Denied, spaces.Transitioned, spaces.Compacted,
		spaces.Stopped, spaces.SpanChanged:
		return b
	}
	panic("record: silence over an unknown body")
}

// reworded returns what b is with its words, which stand in a field of it, changed.
func reworded[B spaces.Body](b *B, words *string, change func(string) string) spaces.Body {
	*words = change(*words)
	return *b
}

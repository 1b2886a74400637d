package tables

import (
	"context"
	"slices"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	redactedEvents engine.QueryText = `select ` + EventColumns + ` from redacted r join events e on e.id = r.event where r.agent = $1 and r.circle = $2`
	// SelectOwnEvents selects the events of a mind that its notes, goals and memories are
	// folded from.
	SelectOwnEvents engine.QueryText = `select ` + EventColumns + ` from events e
where e.space = $1 and e.branch = $2
  and (e.kind = 'noted' or e.kind = 'goal' or e.kind = 'remembered' or e.kind = 'forgot' or e.kind = 'bookmarked') order by e.seq`
	// TextChangesAfter selects the edits and transcriptions of a space after a seq.
	TextChangesAfter engine.QueryText = `select ` + EventColumns + ` from events e
where e.space = $1 and e.branch = 'main' and e.seq > $2 and e.kind in ('edited', 'transcribed') order by e.seq`
	deletedAfter engine.QueryText = `select ` + EventColumns + ` from events e
where e.space = $1 and e.branch = 'main' and e.seq > $2 and e.kind = 'deleted' order by e.seq`
)

// A Redactor removes deleted messages from events, and what a mind wrote because of
// them. The events in the log are never changed: they are redacted whenever they are
// read.
type Redactor struct {
	Messages map[spaces.EventID]bool // deleted
	Words    hud.TextRedaction       // of deleted messages and of what they led to
}

// LoadRedactor returns the redactor of a mind's inner log.
func LoadRedactor(ctx context.Context, src engine.QueryReader, m spaces.Mind) (Redactor, error) {
	s := Redactor{Messages: map[spaces.EventID]bool{}}
	var gone []string
	events, err := engine.AllRows(ctx, src, redactedEvents, []any{string(m.Agent), string(m.Circle)}, ScanEvent)
	for _, e := range events {
		s.Messages[e.ID] = true
		gone = append(gone, TextOfBody(e.Body))
	}
	if err != nil || len(events) == 0 {
		return s, err
	}
	own, err := engine.AllRows(ctx, src, SelectOwnEvents, []any{string(m.Inner()), string(m.Branch())}, ScanEvent)
	for _, e := range own { // what they led to
		gone = append(gone, madeOf(e.Body, func(id spaces.EventID) bool { return s.Messages[id] })...)
	}
	s.Words = hud.NewRedaction(gone...)
	return s, err
}

// HideWithdrawn adds the events of a space whose message was deleted before any mind
// was shown it. The events are in order.
func (s Redactor) HideWithdrawn(ctx context.Context, src engine.QueryReader, events []spaces.Event) error {
	if len(events) == 0 {
		return nil
	}
	deleted, err := DeletedSince(ctx, src, events[0].Space, events[0].Seq)
	s.HideDeleted(events, deleted)
	return err
}

// HideDeleted adds the events whose message is among the deleted ones.
func (s Redactor) HideDeleted(events []spaces.Event, deleted SupersededMessages) {
	for _, e := range events {
		message, ref := spaces.Target(e.Body)
		if said, ok := e.Body.(spaces.MessagePosted); ok {
			message, ref = e.ID, said.Ref
		}
		if deleted[message] || deleted[ref] {
			s.Messages[e.ID] = true
		}
	}
}

// Redact returns the events as they may be shown.
func (s Redactor) Redact(events []spaces.Event) []spaces.Event {
	if len(s.Messages) == 0 {
		return events
	}
	for i := range events {
		events[i].Body = s.redactedBody(events[i])
	}
	return events
}

// redactedBody returns what an event may show: a message that was deleted nothing, and
// what a mind wrote itself what is not of its words.
func (s Redactor) redactedBody(e spaces.Event) spaces.EventBody {
	said := func(words string) string { return words }
	if s.Messages[e.ID] {
		said = func(string) string { return "[deleted]" }
	}
	switch b := e.Body.(type) {
	case spaces.MessagePosted:
		if s.Messages[e.ID] {
			b.Attachments, b.Args = nil, ""
		}
		return reworded(&b, &b.Text, said)
	case spaces.MessageEdited:
		if s.Messages[e.ID] {
			b.Attachments = nil
		}
		return reworded(&b, &b.Text, said)
	case spaces.VoiceTranscribed:
		return reworded(&b, &b.Text, said)
	case spaces.NoteAdded:
		if b.SetUp != nil {
			left := b.SetUp.Without(func(id spaces.EventID) bool { return s.Messages[id] }, s.Words.Text)
			b.SetUp = &left
		}
		return reworded(&b, &b.Text, s.Words.Text)
	case spaces.BookmarkSet:
		return reworded(&b, &b.Label, s.Words.Text)
	case spaces.ThoughtRecorded:
		return reworded(&b, &b.Text, s.Words.Text)
	case spaces.ToolCalled:
		return reworded(&b, &b.Args, s.Words.Text)
	case spaces.CycleSummarised:
		return reworded(&b, &b.Text, s.Words.Text)
	case spaces.GoalSet:
		return reworded(&b, &b.Text, s.Words.Text)
	case spaces.MemoryAdded:
		return reworded(&b, &b.Fact, s.Words.Text)
	case spaces.MessageDeleted, spaces.ReactionAdded, spaces.ReactionRemoved, spaces.MemberJoined, spaces.MemberLeft, spaces.SpaceRenamed, spaces.MessagePinned,
		spaces.MessageUnpinned, spaces.ChatMigrated, spaces.ChatLinked, spaces.ChatUnlinked, spaces.ActionDelivered, spaces.SendFailed, spaces.HistoryGap,
		spaces.UnreadableUpdate, spaces.CycleStarted, spaces.ToolReturned, spaces.MemoryRemoved, spaces.CallDenied, spaces.StatesChanged, spaces.ContextCompacted,
		spaces.CycleStopped, spaces.SpanChanged:
		return b
	}
	panic("store: redact an unknown body")
}

// SupersededMessages are messages that later events have changed or taken away, by their
// event or by their place on a platform.
type SupersededMessages map[any]bool

// Observe takes the events of a log from the newest on. It returns the words of one
// that has words which stand, and notes which older ones it overtakes.
func (o SupersededMessages) Observe(e spaces.Event) (text string, stands bool) {
	switch b := e.Body.(type) { //nolint:gochecksumtype // the query brings these four alone
	case spaces.MessagePosted:
		return b.Text, !o[e.ID] && !o[b.Ref]
	case spaces.MessageEdited:
		stands = !o[b.Target] && !o[b.Ref]
		o.Add(b.Target, b.Ref)
		return b.Text, stands
	case spaces.VoiceTranscribed: // takes nothing from what was written beside it
		return b.Text, !o[b.Target] && !o[b.Ref]
	case spaces.MessageDeleted:
		o.Add(b.Target, b.Ref)
	}
	return "", false
}

// Add adds the message of an event.
func (o SupersededMessages) Add(target spaces.EventID, ref spaces.MessageRef) {
	if target != "" {
		o[target] = true
	}
	if ref != (spaces.MessageRef{}) {
		o[ref] = true
	}
}

// Redact returns the events without the words of messages that are among the deleted.
func (o SupersededMessages) Redact(events []spaces.Event) []spaces.Event {
	s := Redactor{Messages: map[spaces.EventID]bool{}}
	s.HideDeleted(events, o)
	return s.Redact(events)
}

// DeletedSince returns the messages of a room that were deleted behind an event of its log.
func DeletedSince(ctx context.Context, src engine.QueryReader, space spaces.SpaceID, seq int64) (SupersededMessages, error) {
	later, err := engine.AllRows(ctx, src, deletedAfter, []any{string(space), seq}, ScanEvent)
	deleted := SupersededMessages{}
	for _, e := range later {
		deleted.Add(spaces.Target(e.Body))
	}
	return deleted, err
}

// CurrentText returns the words of a message as they stand; none once it was deleted.
func CurrentText(ctx context.Context, src engine.QueryReader, e spaces.Event) (string, error) {
	said, _ := e.Body.(spaces.MessagePosted)
	deleted, err := DeletedSince(ctx, src, e.Space, e.Seq)
	if err != nil || deleted[e.ID] || deleted[said.Ref] {
		return "", err
	}
	words := TextOfBody(e.Body)
	err = engine.EachRow(ctx, src, TextChangesAfter, []any{string(e.Space), e.Seq}, func(r engine.ResultRow) error {
		later, err := ScanEvent(r)
		if b, edited := later.Body.(spaces.MessageEdited); edited && (b.Target == e.ID || b.Target == "" && !b.Ref.IsZero() && b.Ref == said.Ref) {
			words = b.Text
		}
		return err
	})
	return words, err
}

// OwnEvents returns the events of a mind's own objects as they may be shown.
func OwnEvents(ctx context.Context, src engine.QueryReader, m spaces.Mind) ([]spaces.Event, error) {
	own, err := engine.AllRows(ctx, src, SelectOwnEvents, []any{string(m.Inner()), string(m.Branch())}, ScanEvent)
	if err != nil {
		return nil, err
	}
	gone, err := LoadRedactor(ctx, src, m)
	return gone.Redact(own), err
}

// TextOfBody returns the words that an event adds to a message; most add none.
func TextOfBody(b spaces.EventBody) string {
	if b, ok := b.(spaces.MessagePosted); ok {
		return b.Text
	}
	if b, ok := b.(spaces.MessageEdited); ok {
		return b.Text
	}
	if b, ok := b.(spaces.VoiceTranscribed); ok {
		return b.Text
	}
	return ""
}

// madeOf returns the words of a memory or a proposal that one of the messages led to.
func madeOf(b spaces.EventBody, led func(spaces.EventID) bool) []string {
	if b, ok := b.(spaces.MemoryAdded); ok && slices.ContainsFunc(b.Sources, led) {
		return []string{b.Fact}
	}
	if b, ok := b.(spaces.NoteAdded); ok && b.SetUp != nil && slices.ContainsFunc(b.SetUp.Sources, led) {
		return b.SetUp.Plan.Words()
	}
	return nil
}

// reworded returns what b is with its words, which stand in a field of it, changed.
func reworded[B spaces.EventBody](b *B, words *string, change func(string) string) spaces.EventBody {
	*words = change(*words)
	return *b
}

package tables

import (
	"context"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// EventChainAt selects the id and the hash chain of the event at a seq of a branch.
	EventChainAt engine.QueryText = `select id, chain from events where space = $1 and branch = $2 and seq = $3`
	// EventColumns lists the columns that StoredEvent scans, of the table events e.
	EventColumns engine.QueryText = `e.space, e.branch, e.seq, e.id, e.parents, e.object, e.thread, e.reply_to, e.kind, e.actor, e.at, e.recv_at,
  coalesce(e.source, ''), e.readers, e.cause, e.root, e.depth, e.body`
	selectEvent engine.QueryText = `select ` + EventColumns + ` from events e where e.id = $1`
	eventsAfter engine.QueryText = `select ` + EventColumns + ` from events e
where e.space = $1 and e.branch = $2 and e.seq > $3 and e.seq <= $4 order by e.seq limit $5 + 0`
	eventIDAt engine.QueryText = `select id from events where space = $1 and branch = $2 and seq = $3`
	// EventActor selects the author of an event.
	EventActor   engine.QueryText = `select actor from events where id = $1`
	branchFrom   engine.QueryText = `select from_branch, fork_seq from branches where space = $1 and id = $2`
	messageEvent engine.QueryText = `select event from messages where account = $1 and chat = $2 and message = $3 and space = $4`
)

// A StoredEvent is an event whose body is not decoded yet.
type StoredEvent struct {
	spaces.Event
	kind    spaces.EventKind
	RawBody []byte
}

// Fields returns the scan destinations for EventColumns.
func (s *StoredEvent) Fields() []any {
	return []any{
		&s.Space, &s.Branch, &s.Seq, &s.ID,
		engine.ScanList(&s.Parents),
		&s.Object, &s.Thread, &s.ReplyTo,
		&s.kind, &s.Actor,
		engine.ScanTime(&s.At),
		engine.ScanTime(&s.RecvAt),
		&s.Source, &s.Readers, &s.Cause, &s.Root, &s.Depth, &s.RawBody,
	}
}

// Decode returns the event with its body decoded.
func (s *StoredEvent) Decode() (spaces.Event, error) {
	var err error
	s.Body, err = spaces.Decode(s.kind, s.RawBody)
	return s.Event, err
}

// ScanEvent scans the columns EventColumns.
func ScanEvent(r engine.ResultRow) (spaces.Event, error) {
	var s StoredEvent
	if err := r.Scan(s.Fields()...); err != nil {
		return spaces.Event{}, err
	}
	return s.Decode()
}

// EventByID returns an event; nil if it does not exist.
func EventByID(ctx context.Context, src engine.QueryReader, id spaces.EventID) (*spaces.Event, error) {
	return engine.FirstRow(ctx, src, selectEvent, []any{string(id)}, ScanEvent)
}

// EventIDAtSeq returns the id of the event at seq of a space; empty if there is none.
func EventIDAtSeq(ctx context.Context, src engine.QueryReader, space spaces.SpaceID, seq int64) (id spaces.EventID, err error) {
	if seq == 0 {
		return "", nil
	}
	_, err = engine.ScanRow(ctx, src, eventIDAt, []any{string(space), string(spaces.Primary), seq}, &id)
	return id, err
}

// BranchEvents returns the events of a branch after one seq and up to another. A fork
// shares the events before it with the branch it was made from.
func BranchEvents(ctx context.Context, src engine.QueryReader, space spaces.SpaceID, branch spaces.BranchID, after, upto int64, limit int) ([]spaces.Event, error) {
	var out []spaces.Event
	if branch != spaces.Primary {
		var from spaces.BranchID
		var fork int64
		if _, err := engine.ScanRow(ctx, src, branchFrom, []any{string(space), string(branch)}, &from, &fork); err != nil {
			return nil, err
		}
		if from != "" && after < fork {
			shared, err := BranchEvents(ctx, src, space, from, after, min(fork, upto), limit)
			if err != nil {
				return nil, err
			}
			out = shared
		}
	}
	if len(out) >= limit {
		return out, nil
	}
	var s StoredEvent // one for all rows
	fields := s.Fields()
	err := engine.EachRow(ctx, src, eventsAfter, []any{string(space), string(branch), after, upto, limit - len(out)}, func(r engine.ResultRow) error {
		s = StoredEvent{}
		if err := r.Scan(fields...); err != nil {
			return err
		}
		e, err := s.Decode()
		if err == nil {
			out = append(out, e)
		}
		return err
	})
	return out, err
}

// MessageEventAt returns the event of the message at ref; empty if there is none.
func MessageEventAt(ctx context.Context, src engine.QueryReader, space spaces.SpaceID, ref spaces.MessageRef) (id spaces.EventID, err error) {
	if ref.IsZero() {
		return "", nil
	}
	_, err = engine.ScanRow(ctx, src, messageEvent, []any{ref.Account, ref.Chat, ref.Message, string(space)}, &id)
	return id, err
}

// CycleOfBody returns the cycle of an inner event; empty for events of no cycle.
func CycleOfBody(b spaces.EventBody) spaces.CycleID {
	switch b := b.(type) {
	case spaces.NoteAdded:
		return b.Cycle
	case spaces.BookmarkSet:
		return b.Cycle
	case spaces.CycleStarted:
		return b.Cycle
	case spaces.ThoughtRecorded:
		return b.Cycle
	case spaces.ToolCalled:
		return b.Cycle
	case spaces.ToolReturned:
		return b.Cycle
	case spaces.CycleSummarised:
		return b.Cycle
	case spaces.CallDenied:
		return b.Denial.Cycle
	case spaces.StatesChanged:
		if len(b.Moves) > 0 {
			return b.Moves[0].Cycle
		}
		return ""
	case spaces.ContextCompacted:
		return b.Cycle
	case spaces.CycleStopped:
		return b.Cycle
	case spaces.MessagePosted, spaces.MessageEdited, spaces.MessageDeleted, spaces.ReactionAdded, spaces.ReactionRemoved, spaces.MemberJoined, spaces.MemberLeft,
		spaces.SpaceRenamed, spaces.MessagePinned, spaces.MessageUnpinned, spaces.ChatMigrated, spaces.ChatLinked, spaces.ChatUnlinked, spaces.ActionDelivered,
		spaces.SendFailed, spaces.HistoryGap, spaces.UnreadableUpdate, spaces.VoiceTranscribed, spaces.GoalSet, spaces.MemoryAdded, spaces.MemoryRemoved, spaces.SpanChanged:
		return ""
	}
	panic("store: cycle of an unknown body")
}

// ScanRef scans an account, a chat and a message.
func ScanRef(r engine.ResultRow) (f spaces.MessageRef, err error) {
	return f, r.Scan(&f.Account, &f.Chat, &f.Message)
}

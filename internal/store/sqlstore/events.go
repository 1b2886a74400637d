package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertEvent engine.Query = `insert into events (space, branch, seq, id, parents, object, thread, reply_to, kind, actor, at, recv_at,
  source, readers, cause, root, depth, body, chain)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`
	eventColumns engine.Query = `e.space, e.branch, e.seq, e.id, e.parents, e.object, e.thread, e.reply_to, e.kind, e.actor, e.at, e.recv_at,
  coalesce(e.source, ''), e.readers, e.cause, e.root, e.depth, e.body`
	selectEvent engine.Query = `select ` + eventColumns + ` from events e where e.id = $1`
	eventsAfter engine.Query = `select ` + eventColumns + ` from events e
where e.space = $1 and e.branch = $2 and e.seq > $3 and e.seq <= $4 order by e.seq limit $5 + 0`
	eventIDAt     engine.Query = `select id from events where space = $1 and branch = $2 and seq = $3`
	eventOnBranch engine.Query = `select seq from events where id = $1 and space = $2 and branch = $3`
	eventActor    engine.Query = `select actor from events where id = $1`
	eventChainAt  engine.Query = `select id, chain from events where space = $1 and branch = $2 and seq = $3`
)

// An eventTx appends events to branches.
type eventTx struct {
	*writeTx
	branch *branchTx
	entity *entityTx
	file   *fileTx
	space  *spaceTx
}

// append adds e to the end of its branch. It gives e its id, unless it has one,
// its seq, its readers, its parents, unless they are named, and its root, and
// moves the head. An event that does not fit is refused with
// [spaces.ErrTimelineDecoherence] before anything is written.
func (t *eventTx) append(ctx context.Context, e *spaces.Event) error {
	stored, err := t.prepare(ctx, e)
	if err != nil {
		return err
	}
	if err := t.Run(ctx, insertEvent, stored.values()...); err != nil {
		return fmt.Errorf("append to %s: %w", e.Space, err)
	}
	return nil
}

// arrange gives e its place at the end of its branch and moves the head there. The
// caller stores it.
func (t *eventTx) prepare(ctx context.Context, e *spaces.Event) (p preparedEvent, err error) {
	l, err := t.branch.load(ctx, e.Space, e.Branch)
	if err != nil {
		return p, err
	}
	if err := t.checkCoherence(ctx, l, *e); err != nil {
		return p, err
	}
	r, err := t.space.load(ctx, e.Space)
	if err != nil {
		return p, err
	}
	e.Seq = l.HeadSeq + 1
	if e.ID == "" {
		e.ID = spaces.EventID(t.newID())
	}
	if e.Parents == nil && l.Head != "" {
		e.Parents = []spaces.EventID{l.Head}
	}
	if r.Kind == spaces.Room {
		if err := t.applyToSpace(ctx, r, e); err != nil {
			return p, err
		}
	}
	e.At, e.RecvAt = engine.FromMillis(engine.ToMillis(e.At)), engine.FromMillis(engine.ToMillis(e.RecvAt)) // as they will be read
	body, err := spaces.Encode(e.Body)
	if err != nil {
		return p, err
	}
	l.Chain = spaces.Link(l.Chain, *e, body)
	t.branch.setHead(l, *e)
	return preparedEvent{e, body, l.Chain}, nil
}

// A preparedEvent event is one that only has to be stored.
type preparedEvent struct {
	*spaces.Event
	body  []byte
	chain []byte
}

// values are the parameters of insertEvent.
func (p preparedEvent) values() []any {
	e := p.Event
	return []any{
		string(e.Space), string(e.Branch), e.Seq, string(e.ID), engine.EncodeList(e.Parents),
		string(e.Object), string(e.Thread), string(e.ReplyTo), string(e.Body.Kind()), string(e.Actor),
		engine.ToMillis(e.At), engine.ToMillis(e.RecvAt), engine.NullString(e.Source), e.Readers, string(e.Cause), string(e.Root), e.Depth, p.body, p.chain,
	}
}

// own are the parameters that differ between the events of one mind's step.
func (p preparedEvent) own() []any {
	e := p.Event
	return []any{e.Seq, string(e.ID), engine.EncodeList(e.Parents), string(e.Object), string(e.Body.Kind()), p.body, p.chain}
}

// joinIn does what an event does to its room beside the log: members, readers,
// the run of agents' messages.
func (t *eventTx) applyToSpace(ctx context.Context, r *spaceState, e *spaces.Event) error {
	if e.Root == "" {
		e.Root = e.ID
	}
	if e.Branch != spaces.Primary {
		e.Readers = r.readers
		return nil // a fork happens to nobody
	}
	if err := t.space.foldMembers(ctx, r, e.Body, e.Actor, e.Seq); err != nil {
		return err
	}
	e.Readers = r.readers
	if err := t.dropEmbedding(ctx, e.Body); err != nil {
		return err
	}
	if b, deleted := e.Body.(spaces.Deleted); deleted {
		return t.file.dropMessage(ctx, b.Target)
	}
	if b, said := e.Body.(spaces.Said); said && !b.Past {
		return t.countAgentRun(ctx, r, e.Actor)
	}
	return nil
}

// countRun counts the messages of agents since a person last spoke.
func (t *eventTx) countAgentRun(ctx context.Context, r *spaceState, actor spaces.EntityID) error {
	if _, ours := actor.IsAgent(); ours {
		r.AgentRun++
		t.space.markDirty(r)
		return nil
	}
	if r.AgentRun == 0 || actor == "" {
		return nil
	}
	if k, err := t.entity.kind(ctx, actor); err != nil || k != spaces.Human {
		return err
	}
	r.AgentRun = 0
	t.space.markDirty(r)
	return nil
}

// cohere checks that e fits the line.
func (t *eventTx) checkCoherence(ctx context.Context, l *branchState, e spaces.Event) error {
	if l == nil {
		return spaces.Cohere(nil, e, nil)
	}
	var trouble error
	verdict := spaces.Cohere(&l.Branch, e, func(id spaces.EventID) bool {
		known, err := t.branch.contains(ctx, &l.Branch, id)
		if err != nil {
			trouble = err
		}
		return known
	})
	if trouble != nil {
		return fmt.Errorf("look up parents of %s: %w", e.ID, trouble)
	}
	return verdict
}

// onLine reports whether an event is part of a branch's history, its own or the
// part it shares with the branch it left.
func (t *branchTx) contains(ctx context.Context, b *spaces.Branch, id spaces.EventID) (bool, error) {
	limit := b.HeadSeq
	for {
		var seq int64
		found, err := engine.ScanRow(ctx, t, eventOnBranch, []any{string(id), string(b.Space), string(b.ID)}, &seq)
		if err != nil {
			return false, err
		}
		if found {
			return seq <= limit, nil
		}
		if b.From == "" {
			return false, nil
		}
		limit = min(limit, b.ForkSeq)
		parent, err := t.load(ctx, b.Space, b.From)
		if err != nil || parent == nil {
			return false, err
		}
		b = &parent.Branch
	}
}

// eventIDAtSeq returns the id of a room's event at seq, empty when there is none.
func eventIDAtSeq(ctx context.Context, src engine.Reader, space spaces.SpaceID, seq int64) (id spaces.EventID, err error) {
	if seq == 0 {
		return "", nil
	}
	_, err = engine.ScanRow(ctx, src, eventIDAt, []any{string(space), string(spaces.Primary), seq}, &id)
	return id, err
}

// A storedEvent is an event as its columns hold it.
type storedEvent struct {
	spaces.Event
	kind spaces.Kind
	body []byte
}

// columns are the places of eventColumns.
func (s *storedEvent) columns() []any {
	return []any{
		&s.Space, &s.Branch, &s.Seq, &s.ID,
		engine.ScanList(&s.Parents),
		&s.Object, &s.Thread, &s.ReplyTo,
		&s.kind, &s.Actor,
		engine.ScanTime(&s.At),
		engine.ScanTime(&s.RecvAt),
		&s.Source, &s.Readers, &s.Cause, &s.Root, &s.Depth, &s.body,
	}
}

// event returns the event with its body read.
func (s *storedEvent) event() (spaces.Event, error) {
	var err error
	s.Body, err = spaces.Decode(s.kind, s.body)
	return s.Event, err
}

func scanEvent(r engine.Row) (spaces.Event, error) {
	var s storedEvent
	if err := r.Scan(s.columns()...); err != nil {
		return spaces.Event{}, err
	}
	return s.event()
}

// eventOf returns an event by its id; nil when it is not in the record.
func eventOf(ctx context.Context, src engine.Reader, id spaces.EventID) (*spaces.Event, error) {
	return engine.FirstRow(ctx, src, selectEvent, []any{string(id)}, scanEvent)
}

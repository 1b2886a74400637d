package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertEvent engine.QueryText = `insert into events (space, branch, seq, id, parents, object, thread, reply_to, kind, actor, at, recv_at,
  source, readers, cause, root, depth, body, chain)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`

	eventOnBranch engine.QueryText = `select seq from events where id = $1 and space = $2 and branch = $3`
)

// An eventTx appends events to branches.
type eventTx struct {
	*writeTx
	branch *branchTx
	entity *entityTx
	file   *fileTx
	space  *spaceTx
}

// append appends e to its branch. It sets the id, unless e has one, the seq, the
// readers, the parents, unless they are named, and the root, and moves the head. An
// event that does not fit is refused with [spaces.ErrTimelineDecoherence] before
// anything is written.
func (t *eventTx) append(ctx context.Context, e *spaces.Event) error {
	stored, err := t.prepare(ctx, e)
	if err != nil {
		return err
	}
	return t.Add(ctx, eventRows, stored.values()...)
}

// prepare sets the place of e at the end of its branch and moves the head. The caller
// stores e.
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

// A preparedEvent is an event that is ready to be stored.
type preparedEvent struct {
	*spaces.Event
	body  []byte
	chain []byte
}

// values returns the parameters of insertEvent.
func (p preparedEvent) values() []any {
	e := p.Event
	return []any{
		string(e.Space), string(e.Branch), e.Seq, string(e.ID), engine.EncodeList(e.Parents),
		string(e.Object), string(e.Thread), string(e.ReplyTo), string(e.Body.Kind()), string(e.Actor),
		engine.ToMillis(e.At), engine.ToMillis(e.RecvAt), engine.NullString(e.Source), e.Readers, string(e.Cause), string(e.Root), e.Depth, p.body, p.chain,
	}
}

// applyToSpace applies an event to its space: members, readers, files, and the count of
// agent messages.
func (t *eventTx) applyToSpace(ctx context.Context, r *spaceState, e *spaces.Event) error {
	if e.Root == "" {
		e.Root = e.ID
	}
	if e.Branch != spaces.Primary {
		e.Readers = r.readers
		return nil // forks change no members
	}
	if err := t.space.foldMembers(ctx, r, e.Body, e.Actor, e.Seq); err != nil {
		return err
	}
	e.Readers = r.readers
	if err := t.dropEmbedding(ctx, e.Body); err != nil {
		return err
	}
	if b, deleted := e.Body.(spaces.MessageDeleted); deleted {
		return t.file.dropMessage(ctx, b.Target)
	}
	if b, said := e.Body.(spaces.MessagePosted); said && !b.Past {
		return t.countAgentRun(ctx, r, e.Actor)
	}
	return nil
}

// countAgentRun counts the messages of agents since a person last spoke.
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

// checkCoherence checks that e fits the branch.
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

// contains reports whether an event is on a branch or on the part that it shares with
// the branch it was forked from.
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

const (
	selectBranch engine.QueryText = `select from_branch, fork_seq, head, head_seq, chain, last_at from branches where space = $1 and id = $2`
	insertBranch engine.QueryText = `insert into branches (space, id, from_branch, fork_seq, head, head_seq, chain, last_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)`
	moveHead engine.QueryText = insertBranch + `
on conflict (space, id) do update set head = excluded.head, head_seq = excluded.head_seq, chain = excluded.chain, last_at = excluded.last_at`
)

type branchKey struct {
	space  spaces.SpaceID
	branch spaces.BranchID
}

// A branchState is a cached branch. Its head may be ahead of the table.
type branchState struct {
	spaces.Branch
	lastAt int64 // when the head was recorded
	dirty  bool
	recent [4]spaces.EventID // the last events that were appended, by seq
}

// A branchTx reads and moves the heads of branches.
type branchTx struct {
	*writeTx
}

// load returns a branch; nil if there is none.
func (t *branchTx) load(ctx context.Context, space spaces.SpaceID, branch spaces.BranchID) (*branchState, error) {
	key := branchKey{space, branch}
	if l, ok := t.cache.branches[key]; ok {
		return l, nil
	}
	l := &branchState{Branch: spaces.Branch{Space: space, ID: branch}}
	found, err := engine.ScanRow(ctx, t, selectBranch, []any{string(space), string(branch)},
		&l.From, &l.ForkSeq, &l.Head, &l.HeadSeq, &l.Chain, &l.lastAt)
	if err != nil {
		return nil, fmt.Errorf("read branch %s of %s: %w", branch, space, err)
	}
	if !found {
		return nil, nil
	}
	t.cache.branches[key] = l
	return l, nil
}

// create stores a new branch.
func (t *branchTx) create(ctx context.Context, b spaces.Branch) error {
	err := t.Run(ctx, insertBranch, string(b.Space), string(b.ID), string(b.From), b.ForkSeq, string(b.Head), b.HeadSeq, engine.NonNilBytes(b.Chain), 0)
	if err != nil {
		return fmt.Errorf("create branch %s of %s: %w", b.ID, b.Space, err)
	}
	t.cache.branches[branchKey{b.Space, b.ID}] = &branchState{Branch: b}
	return nil
}

// setHead makes e the head of the branch. Flush writes the table.
func (t *branchTx) setHead(l *branchState, e spaces.Event) {
	l.Head, l.HeadSeq, l.lastAt = e.ID, e.Seq, engine.ToMillis(e.RecvAt)
	l.recent[e.Seq%int64(len(l.recent))] = e.ID
	if !l.dirty {
		l.dirty = true
		t.cache.movedBranches = append(t.cache.movedBranches, l)
	}
}

// idAt returns the id of the event at a seq of the primary branch; empty if there is none.
func (t *branchTx) idAt(ctx context.Context, l *branchState, seq int64) (spaces.EventID, error) {
	if n := int64(len(l.recent)); seq > l.HeadSeq-n && seq <= l.HeadSeq && seq > 0 && l.recent[seq%n] != "" {
		return l.recent[seq%n], nil
	}
	return tables.EventIDAtSeq(ctx, t, l.Space, seq)
}

// Fork creates a branch of a space that shares the primary one up to at. It copies
// nothing; its events reach no platform.
func (s *Store) Fork(ctx context.Context, space spaces.SpaceID, at int64, branch spaces.BranchID) error {
	err := s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.branch.fork(ctx, space, at, branch) })
	if err != nil {
		return fmt.Errorf("fork %s at %d: %w", space, at, err)
	}
	return nil
}

func (t *branchTx) fork(ctx context.Context, space spaces.SpaceID, at int64, branch spaces.BranchID) error {
	b := spaces.Branch{Space: space, ID: branch, From: spaces.Primary, ForkSeq: at, HeadSeq: at}
	found, err := engine.ScanRow(ctx, t, tables.EventChainAt, []any{string(space), string(spaces.Primary), at}, &b.Head, &b.Chain)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("event %d: %w", at, engine.ErrUnknown)
	}
	return t.create(ctx, b)
}

// appendRehearsed appends an effect of a rehearsal to its branch, which the first effect
// creates. Outbox, inbox and members do not change.
func (k *stepTx) appendRehearsed(ctx context.Context, f spaces.RoomEffect) error {
	l, err := k.branch.load(ctx, f.Space, f.Branch)
	if err != nil {
		return err
	}
	if l == nil {
		at, err := k.branch.headSeq(ctx, f.Space)
		if err != nil {
			return err
		}
		if err := k.branch.fork(ctx, f.Space, at, f.Branch); err != nil {
			return err
		}
	}
	e := k.effectEvent(f, f.Branch)
	if err := k.event.append(ctx, &e); err != nil {
		return err
	}
	k.result.Events = append(k.result.Events, e)
	return nil
}

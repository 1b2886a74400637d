package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertInner engine.QueryText = `insert into spaces (id, kind, name, circle, wake, direct, closed, created_at)
values ($1, 'inner', $2, '', 'none', 0, 1, $3) on conflict (id) do nothing`
)

// An innerTx appends to the inner logs of minds.
type innerTx struct {
	*writeTx
	branch *branchTx
	event  *eventTx
}

// append appends bodies to a mind's inner log, in order.
func (t *innerTx) append(ctx context.Context, m spaces.Mind, at time.Time, bodies ...spaces.EventBody) error {
	for _, b := range bodies {
		err := t.event.append(ctx, &spaces.Event{
			Space: m.Inner(), Branch: m.Branch(), Object: innerObject(b), Actor: m.Agent.Entity(), At: at, RecvAt: at, Body: b,
		})
		if err != nil {
			return fmt.Errorf("append %s to inner log of %s: %w", b.Kind(), m, err)
		}
	}
	return nil
}

// ensureMind creates the inner space of an agent and the branch of the mind, if they are
// missing.
func (t *innerTx) ensureMind(ctx context.Context, m spaces.Mind, at time.Time) error {
	l, err := t.branch.load(ctx, m.Inner(), m.Branch())
	if err != nil || l != nil {
		return err
	}
	if err := t.Run(ctx, insertInner, string(m.Inner()), string(m.Agent), engine.ToMillis(at)); err != nil {
		return fmt.Errorf("create inner space of %s: %w", m.Agent, err)
	}
	return t.branch.create(ctx, spaces.Branch{Space: m.Inner(), ID: m.Branch()})
}

// innerObject returns the object of the inner space that folds the body.
func innerObject(b spaces.EventBody) spaces.ObjectID {
	switch b.Kind() {
	case spaces.KindNoted:
		return spaces.NotesObject
	case spaces.KindGoal:
		return spaces.GoalsObject
	case spaces.KindRemembered, spaces.KindForgot:
		return spaces.MemoryObject
	case spaces.KindBookmarked, spaces.KindCompacted:
		return spaces.ContextObject
	default: // what the agent did and saw is its own
		return spaces.SelfObject
	}
}

var _ shell.MemoryEditor = AgentStore{}

// Forget implements [shell.MemoryEditor].
func (s MemoryStore) Forget(ctx context.Context, m spaces.Mind, id string, at time.Time) (bool, error) {
	has, err := readmodel.MemoryOf(ctx, s.s.engine, m)
	if err != nil {
		return false, fmt.Errorf("read what %s has: %w", m, err)
	}
	if !slices.ContainsFunc(has.Self.Memories.All, func(x spaces.Memory) bool { return x.ID == id }) &&
		!slices.ContainsFunc(has.Plans, func(t spaces.WakeTimer) bool { return t.Name() == id }) {
		return false, nil
	}
	err = s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if err := t.inner.append(ctx, m, at, spaces.MemoryRemoved{ID: id}); err != nil {
			return err
		}
		if err := t.Run(ctx, forgetTimer, string(m.Agent), string(m.Circle), id); err != nil {
			return err
		}
		return t.addToMeta(ctx, tables.MetaMemoryChanges, 1)
	})
	if err != nil {
		return false, fmt.Errorf("forget %s of %s: %w", id, m, err)
	}
	return true, nil
}

// Correct implements [shell.MemoryEditor].
func (s MemoryStore) Correct(ctx context.Context, m spaces.Mind, id, fact string, at time.Time) (bool, error) {
	has, err := readmodel.MemoryOf(ctx, s.s.engine, m)
	if err != nil {
		return false, fmt.Errorf("read what %s has: %w", m, err)
	}
	kept := has.Self.Memories.All
	i := slices.IndexFunc(kept, func(x spaces.Memory) bool { return x.ID == id })
	if i < 0 {
		return false, nil
	}
	x := kept[i]
	err = s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if err := t.inner.append(ctx, m, at, spaces.MemoryAdded{ID: id, Fact: fact, What: x.What, Sources: x.Sources, Readers: x.Readers, Space: x.Space, Corrected: true}); err != nil {
			return err
		}
		return t.addToMeta(ctx, tables.MetaMemoryChanges, 1)
	})
	if err != nil {
		return false, fmt.Errorf("correct %s of %s: %w", id, m, err)
	}
	return true, nil
}

// Changes implements [shell.MemoryEditor].
func (s MemoryStore) Changes(ctx context.Context) (n int64, err error) {
	if n, err = tables.MetaNumber(ctx, s.s.engine, tables.MetaMemoryChanges); err != nil {
		return 0, fmt.Errorf("count changes of memories: %w", err)
	}
	return n, nil
}

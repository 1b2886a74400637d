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
	// The events of a step share most of what they are: the second and those after
	// it bring only their own.
	insertTwo                    = insertEvent + `, ($1, $2, $20, $21, $22, $23, $7, $8, $24, $10, $11, $12, $13, $14, $15, $16, $17, $25, $26)`
	insertThree                  = insertTwo + `, ($1, $2, $27, $28, $29, $30, $7, $8, $31, $10, $11, $12, $13, $14, $15, $16, $17, $32, $33)`
	insertFour                   = insertThree + `, ($1, $2, $34, $35, $36, $37, $7, $8, $38, $10, $11, $12, $13, $14, $15, $16, $17, $39, $40)`
	insertInner engine.QueryText = `insert into spaces (id, kind, name, circle, wake, direct, closed, created_at)
values ($1, 'inner', $2, '', 'none', 0, 1, $3) on conflict (id) do nothing`
)

// insertUpToFour !insertUpToFour has a statement for each number of events.
var insertUpToFour = [...]engine.QueryText{insertEvent, insertTwo, insertThree, insertFour}

// An innerTx appends to the inner logs of minds.
type innerTx struct {
	*writeTx
	branch *branchTx
	event  *eventTx
}

// append appends bodies to a mind's inner log, in order.
func (t *innerTx) append(ctx context.Context, m spaces.Mind, at time.Time, bodies ...spaces.EventBody) error {
	for few := range slices.Chunk(bodies, len(insertUpToFour)) {
		if err := t.appendChunk(ctx, m, at, few); err != nil {
			return fmt.Errorf("append to inner log of %s: %w", m, err)
		}
	}
	return nil
}

// appendChunk appends up to four bodies in one statement.
func (t *innerTx) appendChunk(ctx context.Context, m spaces.Mind, at time.Time, bodies []spaces.EventBody) error {
	var values []any
	for n, b := range bodies {
		p, err := t.event.prepare(ctx, &spaces.Event{
			Space: m.Inner(), Branch: m.Branch(), Object: innerObject(b), Actor: m.Agent.Entity(), At: at, RecvAt: at, Body: b,
		})
		if err != nil {
			return fmt.Errorf("%s: %w", b.Kind(), err)
		}
		if n == 0 {
			values = p.values()
		} else {
			values = append(values, p.own()...)
		}
	}
	return t.Run(ctx, insertUpToFour[len(bodies)-1], values...)
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

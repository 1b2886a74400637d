package record

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

const insertInner query = `insert into spaces (id, kind, name, circle, wake, direct, closed, created_at)
values ($1, 'inner', $2, '', 'none', 0, 1, $3) on conflict (id) do nothing`

// inner appends bodies to a mind's own log, in order.
func (t *tx) inner(ctx context.Context, m spaces.Mind, at time.Time, bodies ...spaces.Body) error {
	for _, b := range bodies {
		e := spaces.Event{
			Space: m.Inner(), Branch: m.Branch(), Object: innerObject(b), Actor: m.Agent.Entity(), At: at, RecvAt: at, Body: b,
		}
		if err := t.append(ctx, &e); err != nil {
			return fmt.Errorf("append %s to inner log of %s: %w", b.Kind(), m, err)
		}
	}
	return nil
}

// mind makes sure of the inner space of an agent and of the branch that is the
// mind (SEQ-01).
func (t *tx) mind(ctx context.Context, m spaces.Mind, at time.Time) error {
	l, err := t.line(ctx, m.Inner(), m.Branch())
	if err != nil || l != nil {
		return err
	}
	if err := t.run(ctx, insertInner, string(m.Inner()), string(m.Agent), ms(at)); err != nil {
		return fmt.Errorf("create inner space of %s: %w", m.Agent, err)
	}
	return t.newLine(ctx, spaces.Branch{Space: m.Inner(), ID: m.Branch()})
}

// innerObject returns the object of the inner space that folds the body (SEQ-03).
func innerObject(b spaces.Body) spaces.ObjectID {
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

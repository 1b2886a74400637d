package sqlstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	closedCycles engine.Query = `select id, n, space, rest, stop, ended, tokens from cycles
where agent = $1 and circle = $2 and n > $3 order by n limit $4 + 0`
	turnsBetween engine.Query = `select t.cycle, t.n, t.body from cycles y join turns t on t.cycle = y.id
where y.agent = $1 and y.circle = $2 and y.n >= $3 and y.n <= $4 order by y.n, t.n`
	selfEvents engine.Query = `select ` + eventColumns + ` from events e
where e.space = $1 and e.branch = $2
  and (e.kind = 'noted' or e.kind = 'goal' or e.kind = 'remembered' or e.kind = 'forgot' or e.kind = 'bookmarked') order by e.seq`
	failedActions engine.Query = `select o.event, o.id, o.state, o.code, o.reason from outbox o join cycles y on y.id = o.cycle
where o.agent = $1 and y.circle = $2
  and (o.state = 'unknown' or o.state = 'failed' or o.state = 'expired' or o.state = 'cancelled')
  and o.settled >= $3 order by o.n`
	branchFrom engine.Query = `select from_branch, fork_seq from branches where space = $1 and id = $2`
)

// Space implements [shell.Record].
func (s AgentStore) Space(ctx context.Context, id spaces.SpaceID) (spaces.Space, []spaces.Member, error) {
	var space spaces.Space
	var members []spaces.Member
	err := s.s.engine.View(ctx, func(ctx context.Context, src engine.Reader) error {
		var found bool
		var err error
		space, found, err = spaceOf(ctx, src, id)
		if err == nil && !found {
			err = engine.ErrUnknown
		}
		if err == nil {
			members, err = membersOf(ctx, src, id, noLimit)
		}
		return err
	})
	if err != nil {
		return spaces.Space{}, nil, fmt.Errorf("read space %s: %w", id, err)
	}
	return space, members, nil
}

// Events implements [shell.Record].
func (s AgentStore) Events(ctx context.Context, space spaces.SpaceID, branch spaces.BranchID, after int64, limit int) ([]spaces.Event, error) {
	out, err := branchEvents(ctx, s.s.engine, space, branch, after, math.MaxInt64, limit)
	if err != nil {
		return nil, fmt.Errorf("read events of %s: %w", space, err)
	}
	return out, nil
}

// branchEvents reads the events of a branch after one seq and up to another;
// what a fork shares comes from the branch it left.
func branchEvents(ctx context.Context, src engine.Reader, space spaces.SpaceID, branch spaces.BranchID, after, upto int64, limit int) ([]spaces.Event, error) {
	var out []spaces.Event
	if branch != spaces.Primary {
		var from spaces.BranchID
		var fork int64
		if _, err := engine.ScanRow(ctx, src, branchFrom, []any{string(space), string(branch)}, &from, &fork); err != nil {
			return nil, err
		}
		if from != "" && after < fork {
			shared, err := branchEvents(ctx, src, space, from, after, min(fork, upto), limit)
			if err != nil {
				return nil, err
			}
			out = shared
		}
	}
	if len(out) >= limit {
		return out, nil
	}
	own, err := engine.AllRows(ctx, src, eventsAfter, []any{string(space), string(branch), after, upto, limit - len(out)}, scanEvent)
	return append(out, own...), err
}

// Self implements [shell.Record].
func (s AgentStore) Self(ctx context.Context, m spaces.Mind) ([]spaces.Event, error) {
	var out []spaces.Event
	err := s.s.engine.View(ctx, func(ctx context.Context, src engine.Reader) (err error) {
		out, err = selfOf(ctx, src, m)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read self of %s: %w", m, err)
	}
	return out, nil
}

// selfOf returns the events of a mind's own objects as they may be shown.
func selfOf(ctx context.Context, src engine.Reader, m spaces.Mind) ([]spaces.Event, error) {
	own, err := engine.AllRows(ctx, src, selfEvents, []any{string(m.Inner()), string(m.Branch())}, scanEvent)
	if err != nil {
		return nil, err
	}
	gone, err := silenceOf(ctx, src, m)
	return gone.over(own), err
}

// Cycles implements [shell.Record].
func (s AgentStore) Cycles(ctx context.Context, m spaces.Mind, n int64, turns bool, limit int) ([]spaces.ClosedCycle, error) {
	var out []spaces.ClosedCycle
	err := s.s.engine.View(ctx, func(ctx context.Context, src engine.Reader) (err error) {
		out, err = engine.AllRows(ctx, src, closedCycles, []any{string(m.Agent), string(m.Circle), n, limit}, func(r engine.Row) (c spaces.ClosedCycle, err error) {
			return c, r.Scan(&c.ID, &c.N, &c.Space, &c.Rest, &c.Stop, engine.ScanTime(&c.Ended), &c.Tokens)
		})
		if err != nil || !turns || len(out) == 0 {
			return err
		}
		return fillTurns(ctx, src, m, out)
	})
	if err != nil {
		return nil, fmt.Errorf("read cycles of %s: %w", m, err)
	}
	return out, nil
}

// fillTurns gives cycles, which are in order of their number, their turns.
func fillTurns(ctx context.Context, src engine.Reader, m spaces.Mind, cycles []spaces.ClosedCycle) error {
	at := map[spaces.CycleID]int{}
	for i, c := range cycles {
		at[c.ID] = i
	}
	args := []any{string(m.Agent), string(m.Circle), cycles[0].N, cycles[len(cycles)-1].N}
	return engine.EachRow(ctx, src, turnsBetween, args, func(r engine.Row) error {
		t, err := scanTurn(r)
		if err != nil {
			return err
		}
		c := &cycles[at[t.Cycle]]
		c.Turns = append(c.Turns, t)
		return nil
	})
}

// Entities implements [shell.Record].
func (s AgentStore) Entities(ctx context.Context, ids []spaces.EntityID) (map[spaces.EntityID]spaces.Entity, error) {
	return entitiesOf(ctx, s.s.engine, ids)
}

// Failures implements [shell.Record].
func (s AgentStore) Failures(ctx context.Context, m spaces.Mind, since time.Time) ([]spaces.Failed, error) {
	out, err := engine.AllRows(ctx, s.s.engine, failedActions, []any{string(m.Agent), string(m.Circle), engine.ToMillis(since)}, func(r engine.Row) (f spaces.Failed, err error) {
		return f, r.Scan(&f.Message, &f.Action, &f.State, &f.Code, &f.Reason)
	})
	if err != nil {
		return nil, fmt.Errorf("read failures of %s: %w", m, err)
	}
	return out, nil
}

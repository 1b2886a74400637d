package record

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/fault"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	timerColumns query = `id, agent, circle, kind, space, note, due, cycle`
	insertTimer  query = `insert into timers (id, agent, circle, kind, space, note, due, cycle) values ($1, $2, $3, $4, $5, $6, $7, $8)`
	selectTimer  query = `select ` + timerColumns + ` from timers where id = $1`
	dueTimers    query = `select ` + timerColumns + ` from timers where fired_by = '' and due <= $1 order by due, id limit $2 + 0`
	fireTimer    query = `update timers set fired_by = $2, fired_at = $3 where id = $1`
	nextTimer    query = `select coalesce(min(t), 0) from (
  select min(due) as t from timers where fired_by = ''
  union all
  select min(not_before) as t from inbox where state = 'ready' and not_before > 0) w`
)

func scanTimer(r row) (t spaces.Timer, err error) {
	return t, r.Scan(&t.ID, &t.Mind.Agent, &t.Mind.Circle, &t.Kind, &t.Space, &t.Note, stamp{&t.Due}, &t.Cycle)
}

func timerOf(ctx context.Context, src Reader, id string) (*spaces.Timer, error) {
	found, err := all(ctx, src, selectTimer, []any{id}, scanTimer)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Due implements [shell.Inbox]. A timer whose mind is busy with another wake
// without a space stays due.
func (s Shell) Due(ctx context.Context, at time.Time, holder string, ttl time.Duration, limit int) ([]spaces.Wake, error) {
	waits, err := all(ctx, s.s.engine, dueTimers, []any{ms(at), limit}, scanTimer)
	if err != nil {
		return nil, fmt.Errorf("list due timers: %w", err)
	}
	if len(waits) == 0 {
		return nil, nil
	}
	var fired []spaces.Wake
	err = s.s.write(ctx, func(ctx context.Context, t *tx) error {
		due, err := all(ctx, t, dueTimers, []any{ms(at), limit}, scanTimer)
		if err != nil {
			return err
		}
		for _, timer := range due {
			w, err := t.fire(ctx, timer, at, holder, ttl)
			if err != nil {
				return err
			}
			if w != nil {
				fired = append(fired, *w)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("fire timers: %w", err)
	}
	if len(fired) == 0 {
		return nil, nil
	}
	return fired, fault.Point("wake.claimed")
}

// fire turns a timer into a claimed cycle without a space.
func (t *tx) fire(ctx context.Context, timer spaces.Timer, at time.Time, holder string, ttl time.Duration) (*spaces.Wake, error) {
	c := spaces.Claim{Mind: timer.Mind, Holder: holder, TTL: ttl, At: at}
	p, err := t.place(ctx, c.Mind, "")
	if err != nil || p.leased.After(at) || p.open != "" {
		return nil, err // an earlier wake runs, or waits to be resumed first
	}
	w := &spaces.Wake{
		Cycle: spaces.Cycle{
			ID: spaces.CycleID(t.newID()), Mind: timer.Mind, State: spaces.CycleOpen, Wake: string(timer.Kind), Started: at,
		},
		Timer: &timer,
	}
	y := &w.Cycle
	y.Authority = spaces.OfMember
	if _, err := one(ctx, t, runAuthority, []any{string(timer.Cycle)}, &y.Authority); err != nil { // of who had it set
		return nil, err
	}
	if err := t.run(ctx, fireTimer, timer.ID, string(y.ID), ms(at)); err != nil {
		return nil, err
	}
	if err := t.rouse(ctx, timer, at); err != nil {
		return nil, err
	}
	return w, t.start(ctx, c, p, w)
}

// NextTimer implements [shell.Inbox].
func (s Shell) NextTimer(ctx context.Context) (time.Time, bool, error) {
	var at time.Time
	if _, err := one(ctx, s.s.engine, nextTimer, nil, stamp{&at}); err != nil {
		return time.Time{}, false, fmt.Errorf("read next timer: %w", err)
	}
	return at, !at.IsZero(), nil
}

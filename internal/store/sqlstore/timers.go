package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/cron"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/internal/timezone"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertTimer engine.QueryText = `insert into timers (` + tables.TimerColumns + `, payers) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`
	repeatTimer engine.QueryText = `insert into timers (` + tables.TimerColumns + `, payers)
select $2, agent, circle, kind, space, note, $3, cycle, plan, cron, zone, set_by, set_at, 0, look, payers from timers where id = $1`

	selectTimer engine.QueryText = `select ` + tables.TimerColumns + ` from timers where id = $1`
	// dueTimers !A timer stays due while its mind runs another wake without a space, and the
	// result of a tool call while it runs one in the room of the call.
	dueTimers engine.QueryText = `select ` + tables.TimerColumns + ` from timers t where fired_by = '' and due <= $1 and not exists (
  select 1 from cycles y where y.agent = t.agent and y.circle = t.circle and y.state = 'open' and (y.space = '' or t.kind = 'tool' and y.space = t.space)) order by due, id limit $2 + 0`

	forgetTimer engine.QueryText = `delete from timers where agent = $1 and circle = $2 and kind in ('timer', 'plan') and fired_by = '' and (id = $3 or plan = $3)`
	lookTimer   engine.QueryText = `update timers set look = $5 where id = $1 or agent = $2 and circle = $3 and fired_by = '' and plan = $4 and plan <> ''`
	fireTimer   engine.QueryText = `update timers set fired_by = $2, fired_at = $3 where id = $1`
	nextTimer   engine.QueryText = `select coalesce(min(t), 0) from (
  select min(due) as t from timers where fired_by = ''
  union all
  select min(not_before) as t from inbox where state = 'ready' and not_before > 0) w`
)

// timerValues returns the arguments of insertTimer, for a timer that was set for the
// words of people.
func timerValues(t spaces.WakeTimer, people []spaces.EntityID) []any {
	return []any{
		t.ID, string(t.Mind.Agent), string(t.Mind.Circle), string(t.Kind), string(t.Space), t.Note, engine.CeilMillis(t.Due), string(t.Cycle), t.Plan, t.Cron, t.Zone, string(t.SetBy), engine.ToMillis(t.SetAt), t.Tries, encodeLook(t.Look),
		engine.EncodeList(people),
	}
}

func encodeLook(l spaces.TimerLook) string {
	if !l.Wanted() {
		return engine.EncodeList[spaces.TimerLook](nil)
	}
	return engine.EncodeList([]spaces.TimerLook{l})
}

// looked stores what the look of a timer came to, with it and with the next one of its
// plan.
func (t *timerTx) looked(ctx context.Context, w *spaces.WakeTimer) error {
	if w == nil {
		return nil
	}
	return t.Run(ctx, lookTimer, w.ID, string(w.Mind.Agent), string(w.Mind.Circle), w.Plan, encodeLook(w.Look))
}

func timerOf(ctx context.Context, src engine.QueryReader, id string) (*spaces.WakeTimer, error) {
	return tables.QueryTimer(ctx, src, selectTimer, id)
}

// Due implements [shell.WakeQueue].
func (s WakeStore) Due(ctx context.Context, at time.Time, holder string, ttl time.Duration, limit int, here func(spaces.AgentID) bool) ([]spaces.Wake, error) {
	soon, err := dueOf(ctx, s.s.engine, engine.ToMillis(s.s.clock().ToShared(at)), limit, here)
	if err != nil {
		return nil, fmt.Errorf("list due timers: %w", err)
	}
	if len(soon) == 0 {
		return nil, nil // mostly there is nothing; this avoids a transaction
	}
	var fired []spaces.Wake
	err = s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		due, err := dueOf(ctx, t, t.SharedMillis(at), limit, here)
		if err != nil {
			return err
		}
		for _, timer := range due {
			w, err := t.timer.fire(ctx, timer, at, holder, ttl)
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
	return fired, failpoint.Point("wake.claimed")
}

// dueOf returns up to limit due timers of agents that are here.
func dueOf(ctx context.Context, src engine.QueryReader, at int64, limit int, here func(spaces.AgentID) bool) ([]spaces.WakeTimer, error) {
	for reach := limit; ; reach *= 2 {
		due, err := engine.AllRows(ctx, src, dueTimers, []any{at, reach}, tables.ScanTimer)
		if err != nil {
			return nil, err
		}
		whole := len(due) < reach
		due = slices.DeleteFunc(due, func(t spaces.WakeTimer) bool { return !here(t.Mind.Agent) })
		if whole || len(due) >= limit {
			return due[:min(len(due), limit)], nil
		}
	}
}

// A timerTx fires timers.
type timerTx struct {
	*writeTx
	claim   *claimTx
	span    *spanTx
	mission *missionTx
}

// fire turns a timer into a claimed cycle without a space.
func (t *timerTx) fire(ctx context.Context, timer spaces.WakeTimer, at time.Time, holder string, ttl time.Duration) (*spaces.Wake, error) {
	c := spaces.WakeClaim{Mind: timer.Mind, Holder: holder, TTL: ttl, At: at}
	p, err := t.claim.leaseState(ctx, c.Mind, "", at)
	if err != nil || p.leased || p.openCycle != "" {
		return nil, err // an earlier wake runs, or waits to be resumed first
	}
	w := &spaces.Wake{Cycle: spaces.Cycle{
		ID: spaces.CycleID(t.newID()), Mind: timer.Mind, State: spaces.CycleOpen, Wake: string(timer.Kind), Started: at, Authority: spaces.OfMember,
	}}
	switch timer.Kind {
	case spaces.TimerTask:
		var wanted bool
		if w.Task, wanted, err = t.mission.due(ctx, timer, at); err != nil {
			return nil, err
		}
		if !wanted {
			return nil, t.Run(ctx, dropTimer, timer.ID)
		}
	case spaces.TimerTool, spaces.TimerSleep:
		if w.Task, err = t.mission.inherited(ctx, timer.Cycle); err != nil {
			return nil, err
		}
	case spaces.TimerAct, spaces.TimerPlan:
	}
	y := &w.Cycle
	if _, err := engine.ScanRow(ctx, t, runAuthority, []any{string(timer.Cycle)}, &y.Authority); err != nil { // of who had it set
		return nil, err
	}
	if err := t.Run(ctx, fireTimer, timer.ID, string(y.ID), engine.ToMillis(at)); err != nil {
		return nil, err
	}
	if err := t.scheduleNext(ctx, timer, at); err != nil {
		return nil, err
	}
	if w.Timer, err = timerOf(ctx, t, timer.ID); err != nil {
		return nil, err
	}
	if err := t.span.openAwake(ctx, timer, at); err != nil {
		return nil, err
	}
	return w, t.claim.storeCycle(ctx, c, p, w)
}

// scheduleNext stores the next timer of a plan, after now: firings that were missed are
// made up for by one. A plan whose cron line matches no later day ends.
func (t *timerTx) scheduleNext(ctx context.Context, timer spaces.WakeTimer, at time.Time) error {
	if timer.Cron == "" {
		return nil
	}
	at = t.Clock().ToShared(at)
	if in := timezone.Named(timer.Zone); in != nil {
		at = at.In(in)
	}
	due, err := cron.NextTime(timer.Cron, at)
	if err != nil {
		return nil //nolint:nilerr // it fired for the last time
	}
	return t.Run(ctx, repeatTimer, timer.ID, t.newID(), engine.CeilMillis(due))
}

// NextTimer implements [shell.WakeQueue].
func (s WakeStore) NextTimer(ctx context.Context) (time.Time, bool, error) {
	var at time.Time
	if _, err := engine.ScanRow(ctx, s.s.engine, nextTimer, nil, engine.ScanTime(&at)); err != nil {
		return time.Time{}, false, fmt.Errorf("read next timer: %w", err)
	}
	return s.s.clock().ToLocal(at), !at.IsZero(), nil
}

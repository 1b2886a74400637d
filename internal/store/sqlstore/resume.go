package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	openCycle engine.QueryText = `select ` + tables.CycleColumns + `, crashes, timer from cycles
where agent = $1 and circle = $2 and space = $3 and state = 'open'`
	// innerSince !The part of the inner log of an open cycle has no end yet; other
	// cycles of the mind may have written between.
	innerSince engine.QueryText = `select ` + tables.EventColumns + ` from events e
where e.space = $1 and e.branch = $2 and e.seq >= (select inner_from from cycles where id = $3) order by e.seq`
	crashCycle engine.QueryText = `update cycles set crashes = crashes + 1, epoch = $2 where id = $1`
	// unchargeCycle !A cycle that commits did not crash its process.
	unchargeCycle engine.QueryText = `update cycles set crashes = 0 where id = $1`
	unchargeRows  engine.QueryText = `update inbox set crashes = 0 where cycle = $1 and cycle <> '' and state = 'claimed'`
	// besideSuspect !A suspect was open at two crashes and has committed nothing since.
	besideSuspect engine.QueryText = `select exists (select 1 from cycles y where y.id = $1 and y.crashes + 1 >= $2 and exists (
  select 1 from cycles x join leases l on l.agent = x.agent and l.circle = x.circle and l.space = x.space
  where x.state = 'open' and x.crashes >= $2 and x.id <> y.id and l.expires - l.ttl > $3))`
	goOn engine.QueryText = `update cycles set epoch = $2 where id = $1`
	// leaveRows !Resuming a cycle counts a crash. A process that stops cleanly uncounts
	// it beforehand.
	leaveRows   engine.QueryText = `update inbox set crashes = crashes - 1 where cycle <> '' and state = 'claimed' and cycle in (select y.id from cycles y ` + leftOpen + `)`
	leaveCycles engine.QueryText = `update cycles set crashes = crashes - 1 where id in (select y.id from cycles y ` + leftOpen + `)`
	leftOpen                     = `join leases l on l.agent = y.agent and l.circle = y.circle and l.space = y.space
  where y.state = 'open' and l.expires > 0 and (l.holder = $1 or $1 = '')`
	abandonCycle engine.QueryText = `update cycles set state = 'abandoned', stop = $2, detail = $3, ended = $4, inner_to = $5 where id = $1`
)

// resume leases the open cycle again, or abandons it if it has crashed too often. It
// returns nil if there is nothing to resume.
func (t *claimTx) resume(ctx context.Context, c spaces.WakeClaim, p leaseState) (*spaces.Wake, error) {
	var y spaces.Cycle
	var crashes int
	var timer string
	found, err := engine.ScanRow(ctx, t, openCycle, []any{string(c.Mind.Agent), string(c.Mind.Circle), string(c.Space)},
		append(tables.CycleFields(&y), &crashes, &timer)...)
	if err != nil || !found {
		return nil, err
	}
	l, err := t.takeLease(ctx, c, p)
	if err != nil {
		return nil, err
	}
	y.Epoch = l.Epoch
	if p.resumesOwn(c) {
		if err := t.Run(ctx, goOn, string(y.ID), y.Epoch); err != nil {
			return nil, err
		}
		return t.resumedWake(ctx, y, l, timer)
	}
	if err := t.Run(ctx, crashCycle, string(y.ID), y.Epoch); err != nil {
		return nil, err
	}
	if err := t.Run(ctx, crashAll, string(y.ID)); err != nil {
		return nil, err
	}
	if crashes+1 >= maxCrashes {
		return nil, t.abandonCrashed(ctx, y, timer, c.At)
	}
	return t.resumedWake(ctx, y, l, timer)
}

// suspectTime is how long a suspect runs alone: a cycle that crashes its process does so
// soon.
const suspectTime = 5 * time.Second

// isDeferred reports whether an open cycle must wait. A crash may be the fault of any
// open cycle; cycles that were open at two crashes are resumed one by one, so that the
// third crash shows which one it is.
func (t *claimTx) isDeferred(ctx context.Context, c spaces.WakeClaim, p leaseState) (bool, error) {
	if p.resumesOwn(c) {
		return false, nil
	}
	return engine.QueryBool(ctx, t, besideSuspect, string(p.openCycle), maxCrashes-1, t.SharedMillis(c.At.Add(-suspectTime)))
}

// resetCrashes resets the crash count of a cycle that commits.
func (k *stepTx) resetCrashes(ctx context.Context) error {
	if k.crashes <= 0 {
		return nil
	}
	if err := k.Run(ctx, unchargeCycle, string(k.commit.Step.Cycle)); err != nil {
		return err
	}
	return k.Run(ctx, unchargeRows, string(k.commit.Step.Cycle))
}

// uncountCrashes uncounts a crash of the open cycles of a process that stops cleanly;
// the last process does so for all leased cycles.
func (t *recoveryTx) uncountCrashes(ctx context.Context, process string) error {
	if alone, err := t.IsLastWriter(ctx); err != nil {
		return err
	} else if alone {
		process = ""
	}
	if err := t.Run(ctx, leaveRows, process); err != nil {
		return err
	}
	return t.Run(ctx, leaveCycles, process)
}

// resumedWake returns the wake of an open cycle with what it has done so far.
func (t *claimTx) resumedWake(ctx context.Context, y spaces.Cycle, l spaces.MindLease, timer string) (*spaces.Wake, error) {
	w := &spaces.Wake{Cycle: y, Lease: l, Resumed: true}
	entries, err := engine.AllRows(ctx, t, tables.InboxRowsOfCycle, []any{string(y.ID)}, tables.ScanInboxEntry)
	if err != nil {
		return nil, err
	}
	waits, err := engine.AllRows(ctx, t, tables.WaitsOfWake, []any{string(y.ID)}, tables.ScanWait)
	if err != nil {
		return nil, err
	}
	fillWake(w, entries, waits)
	if w.Steps, err = engine.AllRows(ctx, t, doneSteps, []any{string(y.ID)}, tables.ScanStep); err != nil {
		return nil, err
	}
	if w.Turns, err = tables.TurnsOfCycle(ctx, t, y.ID); err != nil {
		return nil, err
	}
	inner, err := engine.AllRows(ctx, t, innerSince, []any{string(y.Mind.Inner()), string(y.Mind.Branch()), string(y.ID)}, tables.ScanEvent)
	if err != nil {
		return nil, err
	}
	for _, e := range inner {
		if tables.CycleOfBody(e.Body) == y.ID {
			w.Inner = append(w.Inner, e.Body)
		}
	}
	var reach int
	if _, err := engine.ScanRow(ctx, t, isHalted, []any{string(y.ID)}, &reach); err != nil {
		return nil, err
	}
	w.Halted = reach > 0
	if w.Task, err = t.mission.inherited(ctx, y.ID); err != nil {
		return nil, err
	}
	if timer != "" {
		w.Timer, err = timerOf(ctx, t, timer)
	}
	return w, err
}

// abandonCrashed abandons a cycle that crashed too often. Its rows, which have the same
// crash count, become dead. Where it called a tool that writes, its results wake the mind.
func (t *claimTx) abandonCrashed(ctx context.Context, y spaces.Cycle, timer string, at time.Time) error {
	detail := fmt.Sprintf("its process ended %d times while it ran", maxCrashes)
	clear(t.cache.handled)
	t.cache.recent = newRecentState()
	if err := errors.Join(t.tools.leave(ctx, &y, at), t.tools.tellUnread(ctx, y.ID, timer, at), t.mission.crashed(ctx, &y, at)); err != nil {
		return err
	}
	dead, err := t.wait.eventsOf(ctx, y.Space, cyclesEvents, string(y.ID))
	if err != nil {
		return err
	}
	if err := t.Run(ctx, dropAll, string(y.ID), maxCrashes, "crashed "+string(y.ID)); err != nil {
		return err
	}
	if len(dead) > 0 {
		if _, err := t.wait.settleUnanswered(ctx, y.Mind.Agent, y.Space, dead, spaces.WaitFailed, at); err != nil {
			return err
		}
	}
	if err := t.cycle.abandon(ctx, y, spaces.StopCoordinator, detail, at); err != nil {
		return err
	}
	t.log.Warn("cycle abandoned", "cycle", y.ID, "mind", y.Mind.String(), "space", y.Space)
	return nil
}

// abandon ends a cycle that will not be resumed. The caller has settled its rows.
func (t *cycleTx) abandon(ctx context.Context, y spaces.Cycle, stop spaces.StopReason, detail string, at time.Time) error {
	if err := t.inner.append(ctx, y.Mind, at, spaces.CycleStopped{Cycle: y.ID, Reason: stop, Detail: detail}); err != nil {
		return err
	}
	own, err := t.branch.load(ctx, y.Mind.Inner(), y.Mind.Branch())
	if err != nil {
		return err
	}
	if err := t.Run(ctx, abandonCycle, string(y.ID), string(stop), detail, engine.ToMillis(at), own.HeadSeq); err != nil {
		return err
	}
	if err := t.Run(ctx, dropSteps, string(y.ID)); err != nil {
		return err
	}
	return t.Run(ctx, releaseLease, string(y.Mind.Agent), string(y.Mind.Circle), string(y.Space))
}

const (
	yieldLease engine.QueryText = `update leases set expires = 0 where agent = $1 and circle = $2 and space = $3 and holder = $4 and epoch = $5`
	// yieldRows !Resuming counts a crash; a yield is none.
	yieldRows engine.QueryText = `update inbox set crashes = crashes - 1 where cycle <> '' and state = 'claimed' and cycle in (
  select id from cycles where agent = $1 and circle = $2 and space = $3 and state = 'open')`
	yieldCycle engine.QueryText = `update cycles set crashes = crashes - 1 where agent = $1 and circle = $2 and space = $3 and state = 'open'`
)

// Yield implements [shell.WakeQueue].
func (s WakeStore) Yield(ctx context.Context, l spaces.MindLease) error {
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		place := []any{string(l.Mind.Agent), string(l.Mind.Circle), string(l.Space)}
		n, err := t.Exec(ctx, yieldLease, append(place, l.Holder, l.Epoch)...)
		switch {
		case err != nil:
			return err
		case n == 0:
			return spaces.ErrLeaseLost
		}
		if err := t.Run(ctx, yieldRows, place...); err != nil {
			return err
		}
		return t.Run(ctx, yieldCycle, place...)
	})
	if err != nil {
		return fmt.Errorf("yield %s in %s: %w", l.Mind, l.Space, err)
	}
	return nil
}

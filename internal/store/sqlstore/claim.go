package sqlstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// selectPlace !What came of a tool call that was made in a room is told there between the
	// runs of the room: two runs at once would both take up what an earlier one has left. The
	// result of a call of a crashed cycle is told before all else.
	selectPlace engine.QueryText = `select
  coalesce((select expires from leases where agent = $1 and circle = $2 and space = $3), 0),
  coalesce((select epoch from leases where agent = $1 and circle = $2 and space = $3), 0),
  coalesce((select holder from leases where agent = $1 and circle = $2 and space = $3), ''),
  coalesce((select id from cycles where agent = $1 and circle = $2 and space = $3 and state = 'open'), ''),
  exists (select 1 from timers t where t.agent = $1 and t.circle = $2 and t.fired_by = '' and (t.kind = 'sleep' or t.kind = 'tool' and (
    exists (select 1 from cycles y where y.id = t.cycle and y.state = 'abandoned')
    or t.space = $3 and not exists (select 1 from cycles o where o.agent = $1 and o.circle = $2 and o.space = '' and o.state = 'open'))))
  or exists (select 1 from cycles o join timers t on t.id = o.timer
    where o.agent = $1 and o.circle = $2 and o.space = '' and o.state = 'open' and t.kind = 'tool' and (
    t.space = $3 or exists (select 1 from cycles y where y.id = t.cycle and y.state = 'abandoned')))`
	// takeLease takes a lease with the next epoch.
	takeLease engine.QueryText = `insert into leases (agent, circle, space, holder, epoch, expires, ttl) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (agent, circle, space) do update
set holder = excluded.holder, epoch = excluded.epoch, expires = excluded.expires, ttl = excluded.ttl`
	insertCycle engine.QueryText = `insert into cycles (id, agent, circle, space, epoch, state, wake, active, upto, base, started, timer, inner_from, authority, mission, task)
values ($1, $2, $3, $4, $5, 'open', $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`
	othersRun  engine.QueryText = `select exists (select 1 from cycles where space = $1 and started > $2 and agent <> $3 and state = 'open')`
	lastNumber engine.QueryText = `select coalesce(max(n), 0) from cycles where agent = $1 and circle = $2 and n is not null`
)

// longestTurn is how long others wait for an agent that speaks in turn: a model may hang.
const longestTurn = 2 * time.Minute

// Claim implements [shell.WakeQueue].
func (s WakeStore) Claim(ctx context.Context, c spaces.WakeClaim) (*spaces.Wake, error) {
	var wake *spaces.Wake
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) (err error) {
		wake, err = t.claim.claim(ctx, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim %s in %s: %w", c.Mind, c.Space, err)
	}
	return wake, nil
}

// A claimTx leases wakes and opens or resumes their cycles.
type claimTx struct {
	*writeTx
	branch  *branchTx
	cycle   *cycleTx
	inbox   *inboxTx
	inner   *innerTx
	entity  *entityTx
	outbox  *outboxTx
	space   *spaceTx
	tools   *toolRunTx
	usage   *usageTx
	wait    *waitTx
	mission *missionTx
}

// claim leases a mind in a space and returns its wake; nil if it is leased already or
// has nothing to do.
func (t *claimTx) claim(ctx context.Context, c spaces.WakeClaim) (wake *spaces.Wake, err error) {
	p, err := t.leaseState(ctx, c.Mind, c.Space, c.At)
	if err != nil || p.leased && !p.resumesOwn(c) {
		return nil, err
	}
	if p.openCycle != "" {
		if later, err := t.isDeferred(ctx, c, p); err != nil || later {
			return nil, err
		}
		if wake, err = t.resume(ctx, c, p); err != nil || wake != nil {
			return wake, err
		}
		if p, err = t.leaseState(ctx, c.Mind, c.Space, c.At); err != nil { // the cycle was abandoned
			return nil, err
		}
	}
	if c.Space == "" || p.asleep {
		return nil, nil
	}
	if c.InTurn {
		busy, err := engine.QueryBool(ctx, t, othersRun, string(c.Space), engine.ToMillis(c.At.Add(-longestTurn)), string(c.Mind.Agent))
		if err != nil || busy {
			return nil, err
		}
	}
	return t.openCycle(ctx, c, p)
}

// A leaseState is the lease of a mind in a space, with its open cycle.
type leaseState struct {
	leased    bool           // a process holds the lease
	epoch     int64          // of the last lease; 0 for none
	holder    string         // of the last lease
	openCycle spaces.CycleID // empty for none
	asleep    bool           // rows wait: until the mind's sleep is over, or until it was told what came of a tool call
}

// resumesOwn reports whether a claim resumes a cycle that was interrupted while its
// holder had the lease.
func (p *leaseState) resumesOwn(c spaces.WakeClaim) bool {
	return c.Again && p.openCycle != "" && p.holder == c.Holder && p.leased
}

// leaseState returns the lease of a mind in a space, with its open cycle.
func (t *claimTx) leaseState(ctx context.Context, m spaces.Mind, space spaces.SpaceID, at time.Time) (p leaseState, err error) {
	if free, ok := t.cache.recent.places[inboxKey{m, space}]; ok {
		return free, nil
	}
	var expires int64
	_, err = engine.ScanRow(ctx, t, selectPlace, []any{string(m.Agent), string(m.Circle), string(space)}, &expires, &p.epoch, &p.holder, &p.openCycle, &p.asleep)
	p.leased = expires > t.SharedMillis(at)
	return p, err
}

// takeLease takes a lease with the next epoch.
func (t *claimTx) takeLease(ctx context.Context, c spaces.WakeClaim, p leaseState) (spaces.MindLease, error) {
	l := spaces.MindLease{Mind: c.Mind, Space: c.Space, Holder: c.Holder, Epoch: p.epoch + 1, Expires: c.At.Add(c.TTL)}
	err := t.Add(ctx, leaseRows, string(c.Mind.Agent), string(c.Mind.Circle), string(c.Space), c.Holder, l.Epoch, t.SharedMillis(l.Expires), c.TTL.Milliseconds())
	if err != nil {
		return l, fmt.Errorf("take lease: %w", err)
	}
	delete(t.cache.recent.places, inboxKey{c.Mind, c.Space})
	delete(t.cache.recent.runs, p.openCycle)
	return l, nil
}

// openCycle runs the gate over the due rows and opens a cycle if any of them wakes.
func (t *claimTx) openCycle(ctx context.Context, c spaces.WakeClaim, p leaseState) (*spaces.Wake, error) {
	id := spaces.CycleID(t.newID())
	woken, up, err := t.runGate(ctx, c, id, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	waits, err := t.wait.claimEnded(ctx, c.Mind, c.Space, id, c.At)
	if err != nil || len(woken)+len(waits) == 0 {
		return nil, err
	}
	if up.Space == "" { // no row was due
		if up, err = t.uplinkOf(ctx, c.Mind, c.Space); err != nil {
			return nil, err
		}
	}
	wake := &spaces.Wake{Cycle: spaces.Cycle{
		ID: id, Mind: c.Mind, Space: c.Space, State: spaces.CycleOpen, Wake: shell.GateAwaited,
		Active: c.Space, Upto: up.Cursor, Started: c.At,
	}}
	if len(woken) > 0 {
		wake.Cycle.Wake = woken[0].Reason
	}
	fillWake(wake, woken, waits)
	if _, err = t.usage.setAccounts(ctx, id, slices.Concat(woken, chainEntries(waits))); err != nil {
		return nil, err
	}
	if wake.Head, err = t.branch.headSeq(ctx, c.Space); err != nil {
		return nil, err
	}
	if wake.Cycle.Authority, err = t.entity.authorityOf(ctx, woken, waits); err != nil {
		return nil, fmt.Errorf("authority of %s: %w", id, err)
	}
	for i := range waits {
		if wake.Task.Mission == "" {
			if wake.Task, err = t.mission.inherited(ctx, waits[i].Cycle); err != nil {
				return nil, err
			}
		}
	}
	return wake, t.storeCycle(ctx, c, p, wake)
}

// headSeq returns the seq of the last event of a space.
func (t *branchTx) headSeq(ctx context.Context, space spaces.SpaceID) (int64, error) {
	l, err := t.load(ctx, space, spaces.Primary)
	if err != nil || l == nil {
		return 0, err
	}
	return l.HeadSeq, nil
}

// storeCycle stores a new cycle: its lease, its row, its first step and its first event
// in the inner log.
func (t *claimTx) storeCycle(ctx context.Context, c spaces.WakeClaim, p leaseState, w *spaces.Wake) error {
	l, err := t.takeLease(ctx, c, p)
	if err != nil {
		return err
	}
	y := &w.Cycle
	w.Lease, y.Epoch = l, l.Epoch
	if y.Base, err = t.cycle.lastNumber(ctx, y.Mind); err != nil {
		return err
	}
	timer := ""
	if w.Timer != nil {
		timer = w.Timer.ID
	}
	own, err := t.branch.load(ctx, y.Mind.Inner(), y.Mind.Branch())
	if err != nil {
		return err
	}
	if own == nil {
		return fmt.Errorf("mind %s: %w", y.Mind, engine.ErrUnknown)
	}
	err = t.Add(ctx, cycleRows, string(y.ID), string(y.Mind.Agent), string(y.Mind.Circle), string(y.Space), y.Epoch,
		y.Wake, string(y.Active), y.Upto, y.Base, engine.ToMillis(y.Started), timer, own.HeadSeq+1, int(y.Authority), string(w.Task.Mission), w.Task.Task)
	if err != nil {
		return fmt.Errorf("open cycle: %w", err)
	}
	if err := t.cycle.noteUnindexed(ctx, y); err != nil {
		return err
	}
	if timer == "" {
		t.cache.recent.runs[y.ID] = runState{
			trigger: y.Space, task: w.Task, holder: l.Holder, epoch: l.Epoch, ttl: c.TTL.Milliseconds(), leased: t.SharedMillis(l.Expires) - c.TTL.Milliseconds(),
		}
	}
	if err := t.startStep(ctx, y.ID, 0, spaces.Contemplation, c.At); err != nil {
		return err
	}
	events := make([]spaces.EventID, len(w.Rows))
	for n, r := range w.Rows {
		events[n] = r.Event
	}
	return t.inner.append(ctx, y.Mind, c.At, spaces.CycleStarted{Cycle: y.ID, Space: y.Space, Reason: y.Wake, Events: events, Active: y.Active})
}

// lastNumber returns the number of the last closed cycle of a mind.
func (t *cycleTx) lastNumber(ctx context.Context, m spaces.Mind) (n int64, err error) {
	if n, ok := t.cache.closedCycles[m]; ok {
		return n, nil
	}
	if _, err := engine.ScanRow(ctx, t, lastNumber, []any{string(m.Agent), string(m.Circle)}, &n); err != nil {
		return 0, fmt.Errorf("number of the last cycle of %s: %w", m, err)
	}
	t.cache.closedCycles[m] = n
	return n, nil
}

// fillWake adds the inbox rows with their events, and the waits, to a wake.
func fillWake(w *spaces.Wake, entries []tables.InboxEntry, waits []spaces.PendingWait) {
	w.Waits = waits
	for i := range waits {
		w.Consumed = append(w.Consumed, waits[i].Consumed())
	}
	for _, e := range entries {
		w.Rows = append(w.Rows, e.InboxRow)
		w.Events = append(w.Events, e.Subject)
		w.Consumed = append(w.Consumed, e.Consumed())
	}
}

package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	openRun engine.QueryText = `select id, agent, circle, space from cycles where id = $1 and state = 'open'`
	// openRunsHere !Open cycles and waiting rows are found by partial indexes first.
	openRunsHere engine.QueryText = `select distinct y.id, y.agent, y.circle, y.space from uplinks u
join cycles o on o.agent = u.agent and o.circle = u.circle and o.state = 'open'
join cycles y on y.id = o.id and (y.space = u.space or y.active = u.space)
where u.space = $1 and ($2 = '' or u.agent = $2) order by y.id`
	haltRun engine.QueryText = `update cycles set halted = case when halted < $2 then $2 else halted end where id = $1`
	// stopChains !A row that waits for another attempt is part of a chain as well.
	stopChains engine.QueryText = `insert into roots (root, stopped) select distinct root, 1 from inbox where cycle = $1 and cycle <> ''
on conflict (root) do update set stopped = 1`
	stopWaiting engine.QueryText = `insert into roots (root, stopped) select distinct i.root, 1 from inbox i
join inbox w on w.agent = i.agent and w.circle = i.circle and w.space = i.space and w.seq = i.seq
join uplinks u on u.agent = w.agent and u.circle = w.circle and u.space = w.space
where u.space = $1 and ($2 = '' or u.agent = $2) and w.state = 'ready' on conflict (root) do update set stopped = 1`
	ignoreWaiting engine.QueryText = `update inbox set state = 'ignored', reason = 'stopped'
where (agent, circle, space, seq) in (select i.agent, i.circle, i.space, i.seq from uplinks u
  join inbox i on i.agent = u.agent and i.circle = u.circle and i.space = u.space and i.state = 'ready'
  where u.space = $1 and ($2 = '' or u.agent = $2))`

	unsentOfRun engine.QueryText = `select ` + tables.ActionColumns + ` from outbox o
where o.cycle = $1 and o.cycle <> '' and (o.state = 'ready' or o.state = 'sending') order by o.n`
	unsentOfRoom engine.QueryText = `select ` + tables.ActionColumns + ` from outbox o
join mappings m on m.account = o.account and m.chat = o.chat and m.space = $1
where o.state in ('ready', 'sending') and o.space = $1 and o.cycle <> '' and ($2 = '' or o.agent = $2) order by o.n`
	isHalted  engine.QueryText = `select halted from cycles where id = $1`
	runThread engine.QueryText = `select e.thread from inbox i join events e on e.space = i.space and e.branch = 'main' and e.seq = i.seq
where i.cycle = $1 and i.cycle <> '' order by i.seq desc limit 1`
)

// Values of the column halted.
const (
	haltedRun    = 1 // the run is stopped
	haltedUnsent = 2 // and its unsent actions are cancelled
)

// Halt implements [shell.CycleStore].
func (s RunStore) Halt(ctx context.Context, h spaces.StopRequest) (spaces.StopResult, error) {
	var done spaces.StopResult
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) (err error) {
		done, err = t.stop.stop(ctx, h)
		return err
	})
	if err != nil {
		return spaces.StopResult{}, fmt.Errorf("halt: %w", err)
	}
	return done, nil
}

// A stopTx stops runs for a person.
type stopTx struct {
	*writeTx
	outbox *outboxTx
	wait   *waitTx
}

func (t *stopTx) stop(ctx context.Context, h spaces.StopRequest) (done spaces.StopResult, err error) {
	q, key := openRunsHere, []any{string(h.Space), string(h.Agent)}
	if h.Run != "" {
		q, key = openRun, []any{string(h.Run)}
	}
	done.Runs, err = engine.AllRows(ctx, t, q, key, func(r engine.ResultRow) (run spaces.StoppedRun, err error) {
		return run, r.Scan(&run.Run, &run.Mind.Agent, &run.Mind.Circle, &run.Space)
	})
	if err != nil {
		return done, err
	}
	for _, run := range done.Runs {
		if err := t.stopRun(ctx, run, h); err != nil {
			return done, fmt.Errorf("run %s: %w", run.Run, err)
		}
	}
	if h.Run != "" {
		if done.Waits, err = t.wait.dropOfRun(ctx, h.Run); err != nil {
			return done, err
		}
	}
	if h.Run == "" && h.Space != "" {
		if _, err := engine.ScanRow(ctx, t, tables.CountReadyRows, []any{string(h.Space), string(h.Agent)}, &done.Waiting); err != nil {
			return done, err
		}
		for _, q := range []engine.QueryText{stopWaiting, stopWaits, ignoreWaiting} {
			if err := t.Run(ctx, q, string(h.Space), string(h.Agent)); err != nil {
				return done, err
			}
		}
		if done.Waits, err = t.wait.dropInSpace(ctx, h.Space, h.Agent); err != nil {
			return done, err
		}
	}
	if h.Unsent {
		done.Unsent, err = t.cancelUnsent(ctx, h)
	}
	return done, err
}

// stopRun stops a run and its causal chains, and queues the notice about it.
func (t *stopTx) stopRun(ctx context.Context, run spaces.StoppedRun, h spaces.StopRequest) error {
	reach := haltedRun
	if h.Unsent {
		reach = haltedUnsent
	}
	if err := t.Run(ctx, haltRun, string(run.Run), reach); err != nil {
		return err
	}
	if err := t.Run(ctx, stopChains, string(run.Run)); err != nil {
		return err
	}
	if h.Say == "" || run.Space == "" {
		return nil
	}
	var thread spaces.ThreadID
	if _, err := engine.ScanRow(ctx, t, runThread, []any{string(run.Run)}, &thread); err != nil {
		return err
	}
	return t.outbox.announce(ctx, run.Space, systemNotice{key: "halt|" + string(run.Run), thread: thread, text: h.Say, at: h.At})
}

// cancelUnsent cancels the actions that are not being sent. One that is being sent is
// cancelled if it comes back unsent.
func (t *stopTx) cancelUnsent(ctx context.Context, h spaces.StopRequest) (cancelled int, err error) {
	q, key := unsentOfRoom, []any{string(h.Space), string(h.Agent)}
	if h.Run != "" {
		q, key = unsentOfRun, []any{string(h.Run)}
	}
	left, err := engine.AllRows(ctx, t, q, key, tables.ScanAction)
	if err != nil {
		return 0, err
	}
	for _, o := range left {
		if o.State == spaces.ActionSending {
			if err := t.Run(ctx, haltRun, string(o.Cycle), haltedUnsent); err != nil {
				return cancelled, err
			}
			continue
		}
		if err := t.outbox.cancel(ctx, o, h.At); err != nil {
			return cancelled, err
		}
		cancelled++
	}
	return cancelled, nil
}

// cancel cancels an action because a person stopped its run.
func (t *outboxTx) cancel(ctx context.Context, o tables.StoredAction, at time.Time) error {
	o.State, o.Code, o.Reason = spaces.ActionCancelled, "cancelled", "A person stopped this before it was sent."
	return t.finish(ctx, o, at)
}

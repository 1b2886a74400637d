package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	waitColumns engine.Query = `w.cycle, w.agent, w.circle, w.space, w.thread, w.message, w.seq, w.call, w.who, w.people, w.root, w.depth,
  w.started, w.due, w.outcome, w.answers`
	insertWait engine.Query = `insert into waits (cycle, agent, circle, space, thread, message, seq, call, who, people, root, depth, started, due, state)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'open')`
	roomWaits engine.Query = `select exists (select 1 from waits where space = $1 and state <> 'told')`
	openWaits engine.Query = `select ` + waitColumns + ` from waits w where w.space = $1 and w.state <> 'told' and w.state = 'open' order by w.started, w.cycle`
	mindWaits engine.Query = `select ` + waitColumns + ` from waits w
where w.space = $3 and w.state <> 'told' and w.agent = $1 and w.circle = $2 order by w.started, w.cycle`
	endedWaits engine.Query = `select ` + waitColumns + ` from waits w
where w.space = $3 and w.state <> 'told' and w.agent = $1 and w.circle = $2 and w.due <= $4 order by w.started, w.cycle`
	lastingWaits engine.Query = `select ` + waitColumns + ` from waits w
where w.state <> 'told' and w.state = 'open' and w.agent = $1 and w.circle = $2 order by w.started, w.cycle`
	wokenByWait engine.Query = `select ` + waitColumns + ` from waits w where w.woke = $1 and w.woke <> '' order by w.started, w.cycle`
	runsWaits   engine.Query = `select ` + waitColumns + ` from waits w where w.cycle = $1 or (w.woke = $1 and w.woke <> '') order by w.started, w.cycle`
	noteAnswers engine.Query = `update waits set answers = $2 where cycle = $1`
	endWait     engine.Query = `update waits set answers = $2, outcome = $3, state = 'over', due = $4 where cycle = $1`
	tellWait    engine.Query = `update waits set outcome = $2, state = 'told', woke = $3 where cycle = $1`
	returnWaits engine.Query = `update waits set woke = '', due = $2, attempts = attempts + 1,
  state = case when attempts + 1 >= $3 then 'told' else 'over' end where woke = $1 and woke <> ''`
	spareWaits engine.Query = `update waits set woke = '', due = $2, attempts = case when attempts < $3 then attempts + 1 else attempts end,
  state = 'over' where woke = $1 and woke <> ''`
	cyclesEvents engine.Query = `select event from inbox where cycle = $1 and cycle <> ''`
	othersOnWay  engine.Query = `select exists (select 1 from outbox
where cycle = $2 and cycle <> '' and event = $1 and state not in ('failed', 'expired', 'cancelled'))`
	stopWaits engine.Query = `insert into roots (root, stopped) select distinct root, 1 from waits
where space = $1 and state <> 'told' and ($2 = '' or agent = $2) on conflict (root) do update set stopped = 1`
	dropWaits   engine.Query = `delete from waits where space = $1 and state <> 'told' and ($2 = '' or agent = $2)`
	dropRunWait engine.Query = `delete from waits where cycle = $1 and state <> 'told' returning space, root`
)

func scanWait(r engine.Row) (w spaces.Wait, err error) {
	return w, r.Scan(&w.Cycle, &w.Mind.Agent, &w.Mind.Circle, &w.Space, &w.Thread, &w.Message, &w.Seq, &w.Call, engine.ScanList(&w.Who), &w.People,
		&w.Root, &w.Depth, engine.ScanTime(&w.Started), engine.ScanTime(&w.Due), &w.Outcome, engine.ScanList(&w.Answers))
}

// storeWait stores what the run expects from now on of a message that asks.
func (k *stepTx) storeWait(ctx context.Context, a *spaces.WaitSpec, e spaces.Event) error {
	if a == nil {
		return nil
	}
	r, err := k.space.load(ctx, e.Space)
	if err != nil {
		return err
	}
	r.hasWaits = true
	err = k.Run(ctx, insertWait, string(k.commit.Step.Cycle), string(k.mind.Agent), string(k.mind.Circle), string(e.Space), string(e.Thread), string(e.ID), e.Seq,
		a.Call, engine.EncodeList(a.Who), a.People, string(e.Root), e.Depth, engine.ToMillis(k.commit.At), engine.CeilMillis(k.Clock().ToShared(a.Due)))
	if err != nil {
		return fmt.Errorf("store wait: %w", err)
	}
	return nil
}

// ends returns what a mind waits for in a room that is over, or whose time is up,
// and gives it to the cycle.
func (t *waitTx) claimEnded(ctx context.Context, m spaces.Mind, space spaces.SpaceID, cycle spaces.CycleID, at time.Time) ([]spaces.Wait, error) {
	r, err := t.space.load(ctx, space)
	if err != nil || r == nil || !r.hasWaits {
		return nil, err
	}
	waits, err := engine.AllRows(ctx, t, endedWaits, []any{string(m.Agent), string(m.Circle), string(space), t.SharedMillis(at)}, scanWait)
	if err != nil {
		return nil, fmt.Errorf("waits of %s in %s: %w", m, space, err)
	}
	var ends []spaces.Wait
	for _, w := range waits {
		if w.Outcome == "" {
			w.Outcome = spaces.WaitTimeout
		}
		goesOn, err := t.mayContinue(ctx, w)
		if err != nil {
			return nil, err
		}
		by := cycle
		if goesOn {
			ends = append(ends, w)
		} else {
			by = ""
		}
		if err := t.markTold(ctx, w, by); err != nil {
			return nil, err
		}
	}
	return ends, nil
}

// goesOn reports whether a chain may go on with the end of a wait: nobody stopped
// it, and it is not too deep. An answer has passed the gate already.
func (t *waitTx) mayContinue(ctx context.Context, w spaces.Wait) (bool, error) {
	tally, err := t.usage.chainUsage(ctx, w.Root)
	return !tally.Stopped && (w.Outcome == spaces.WaitReplied || w.Depth < spaces.MaxDepth), err
}

// told ends a wait for good: it has woken a cycle, or wakes none.
func (t *waitTx) markTold(ctx context.Context, w spaces.Wait, cycle spaces.CycleID) error {
	if err := t.Run(ctx, tellWait, string(w.Cycle), string(w.Outcome), string(cycle)); err != nil {
		return fmt.Errorf("end wait of %s: %w", w.Cycle, err)
	}
	delete(t.cache.accounts, cycle)
	return t.refresh(ctx, w.Space)
}

// recount looks whether anybody still waits in a room.
func (t *waitTx) refresh(ctx context.Context, space spaces.SpaceID) error {
	r, err := t.space.load(ctx, space)
	if err != nil || r == nil {
		return err
	}
	r.hasWaits, err = engine.QueryBool(ctx, t, roomWaits, string(space))
	return err
}

// forgetWaits ends what agents wait for in a room, all of them where none is named,
// and returns how much there was. Nobody is woken by it.
func (t *waitTx) dropInSpace(ctx context.Context, space spaces.SpaceID, agent spaces.AgentID) (int, error) {
	n, err := t.Exec(ctx, dropWaits, string(space), string(agent))
	if err != nil || n == 0 {
		return 0, err
	}
	return int(n), t.refresh(ctx, space)
}

// forgetRunWait ends what one run waits for, and its chain, and returns how much
// there was.
func (t *waitTx) dropOfRun(ctx context.Context, run spaces.CycleID) (int, error) {
	var space spaces.SpaceID
	var root spaces.EventID
	found, err := engine.ScanRow(ctx, t, dropRunWait, []any{string(run)}, &space, &root)
	if err != nil || !found {
		return 0, err
	}
	if err := t.Run(ctx, stopRoot, string(root)); err != nil {
		return 0, err
	}
	return 1, t.refresh(ctx, space)
}

// Waits implements [shell.Record].
func (s AgentStore) Waits(ctx context.Context, m spaces.Mind) ([]spaces.Wait, error) {
	waits, err := engine.AllRows(ctx, s.s.engine, lastingWaits, []any{string(m.Agent), string(m.Circle)}, scanWait)
	if err != nil {
		return nil, fmt.Errorf("waits of %s: %w", m, err)
	}
	return waits, nil
}

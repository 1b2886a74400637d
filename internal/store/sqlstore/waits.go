package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

const (
	waitColumns query = `w.cycle, w.agent, w.circle, w.space, w.thread, w.message, w.seq, w.call, w.who, w.people, w.root, w.depth,
  w.started, w.due, w.outcome, w.answers`
	insertWait query = `insert into waits (cycle, agent, circle, space, thread, message, seq, call, who, people, root, depth, started, due, state)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'open')`
	roomWaits query = `select exists (select 1 from waits where space = $1 and state <> 'told')`
	openWaits query = `select ` + waitColumns + ` from waits w where w.space = $1 and w.state <> 'told' and w.state = 'open' order by w.started, w.cycle`
	mindWaits query = `select ` + waitColumns + ` from waits w
where w.space = $3 and w.state <> 'told' and w.agent = $1 and w.circle = $2 order by w.started, w.cycle`
	endedWaits query = `select ` + waitColumns + ` from waits w
where w.space = $3 and w.state <> 'told' and w.agent = $1 and w.circle = $2 and w.due <= $4 order by w.started, w.cycle`
	lastingWaits query = `select ` + waitColumns + ` from waits w
where w.state <> 'told' and w.state = 'open' and w.agent = $1 and w.circle = $2 order by w.started, w.cycle`
	wokenByWait query = `select ` + waitColumns + ` from waits w where w.woke = $1 and w.woke <> '' order by w.started, w.cycle`
	runsWaits   query = `select ` + waitColumns + ` from waits w where w.cycle = $1 or (w.woke = $1 and w.woke <> '') order by w.started, w.cycle`
	noteAnswers query = `update waits set answers = $2 where cycle = $1`
	endWait     query = `update waits set answers = $2, outcome = $3, state = 'over', due = $4 where cycle = $1`
	tellWait    query = `update waits set outcome = $2, state = 'told', woke = $3 where cycle = $1`
	returnWaits query = `update waits set woke = '', due = $2, attempts = attempts + 1,
  state = case when attempts + 1 >= $3 then 'told' else 'over' end where woke = $1 and woke <> ''`
	spareWaits query = `update waits set woke = '', due = $2, attempts = case when attempts < $3 then attempts + 1 else attempts end,
  state = 'over' where woke = $1 and woke <> ''`
	cyclesEvents query = `select event from inbox where cycle = $1 and cycle <> ''`
	othersOnWay  query = `select exists (select 1 from outbox
where cycle = $2 and cycle <> '' and event = $1 and state not in ('failed', 'expired', 'cancelled'))`
	stopWaits query = `insert into roots (root, stopped) select distinct root, 1 from waits
where space = $1 and state <> 'told' and ($2 = '' or agent = $2) on conflict (root) do update set stopped = 1`
	dropWaits   query = `delete from waits where space = $1 and state <> 'told' and ($2 = '' or agent = $2)`
	dropRunWait query = `delete from waits where cycle = $1 and state <> 'told' returning space, root`
)

func scanWait(r row) (w spaces.Wait, err error) {
	return w, r.Scan(&w.Cycle, &w.Mind.Agent, &w.Mind.Circle, &w.Space, &w.Thread, &w.Message, &w.Seq, &w.Call, jsonList[spaces.EntityID]{&w.Who}, &w.People,
		&w.Root, &w.Depth, timeScanner{&w.Started}, timeScanner{&w.Due}, &w.Outcome, jsonList[spaces.WaitAnswer]{&w.Answers})
}

// await stores what the run expects from now on of a message that asks.
func (k *stepTx) await(ctx context.Context, a *spaces.WaitSpec, e spaces.Event) error {
	if a == nil {
		return nil
	}
	r, err := k.room(ctx, e.Space)
	if err != nil {
		return err
	}
	r.waits = true
	err = k.run(ctx, insertWait, string(k.c.Step.Cycle), string(k.mind.Agent), string(k.mind.Circle), string(e.Space), string(e.Thread), string(e.ID), e.Seq,
		a.Call, array(a.Who), a.People, string(e.Root), e.Depth, ms(k.c.At), notBefore(k.clock.of(a.Due)))
	if err != nil {
		return fmt.Errorf("store wait: %w", err)
	}
	return nil
}

// ends returns what a mind waits for in a room that is over, or whose time is up,
// and gives it to the cycle.
func (t *tx) ends(ctx context.Context, m spaces.Mind, space spaces.SpaceID, cycle spaces.CycleID, at time.Time) ([]spaces.Wait, error) {
	r, err := t.room(ctx, space)
	if err != nil || r == nil || !r.waits {
		return nil, err
	}
	waits, err := all(ctx, t, endedWaits, []any{string(m.Agent), string(m.Circle), string(space), t.shared(at)}, scanWait)
	if err != nil {
		return nil, fmt.Errorf("waits of %s in %s: %w", m, space, err)
	}
	var ends []spaces.Wait
	for _, w := range waits {
		if w.Outcome == "" {
			w.Outcome = spaces.WaitTimeout
		}
		goesOn, err := t.goesOn(ctx, w)
		if err != nil {
			return nil, err
		}
		by := cycle
		if goesOn {
			ends = append(ends, w)
		} else {
			by = ""
		}
		if err := t.told(ctx, w, by); err != nil {
			return nil, err
		}
	}
	return ends, nil
}

// goesOn reports whether a chain may go on with the end of a wait: nobody stopped
// it, and it is not too deep. An answer has passed the gate already.
func (t *tx) goesOn(ctx context.Context, w spaces.Wait) (bool, error) {
	tally, err := t.used(ctx, w.Root)
	return !tally.Stopped && (w.Outcome == spaces.WaitReplied || w.Depth < spaces.MaxDepth), err
}

// told ends a wait for good: it has woken a cycle, or wakes none.
func (t *tx) told(ctx context.Context, w spaces.Wait, cycle spaces.CycleID) error {
	if err := t.run(ctx, tellWait, string(w.Cycle), string(w.Outcome), string(cycle)); err != nil {
		return fmt.Errorf("end wait of %s: %w", w.Cycle, err)
	}
	delete(t.cache.payers, cycle)
	return t.recount(ctx, w.Space)
}

// recount looks whether anybody still waits in a room.
func (t *tx) recount(ctx context.Context, space spaces.SpaceID) error {
	r, err := t.room(ctx, space)
	if err != nil || r == nil {
		return err
	}
	r.waits, err = whether(ctx, t, roomWaits, string(space))
	return err
}

// forgetWaits ends what agents wait for in a room, all of them where none is named,
// and returns how much there was. Nobody is woken by it.
func (t *tx) forgetWaits(ctx context.Context, space spaces.SpaceID, agent spaces.AgentID) (int, error) {
	n, err := t.exec(ctx, dropWaits, string(space), string(agent))
	if err != nil || n == 0 {
		return 0, err
	}
	return int(n), t.recount(ctx, space)
}

// forgetRunWait ends what one run waits for, and its chain, and returns how much
// there was.
func (t *tx) forgetRunWait(ctx context.Context, run spaces.CycleID) (int, error) {
	var space spaces.SpaceID
	var root spaces.EventID
	found, err := one(ctx, t, dropRunWait, []any{string(run)}, &space, &root)
	if err != nil || !found {
		return 0, err
	}
	if err := t.run(ctx, stopRoot, string(root)); err != nil {
		return 0, err
	}
	return 1, t.recount(ctx, space)
}

// Waits implements [shell.Record].
func (s AgentStore) Waits(ctx context.Context, m spaces.Mind) ([]spaces.Wait, error) {
	waits, err := all(ctx, s.s.engine, lastingWaits, []any{string(m.Agent), string(m.Circle)}, scanWait)
	if err != nil {
		return nil, fmt.Errorf("waits of %s: %w", m, err)
	}
	return waits, nil
}

package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertWait engine.QueryText = `insert into waits (cycle, agent, circle, space, thread, message, seq, call, who, people, need, options, root, depth, started, due, state)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, 'open')`
	roomWaits engine.QueryText = `select exists (select 1 from waits where space = $1 and state <> 'told')`
	openWaits engine.QueryText = `select ` + tables.WaitColumns + ` from waits w where w.space = $1 and w.state <> 'told' and w.state = 'open' order by w.started, w.cycle`
	mindWaits engine.QueryText = `select ` + tables.WaitColumns + ` from waits w
where w.space = $3 and w.state <> 'told' and w.agent = $1 and w.circle = $2 order by w.started, w.cycle`
	endedWaits engine.QueryText = `select ` + tables.WaitColumns + ` from waits w
where w.space = $3 and w.state <> 'told' and w.agent = $1 and w.circle = $2 and w.due <= $4 order by w.started, w.cycle`

	noteAnswers engine.QueryText = `update waits set answers = $2 where cycle = $1`
	endWait     engine.QueryText = `update waits set answers = $2, outcome = $3, state = 'over', due = $4 where cycle = $1`
	tellWait    engine.QueryText = `update waits set outcome = $2, answers = $4, state = 'told', woke = $3 where cycle = $1`
	returnWaits engine.QueryText = `update waits set woke = '', due = $2, attempts = attempts + 1,
  state = case when attempts + 1 >= $3 then 'told' else 'over' end where woke = $1 and woke <> ''`
	spareWaits engine.QueryText = `update waits set woke = '', due = $2, attempts = case when attempts < $3 then attempts + 1 else attempts end,
  state = 'over' where woke = $1 and woke <> ''`
	// diedOf selects the events of a cycle that are given up with the attempt that ends now.
	diedOf       engine.QueryText = `select event from inbox where cycle = $1 and cycle <> '' and state = 'claimed' and attempts + 1 >= $2`
	cyclesEvents engine.QueryText = `select event from inbox where cycle = $1 and cycle <> ''`
	othersOnWay  engine.QueryText = `select exists (select 1 from outbox
where cycle = $2 and cycle <> '' and event = $1 and state not in ('failed', 'expired', 'cancelled'))`
	stopWaits engine.QueryText = `insert into roots (root, stopped) select distinct root, 1 from waits
where space = $1 and state <> 'told' and ($2 = '' or agent = $2) on conflict (root) do update set stopped = 1`
	dropWaits   engine.QueryText = `delete from waits where space = $1 and state <> 'told' and ($2 = '' or agent = $2) returning ` + tables.WaitColumns
	dropAsked   engine.QueryText = `delete from waits where space = $1 and state <> 'told' and message = $2 returning ` + tables.WaitColumns
	dropRunWait engine.QueryText = `delete from waits where cycle = $1 and state <> 'told' returning ` + tables.WaitColumns
)

// storeWait stores what the run waits for after a message that asks.
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
		a.Call, engine.EncodeList(a.Who), a.People, a.Need, engine.EncodeList(a.Options), string(e.Root), e.Depth, engine.ToMillis(k.commit.At), engine.CeilMillis(k.Clock().ToShared(a.Due)))
	if err != nil {
		return fmt.Errorf("store wait: %w", err)
	}
	return nil
}

// claimEnded returns the waits of a mind in a space that are over or timed out, and
// gives them to the cycle.
func (t *waitTx) claimEnded(ctx context.Context, m spaces.Mind, space spaces.SpaceID, cycle spaces.CycleID, at time.Time) ([]spaces.PendingWait, error) {
	r, err := t.space.load(ctx, space)
	if err != nil || r == nil || !r.hasWaits {
		return nil, err
	}
	waits, err := engine.AllRows(ctx, t, endedWaits, []any{string(m.Agent), string(m.Circle), string(space), t.SharedMillis(at)}, tables.ScanWait)
	if err != nil {
		return nil, fmt.Errorf("waits of %s in %s: %w", m, space, err)
	}
	var ends []spaces.PendingWait
	for _, w := range waits {
		if w.Outcome == "" {
			w.Expire()
			if err := t.closeQuestion(ctx, w, "No one answered in time.", at); err != nil {
				return nil, err
			}
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

// mayContinue reports whether a chain may continue after a wait: it is not stopped and
// not too deep. A reply has passed the gate already.
func (t *waitTx) mayContinue(ctx context.Context, w spaces.PendingWait) (bool, error) {
	tally, err := t.usage.chainUsage(ctx, w.Root)
	return !tally.Stopped && (w.Outcome == spaces.WaitReplied || w.Depth < spaces.MaxDepth), err
}

// markTold ends a wait: it has woken a cycle, or wakes none.
func (t *waitTx) markTold(ctx context.Context, w spaces.PendingWait, cycle spaces.CycleID) error {
	if err := t.Run(ctx, tellWait, string(w.Cycle), string(w.Outcome), string(cycle), engine.EncodeList(w.Answers)); err != nil {
		return fmt.Errorf("end wait of %s: %w", w.Cycle, err)
	}
	delete(t.cache.accounts, cycle)
	return t.refresh(ctx, w.Space)
}

// refresh reloads whether any agent waits in a space.
func (t *waitTx) refresh(ctx context.Context, space spaces.SpaceID) error {
	r, err := t.space.load(ctx, space)
	if err != nil || r == nil {
		return err
	}
	r.hasWaits, err = engine.QueryBool(ctx, t, roomWaits, string(space))
	return err
}

// dropInSpace deletes the waits of an agent, or of all agents, in a space and returns
// their number. It wakes no agent.
func (t *waitTx) dropInSpace(ctx context.Context, space spaces.SpaceID, agent spaces.AgentID, at time.Time) (int, error) {
	waits, err := engine.AllRows(ctx, t, dropWaits, []any{string(space), string(agent)}, tables.ScanWait)
	if err != nil {
		return 0, err
	}
	return len(waits), t.giveUp(ctx, waits, at)
}

// dropOfRun deletes the wait of a run, stops its chain, and returns the number of waits.
func (t *waitTx) dropOfRun(ctx context.Context, run spaces.CycleID, at time.Time) (int, error) {
	waits, err := engine.AllRows(ctx, t, dropRunWait, []any{string(run)}, tables.ScanWait)
	if err != nil {
		return 0, err
	}
	for _, w := range waits {
		if err := t.Run(ctx, stopRoot, string(w.Root)); err != nil {
			return 0, err
		}
	}
	return len(waits), t.giveUp(ctx, waits, at)
}

// dropGivenUp deletes the waits for answers that a step no longer waits for.
func (k *stepTx) dropGivenUp(ctx context.Context) error {
	for _, id := range k.commit.GivenUp {
		asked, err := tables.EventByID(ctx, k, id)
		if err != nil {
			return err
		}
		if asked == nil {
			continue
		}
		waits, err := engine.AllRows(ctx, k, dropAsked, []any{string(asked.Space), string(id)}, tables.ScanWait)
		if err != nil {
			return fmt.Errorf("give up question %s: %w", id, err)
		}
		if err := k.wait.giveUp(ctx, waits, k.commit.At); err != nil {
			return err
		}
	}
	return nil
}

// giveUp closes the questions of waits that were deleted.
func (t *waitTx) giveUp(ctx context.Context, waits []spaces.PendingWait, at time.Time) error {
	for _, w := range waits {
		if w.Outcome == "" {
			if err := t.closeQuestion(ctx, w, "Given up.", at); err != nil {
				return err
			}
		}
		if err := t.refresh(ctx, w.Space); err != nil {
			return err
		}
	}
	return nil
}

// A waitTx settles what agents wait for.
type waitTx struct {
	*writeTx
	entity *entityTx
	space  *spaceTx
	usage  *usageTx
	// edit has an agent change a message of its own.
	edit func(context.Context, spaces.OutsideMessage) error
}

// settle calls learn for every open wait of a space and stores the answers that it
// returns. It returns the work for the minds whose wait is over.
func (t *waitTx) settle(ctx context.Context, space spaces.SpaceID, at time.Time, learn func(*spaces.PendingWait) []spaces.WaitAnswer) (over []spaces.PendingWork, err error) {
	r, err := t.space.load(ctx, space)
	if err != nil || r == nil || !r.hasWaits {
		return nil, err
	}
	waits, err := engine.AllRows(ctx, t, openWaits, []any{string(space)}, tables.ScanWait)
	if err != nil {
		return nil, fmt.Errorf("who waits in %s: %w", space, err)
	}
	for i := range waits {
		w := &waits[i]
		before := len(w.Answers)
		for _, a := range learn(w) {
			w.Take(a)
		}
		if len(w.Answers) == before {
			continue
		}
		if w.Outcome != "" {
			if err := t.closeAnswered(ctx, w, at); err != nil {
				return nil, err
			}
			over = append(over, spaces.PendingWork{Mind: w.Mind, Space: space, Since: at})
			err = t.Run(ctx, endWait, string(w.Cycle), engine.EncodeList(w.Answers), string(w.Outcome), t.SharedMillis(at))
		} else {
			err = t.Run(ctx, noteAnswers, string(w.Cycle), engine.EncodeList(w.Answers))
		}
		if err != nil {
			return nil, fmt.Errorf("settle wait of %s: %w", w.Cycle, err)
		}
	}
	return over, nil
}

// settleByEvent settles, in the transaction that stores an event, the waits that the
// event answers. A message that itself asks others answers only waits of agents that it
// names or replies to.
func (t *waitTx) settleByEvent(ctx context.Context, e spaces.Event, asks *spaces.WaitSpec) ([]spaces.PendingWork, error) {
	if e.Branch != spaces.Primary {
		return nil, nil
	}
	if left, ok := e.Body.(spaces.MemberLeft); ok {
		return t.settle(ctx, e.Space, e.RecvAt, func(*spaces.PendingWait) []spaces.WaitAnswer {
			return []spaces.WaitAnswer{{Who: left.Who, Outcome: spaces.WaitLeft}}
		})
	}
	said, ok := e.Body.(spaces.MessagePosted)
	r := t.cache.spaces[e.Space]
	if !ok || said.Past || r == nil || !r.hasWaits || slices.Contains(shell.Commands, said.Command) {
		return nil, nil
	}
	kind, err := t.entity.kind(ctx, e.Actor)
	if err != nil {
		return nil, err
	}
	return t.settle(ctx, e.Space, e.RecvAt, func(w *spaces.PendingWait) []spaces.WaitAnswer {
		aside := asks != nil && e.ReplyTo != w.Message && !slices.Contains(asks.Who, w.Mind.Agent.Entity())
		if aside || !w.Counts(e, kind == spaces.Human, r.Direct) {
			return nil
		}
		return []spaces.WaitAnswer{w.AnswerOf(e)}
	})
}

// settleUnanswered settles the waits for an agent that read the questions and did not
// reply.
func (t *waitTx) settleUnanswered(ctx context.Context, a spaces.AgentID, space spaces.SpaceID, read []spaces.EventID, o spaces.WaitOutcome, at time.Time) ([]spaces.PendingWork, error) {
	return t.settle(ctx, space, at, func(w *spaces.PendingWait) []spaces.WaitAnswer {
		if !slices.Contains(read, w.Message) {
			return nil
		}
		return []spaces.WaitAnswer{{Who: a.Entity(), Outcome: o}}
	})
}

// settleWaitsForAgent settles the waits for the agent of a cycle that ends.
func (k *stepTx) settleWaitsForAgent(ctx context.Context) error {
	outcome := spaces.WaitFailed
	switch k.commit.Close.Stop {
	case spaces.StopWaitingReply, spaces.StopWaitingTool:
		return nil // it may reply when its own wait is over
	case spaces.StopCompleted, spaces.StopSilent, spaces.StopSleeping, spaces.StopMaxSteps, spaces.StopSkipped, spaces.StopSuperseded:
		outcome = spaces.WaitSilent
	case spaces.StopBudget:
		outcome = spaces.WaitBudget
	case spaces.StopCancelled:
		outcome = spaces.WaitStopped
	case spaces.StopMaxRetries, spaces.StopTimeout, spaces.StopModelError, spaces.StopCoordinator,
		spaces.StopNoCapableAgent, spaces.StopDependencyFailed:
	}
	read, err := k.wait.eventsOf(ctx, k.trigger, cyclesEvents, string(k.commit.Step.Cycle))
	if err != nil {
		return err
	}
	return k.settleWaits(ctx, read, outcome)
}

// settleWaits settles the waits for the agent of a cycle whose questions are among the events
// read.
func (k *stepTx) settleWaits(ctx context.Context, read []spaces.EventID, outcome spaces.WaitOutcome) error {
	if len(read) == 0 {
		return nil
	}
	over, err := k.wait.settleUnanswered(ctx, k.mind.Agent, k.trigger, read, outcome, k.commit.At)
	k.result.Wakes = append(k.result.Wakes, over...)
	return err
}

// eventsOf returns the events that a query selects; none in a space without a wait.
func (t *waitTx) eventsOf(ctx context.Context, space spaces.SpaceID, query engine.QueryText, args ...any) ([]spaces.EventID, error) {
	r, err := t.space.load(ctx, space)
	if err != nil || r == nil || !r.hasWaits {
		return nil, err
	}
	return engine.AllRows(ctx, t, query, args, engine.ScanValue[spaces.EventID])
}

// settleUndelivered settles the waits for people to whom a question cannot be delivered.
func (t *waitTx) settleUndelivered(ctx context.Context, o tables.StoredAction, at time.Time) error {
	if o.Kind != spaces.ActSend || !isFinal(o.State) {
		return nil
	}
	r, err := t.space.load(ctx, o.Space)
	if err != nil || r == nil || !r.hasWaits {
		return err
	}
	if others, err := engine.QueryBool(ctx, t, othersOnWay, string(o.Event), string(o.Cycle)); err != nil || others {
		return err
	}
	_, err = t.settle(ctx, o.Space, at, func(w *spaces.PendingWait) (unreached []spaces.WaitAnswer) {
		if w.Message != o.Event {
			return nil
		}
		if len(w.Who) == 0 {
			return []spaces.WaitAnswer{{Outcome: spaces.WaitNotDelivered}}
		}
		for _, who := range w.Who {
			if _, agent := who.IsAgent(); !agent { // agents read the log
				unreached = append(unreached, spaces.WaitAnswer{Who: who, Outcome: spaces.WaitNotDelivered})
			}
		}
		return unreached
	})
	return err
}

// settleIgnored ends the waits whose answer the gate ignored, and settles those for the
// agent that a question did not wake.
func (t *waitTx) settleIgnored(ctx context.Context, e tables.InboxEntry, waits []spaces.PendingWait, reason string, at time.Time) error {
	if r := t.cache.spaces[e.Space]; r == nil || !r.hasWaits {
		return nil
	}
	for _, w := range waits {
		if w.EndedBy(e.Event) {
			if err := t.markTold(ctx, w, ""); err != nil {
				return err
			}
		}
	}
	outcome := spaces.WaitDenied
	switch reason {
	case shell.GateStopped:
		outcome = spaces.WaitStopped
	case shell.GateDepth, shell.GateRun, shell.GateBudget, shell.GateSender:
		outcome = spaces.WaitBudget
	}
	_, err := t.settleUnanswered(ctx, e.Mind.Agent, e.Space, []spaces.EventID{e.Event}, outcome, at)
	return err
}

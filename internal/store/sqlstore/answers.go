package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A waitTx settles what agents wait for.
type waitTx struct {
	*writeTx
	entity *entityTx
	space  *spaceTx
	usage  *usageTx
}

// settleWaits shows every wait of a room that lasts to learn, which says what became
// of those who were asked, and stores what follows. It returns who is to be woken.
// Where nobody waits nothing is read.
func (t *waitTx) settle(ctx context.Context, space spaces.SpaceID, at time.Time, learn func(*spaces.Wait) []spaces.WaitAnswer) (over []spaces.PendingWork, err error) {
	r, err := t.space.load(ctx, space)
	if err != nil || r == nil || !r.hasWaits {
		return nil, err
	}
	waits, err := engine.AllRows(ctx, t, openWaits, []any{string(space)}, scanWait)
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

// answered settles, in the transaction that records an event, the waits it answers
// (K24, BLU-52). An agent's message that asks others itself answers only whom it
// names or replies to.
func (t *waitTx) settleByEvent(ctx context.Context, e spaces.Event, asks *spaces.WaitSpec) ([]spaces.PendingWork, error) {
	if e.Branch != spaces.Primary {
		return nil, nil
	}
	if left, ok := e.Body.(spaces.Left); ok {
		return t.settle(ctx, e.Space, e.RecvAt, func(*spaces.Wait) []spaces.WaitAnswer {
			return []spaces.WaitAnswer{{Who: left.Who, Outcome: spaces.WaitDeclined}}
		})
	}
	said, ok := e.Body.(spaces.Said)
	if r := t.cache.spaces[e.Space]; !ok || said.Past || r == nil || !r.hasWaits || slices.Contains(shell.Commands, said.Command) {
		return nil, nil
	}
	kind, err := t.entity.kind(ctx, e.Actor)
	if err != nil {
		return nil, err
	}
	return t.settle(ctx, e.Space, e.RecvAt, func(w *spaces.Wait) []spaces.WaitAnswer {
		aside := asks != nil && e.ReplyTo != w.Message && !slices.Contains(asks.Who, w.Mind.Agent.Entity())
		if aside || !w.Counts(e, kind == spaces.Human) {
			return nil
		}
		return []spaces.WaitAnswer{{Who: e.Actor, Outcome: spaces.WaitReplied, Event: e.ID}}
	})
}

// passedOver settles the waits for an agent that read questions and answers none.
func (t *waitTx) settleUnanswered(ctx context.Context, a spaces.AgentID, space spaces.SpaceID, read []spaces.EventID, o spaces.WaitOutcome, at time.Time) ([]spaces.PendingWork, error) {
	return t.settle(ctx, space, at, func(w *spaces.Wait) []spaces.WaitAnswer {
		if !slices.Contains(read, w.Message) {
			return nil
		}
		return []spaces.WaitAnswer{{Who: a.Entity(), Outcome: o}}
	})
}

// settleWaitsForAgent settles the waits for the agent of a cycle that ends.
func (k *stepTx) settleWaitsForAgent(ctx context.Context) error {
	outcome := spaces.WaitDeclined
	switch k.commit.Close.Stop {
	case spaces.StopWaitingReply:
		return nil // it asks somebody itself, and may answer then
	case spaces.StopCompleted, spaces.StopSilent, spaces.StopSleeping, spaces.StopMaxSteps, spaces.StopSkipped, spaces.StopSuperseded:
		outcome = spaces.WaitSilent
	case spaces.StopBudget:
		outcome = spaces.WaitBudget
	case spaces.StopMaxRetries, spaces.StopTimeout, spaces.StopModelError, spaces.StopCancelled, spaces.StopCoordinator,
		spaces.StopNoCapableAgent, spaces.StopDependencyFailed:
	}
	r, err := k.space.load(ctx, k.trigger)
	if err != nil || r == nil || !r.hasWaits {
		return err
	}
	read, err := engine.AllRows(ctx, k, cyclesEvents, []any{string(k.commit.Step.Cycle)}, engine.ScanValue[spaces.EventID])
	if err != nil {
		return err
	}
	over, err := k.wait.settleUnanswered(ctx, k.mind.Agent, k.trigger, read, outcome, k.commit.At)
	k.result.Wakes = append(k.result.Wakes, over...)
	return err
}

// undelivered settles the waits for people whom a question cannot reach any more.
func (t *waitTx) settleUndelivered(ctx context.Context, o pendingAction, at time.Time) error {
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
	_, err = t.settle(ctx, o.Space, at, func(w *spaces.Wait) (unreached []spaces.WaitAnswer) {
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

// refused ends for good the waits whose answer the gate let wake nobody, and those
// for the agent that a question did not wake.
func (t *waitTx) settleIgnored(ctx context.Context, e inboxEntry, waits []spaces.Wait, reason string, at time.Time) error {
	if r := t.cache.spaces[e.Space]; r == nil || !r.hasWaits {
		return nil
	}
	for _, w := range waits {
		if w.Outcome != "" && w.AnsweredBy(e.Event) {
			if err := t.markTold(ctx, w, ""); err != nil {
				return err
			}
		}
	}
	outcome := spaces.WaitDeclined
	switch reason {
	case shell.GateDepth, shell.GateRun, shell.GateBudget, shell.GateSender:
		outcome = spaces.WaitBudget
	}
	_, err := t.settleUnanswered(ctx, e.Mind.Agent, e.Space, []spaces.EventID{e.Event}, outcome, at)
	return err
}

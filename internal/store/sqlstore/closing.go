package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const closeCycle engine.Query = `update cycles set ` + cycleProgress + `, state = $12, stop = $13, detail = $14, rest = $15, denials = $16,
  manifest = $17, plan = $18, n = $19, ended = $20, inner_to = $21 where id = $1`

// closeCycle ends the cycle: its rows are done or go back, the mind has read the room
// as far as it was shown, the cycle has its number and its stop reason.
func (k *stepTx) closeCycle(ctx context.Context) error {
	settle := k.consumeRows
	if k.commit.Close.Back {
		settle = k.returnRows
	}
	state, number, err := settle(ctx)
	if err != nil {
		return err
	}
	if err := k.appendSummary(ctx, number); err != nil {
		return err
	}
	if c := k.commit.Close; c.Say != "" {
		if err := k.outbox.announce(ctx, c.Room, systemNotice{key: c.Once, text: c.Say, at: k.commit.At}); err != nil {
			return err
		}
	}
	if !k.commit.Close.Back {
		if err := k.settleWaitsForAgent(ctx); err != nil {
			return err
		}
	}
	delete(k.cache.accounts, k.commit.Step.Cycle)
	own, err := k.branch.load(ctx, k.mind.Inner(), k.mind.Branch())
	if err != nil {
		return err
	}
	c := k.commit.Close
	if err := k.storeManifest(ctx, c.Manifest); err != nil {
		return err
	}
	err = k.Run(ctx, closeCycle, append(k.progressArgs(), string(state), string(c.Stop), c.Detail, c.Rest, c.Denials,
		c.Manifest.Hash, c.Plan, number, engine.ToMillis(k.commit.At), own.HeadSeq)...)
	if err != nil {
		return fmt.Errorf("close cycle: %w", err)
	}
	return k.Run(ctx, releaseLease, k.leaseKey()...)
}

// consumeRows finishes the rows and numbers the cycle among the closed ones.
func (k *stepTx) consumeRows(ctx context.Context) (spaces.CycleState, any, error) {
	if err := k.Run(ctx, consumeAll, string(k.commit.Step.Cycle)); err != nil {
		return "", nil, err
	}
	if err := k.advanceCursor(ctx); err != nil {
		return "", nil, err
	}
	n, err := k.cycle.lastNumber(ctx, k.mind)
	if err != nil {
		return "", nil, err
	}
	k.result.N = n + 1
	k.cache.closedCycles[k.mind] = k.result.N
	return spaces.CycleClosed, k.result.N, nil
}

// returnRows returns the rows for another attempt. The cycle gets no number: it is
// no part of what the mind remembers.
func (k *stepTx) returnRows(ctx context.Context) (spaces.CycleState, any, error) {
	clear(k.cache.handled)
	cycle, retry := string(k.commit.Step.Cycle), engine.CeilMillis(k.Clock().ToShared(k.commit.Close.RetryAt))
	waits, most := returnWaits, maxAttempts
	var err error
	if k.commit.Close.Spared {
		waits, most = spareWaits, maxSpared
		err = k.Run(ctx, spareAll, cycle, retry, most)
	} else {
		err = k.Run(ctx, returnAll, cycle, retry, most, attemptsReason+string(k.commit.Close.Stop))
	}
	if err != nil {
		return "", nil, err
	}
	if n, err := k.Exec(ctx, waits, cycle, retry, most); err != nil || n == 0 {
		return spaces.CycleAbandoned, nil, err
	}
	return spaces.CycleAbandoned, nil, k.wait.refresh(ctx, k.trigger)
}

// advanceCursor moves the uplink's cursor to the last event the mind was shown.
func (k *stepTx) advanceCursor(ctx context.Context) error {
	if k.trigger == "" || k.commit.Upto == 0 {
		return nil
	}
	l, err := k.branch.load(ctx, k.trigger, spaces.Primary)
	if err != nil {
		return err
	}
	id := l.Head
	if k.commit.Upto != l.HeadSeq {
		if id, err = eventIDAtSeq(ctx, k, k.trigger, k.commit.Upto); err != nil {
			return err
		}
	}
	return k.Run(ctx, moveCursor, k.leaseKey(k.commit.Upto, string(id))...)
}

// appendSummary ends the cycle in the inner log (CON-23).
func (k *stepTx) appendSummary(ctx context.Context, number any) error {
	c := k.commit.Close
	var last []spaces.Body
	if c.Rest != "" && number != nil {
		last = append(last, spaces.CycleSummarised{Cycle: k.commit.Step.Cycle, N: k.result.N, Text: c.Rest, Derived: c.Derived})
	}
	last = append(last, spaces.Stopped{Cycle: k.commit.Step.Cycle, Reason: c.Stop, Detail: c.Detail})
	return k.inner.append(ctx, k.mind, k.commit.At, last...)
}

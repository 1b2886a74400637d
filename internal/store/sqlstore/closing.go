package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const closeCycle engine.Query = `update cycles set ` + cycleProgress + `, state = $12, stop = $13, detail = $14, rest = $15, denials = $16,
  manifest = $17, plan = $18, n = $19, ended = $20, inner_to = $21 where id = $1`

// close ends the cycle: its rows are done or go back, the mind has read the room
// as far as it was shown, the cycle has its number and its stop reason.
func (k *stepTx) close(ctx context.Context) error {
	settle := k.consume
	if k.c.Close.Back {
		settle = k.giveBack
	}
	state, number, err := settle(ctx)
	if err != nil {
		return err
	}
	if err := k.sumUp(ctx, number); err != nil {
		return err
	}
	if c := k.c.Close; c.Say != "" {
		if err := k.announce(ctx, c.Room, systemNotice{key: c.Once, text: c.Say, at: k.c.At}); err != nil {
			return err
		}
	}
	if !k.c.Close.Back {
		if err := k.rested(ctx); err != nil {
			return err
		}
	}
	delete(k.cache.payers, k.c.Step.Cycle)
	own, err := k.line(ctx, k.mind.Inner(), k.mind.Branch())
	if err != nil {
		return err
	}
	c := k.c.Close
	if err := k.offered(ctx, c.Manifest); err != nil {
		return err
	}
	err = k.Run(ctx, closeCycle, append(k.progress(), string(state), string(c.Stop), c.Detail, c.Rest, c.Denials,
		c.Manifest.Hash, c.Plan, number, engine.ToMillis(k.c.At), own.HeadSeq)...)
	if err != nil {
		return fmt.Errorf("close cycle: %w", err)
	}
	return k.Run(ctx, releaseLease, k.key()...)
}

// consume finishes the rows and numbers the cycle among the closed ones.
func (k *stepTx) consume(ctx context.Context) (spaces.CycleState, any, error) {
	if err := k.Run(ctx, consumeAll, string(k.c.Step.Cycle)); err != nil {
		return "", nil, err
	}
	if err := k.read(ctx); err != nil {
		return "", nil, err
	}
	n, err := k.closed(ctx, k.mind)
	if err != nil {
		return "", nil, err
	}
	k.done.N = n + 1
	k.cache.numbers[k.mind] = k.done.N
	return spaces.CycleClosed, k.done.N, nil
}

// giveBack returns the rows for another attempt. The cycle gets no number: it is
// no part of what the mind remembers.
func (k *stepTx) giveBack(ctx context.Context) (spaces.CycleState, any, error) {
	clear(k.cache.handled)
	cycle, retry := string(k.c.Step.Cycle), engine.CeilMillis(k.Clock().ToShared(k.c.Close.RetryAt))
	waits, most := returnWaits, maxAttempts
	var err error
	if k.c.Close.Spared {
		waits, most = spareWaits, maxSpared
		err = k.Run(ctx, spareAll, cycle, retry, most)
	} else {
		err = k.Run(ctx, returnAll, cycle, retry, most, wornOut+string(k.c.Close.Stop))
	}
	if err != nil {
		return "", nil, err
	}
	if n, err := k.Exec(ctx, waits, cycle, retry, most); err != nil || n == 0 {
		return spaces.CycleAbandoned, nil, err
	}
	return spaces.CycleAbandoned, nil, k.recount(ctx, k.space)
}

// read moves the uplink's cursor to the last event the mind was shown.
func (k *stepTx) read(ctx context.Context) error {
	if k.space == "" || k.c.Upto == 0 {
		return nil
	}
	l, err := k.line(ctx, k.space, spaces.Primary)
	if err != nil {
		return err
	}
	id := l.Head
	if k.c.Upto != l.HeadSeq {
		if id, err = idAt(ctx, k.writeTx, k.space, k.c.Upto); err != nil {
			return err
		}
	}
	return k.Run(ctx, moveCursor, k.key(k.c.Upto, string(id))...)
}

// sumUp ends the cycle in the inner log (CON-23).
func (k *stepTx) sumUp(ctx context.Context, number any) error {
	c := k.c.Close
	var last []spaces.Body
	if c.Rest != "" && number != nil {
		last = append(last, spaces.CycleSummarised{Cycle: k.c.Step.Cycle, N: k.done.N, Text: c.Rest, Derived: c.Derived})
	}
	last = append(last, spaces.Stopped{Cycle: k.c.Step.Cycle, Reason: c.Stop, Detail: c.Detail})
	return k.inner(ctx, k.mind, k.c.At, last...)
}

package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	yieldLease engine.Query = `update leases set expires = 0 where agent = $1 and circle = $2 and space = $3 and holder = $4 and epoch = $5`
	// Taking up counts a crash, which this was not.
	yieldRows engine.Query = `update inbox set crashes = crashes - 1 where cycle <> '' and state = 'claimed' and cycle in (
  select id from cycles where agent = $1 and circle = $2 and space = $3 and state = 'open')`
	yieldCycle engine.Query = `update cycles set crashes = crashes - 1 where agent = $1 and circle = $2 and space = $3 and state = 'open'`
)

// Yield implements [shell.Inbox].
func (s AgentStore) Yield(ctx context.Context, l spaces.Lease) error {
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

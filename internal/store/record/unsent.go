package record

import (
	"context"
	"fmt"
)

const unsentOf query = `select count(*) from outbox where account = $1 and state in ('ready', 'sending')`

// Unsent returns how many actions of an account have not ended, those under way
// included.
func (c Console) Unsent(ctx context.Context, account string) (n int, err error) {
	if _, err := one(ctx, c.engine, unsentOf, []any{account}, &n); err != nil {
		return 0, fmt.Errorf("count what %s has not sent: %w", account, err)
	}
	return n, nil
}

package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	allAccounts engine.Query = `select a.account,
  (select coalesce(max(c.at), 0) from cursors c where c.account = a.account),
  (select coalesce(max(o.settled), 0) from outbox o where o.account = a.account and o.state = 'sent'),
  (select count(*) from outbox o where o.account = a.account and o.state in ('ready', 'sending')),
  (select count(*) from outbox o where o.account = a.account and o.state = 'unknown')
from (select account from mappings union select account from cursors) a order by a.account`
	lineServing engine.Query = `select line from line_spans where account = $1 order by seen desc limit 1`
	unsentOf    engine.Query = `select count(*) from outbox where account = $1 and state in ('ready', 'sending')`
)

// Accounts returns every account that the record has to do with, by its key.
func (c ReadModel) Accounts(ctx context.Context) ([]console.Account, error) {
	found, err := engine.AllRows(ctx, c.engine, allAccounts, nil, func(r engine.Row) (a console.Account, err error) {
		return a, r.Scan(&a.Account, engine.ScanTime(&a.Heard), engine.ScanTime(&a.Said), &a.Waiting, &a.Unknown)
	})
	if err != nil {
		return nil, fmt.Errorf("list accounts: %w", err)
	}
	return found, nil
}

// Unsent returns how many actions of an account have not ended, those under way
// included.
func (c ReadModel) Unsent(ctx context.Context, account string) (n int, err error) {
	if _, err := engine.ScanRow(ctx, c.engine, unsentOf, []any{account}, &n); err != nil {
		return 0, fmt.Errorf("count what %s has not sent: %w", account, err)
	}
	return n, nil
}

// LineOf names the line that has served an account last; empty when none has.
func (c ReadModel) LineOf(ctx context.Context, account string) (line string, err error) {
	if _, err := engine.ScanRow(ctx, c.engine, lineServing, []any{account}, &line); err != nil {
		return "", fmt.Errorf("look up who served %s: %w", account, err)
	}
	return line, nil
}

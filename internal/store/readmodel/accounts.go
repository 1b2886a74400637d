package readmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	allAccounts engine.QueryText = `select a.account,
  (select coalesce(max(c.at), 0) from cursors c where c.account = a.account),
  (select coalesce(max(o.settled), 0) from outbox o where o.account = a.account and o.state = 'sent'),
  (select count(*) from outbox o where o.account = a.account and o.state in ('ready', 'sending')),
  (select count(*) from outbox o where o.account = a.account and o.state = 'unknown')
from (select account from mappings union select account from cursors) a order by a.account`
	lineServing engine.QueryText = `select line from line_spans where account = $1 order by seen desc limit 1`
	unsentOf    engine.QueryText = `select count(*) from outbox where account = $1 and state in ('ready', 'sending')`
	linesWithin engine.QueryText = `select line, account, state, reason, began, seen,
  coalesce((select min(n.began) from line_spans n where n.line = l.line and n.began > l.began), 0)
from line_spans l where seen >= $1 and began <= $2 order by began, line limit $3 + 0`
)

// Accounts returns every account that the record has to do with, by its key.
func (c ReadModel) Accounts(ctx context.Context) ([]console.Account, error) {
	found, err := engine.AllRows(ctx, c.engine, allAccounts, nil, func(r engine.ResultRow) (a console.Account, err error) {
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

// Lines implements [console.Store].
func (c ReadModel) Lines(ctx context.Context, from, to time.Time, limit int) ([]console.LineSpan, error) {
	found, err := engine.AllRows(ctx, c.engine, linesWithin, []any{engine.ToMillis(from), engine.ToMillis(to), limit}, func(r engine.ResultRow) (s console.LineSpan, err error) {
		var next time.Time
		err = r.Scan(&s.Line, &s.Account, &s.State, &s.Reason, engine.ScanTime(&s.From), engine.ScanTime(&s.To), engine.ScanTime(&next))
		if s.Newest = next.IsZero(); !s.Newest && next.Before(s.To) {
			s.To = next
		}
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("list how lines stood: %w", err)
	}
	return found, nil
}

const admittedChats engine.QueryText = `select m.account, m.chat, m.title, m.space, m.object, m.relay, m.live
from spaces s join mappings m on m.space = s.id where s.config_key is null and m.chat <> '' order by m.n`

// Learned returns what people decided while the program ran, beside the
// configuration: who waits at the desk or was admitted there, and the chats that
// were let in without being named.
func (c ReadModel) Learned(ctx context.Context) (access.PairingState, []spaces.ChatMapping, error) {
	desk, err := tables.LoadPairings(ctx, c.engine)
	if err != nil {
		return access.PairingState{}, nil, fmt.Errorf("read who was admitted: %w", err)
	}
	chats, err := engine.AllRows(ctx, c.engine, admittedChats, nil, tables.ScanMapping)
	if err != nil {
		return access.PairingState{}, nil, fmt.Errorf("list admitted chats: %w", err)
	}
	return desk, chats, nil
}

package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// keepLines is how long it is kept how lines stood.
const keepLines = 90 * 24 * time.Hour

const (
	insertLine engine.Query = `insert into line_spans (line, began, seen, account, state, reason) values ($1, $2, $2, $3, $4, $5)
on conflict (line, began) do update set account = excluded.account, state = excluded.state, reason = excluded.reason`
	seenLine engine.Query = `update line_spans set seen = $2 where line = $1 and seen < $2
and began = (select max(n.began) from line_spans n where n.line = $1 and n.began < $2)`
	dropLines   engine.Query = `delete from line_spans where seen < $1`
	linesWithin engine.Query = `select line, account, state, reason, began, seen,
  coalesce((select min(n.began) from line_spans n where n.line = l.line and n.began > l.began), 0)
from line_spans l where seen >= $1 and began <= $2 order by began, line limit $3 + 0`
)

var _ activity.ConnHistory = BridgeStore{}

// StateChanged implements [activity.Logbook]. What is older than ninety days goes.
func (b BridgeStore) StateChanged(ctx context.Context, s activity.ConnPeriod) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if !s.First {
			if err := t.Run(ctx, seenLine, s.Line, engine.ToMillis(s.From)); err != nil {
				return err
			}
		}
		if err := t.Run(ctx, dropLines, engine.ToMillis(s.From.Add(-keepLines))); err != nil {
			return err
		}
		return t.Run(ctx, insertLine, s.Line, engine.ToMillis(s.From), s.Account, string(s.State), s.Reason)
	})
	if err != nil {
		return fmt.Errorf("note that %s is %s: %w", s.Line, s.State, err)
	}
	return nil
}

// StillInState implements [activity.Logbook].
func (b BridgeStore) StillInState(ctx context.Context, line string, at time.Time) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.Run(ctx, seenLine, line, engine.ToMillis(at)) })
	if err != nil {
		return fmt.Errorf("note that %s was seen: %w", line, err)
	}
	return nil
}

// Lines implements [console.Record].
func (c ReadModel) Lines(ctx context.Context, from, to time.Time, limit int) ([]console.LineSpan, error) {
	found, err := engine.AllRows(ctx, c.engine, linesWithin, []any{engine.ToMillis(from), engine.ToMillis(to), limit}, func(r engine.Row) (s console.LineSpan, err error) {
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

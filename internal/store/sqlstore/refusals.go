package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// refusalsKept is how long it is kept that somebody was turned away.
const refusalsKept = 30 * 24 * time.Hour

const (
	countRefusal engine.Query = `insert into refusals (account, chat, scope, user_id, kind, n, first_at, last_at) values ($1, $2, $3, $4, $5, 1, $6, $6)
on conflict (account, chat, scope, user_id, kind) do update set n = refusals.n + 1, last_at = excluded.last_at`
	forgetRefusals engine.Query = `delete from refusals where last_at < $1`
	newestRefusals engine.Query = `select account, chat, scope, user_id, kind, n, first_at, last_at from refusals order by last_at desc limit $1 + 0`
)

// countRefusals counts who was turned away with this batch.
func (i *ingestTx) countRefusals(ctx context.Context) error {
	for _, r := range i.batch.Refused {
		err := i.Run(ctx, countRefusal, i.batch.Account, r.Chat, r.Who.Scope, r.Who.User, r.Kind, engine.ToMillis(i.batch.At))
		if err != nil {
			return fmt.Errorf("count refusal: %w", err)
		}
	}
	if len(i.batch.Refused) == 0 {
		return nil
	}
	return i.Run(ctx, forgetRefusals, engine.ToMillis(i.batch.At.Add(-refusalsKept)))
}

// Refusals returns who was turned away, the newest first.
func (b BridgeStore) Refusals(ctx context.Context, limit int) ([]activity.RejectedSender, error) {
	found, err := engine.AllRows(ctx, b.s.engine, newestRefusals, []any{limit}, func(r engine.Row) (f activity.RejectedSender, err error) {
		return f, r.Scan(&f.Account, &f.Chat, &f.Scope, &f.User, &f.Kind, &f.Count, engine.ScanTime(&f.First), engine.ScanTime(&f.Last))
	})
	if err != nil {
		return nil, fmt.Errorf("list refusals: %w", err)
	}
	return found, nil
}

// hush keeps a message of somebody who writes too fast from the gate, but not from
// those who read: its rows are decided before anybody is woken.
func (t *inboxTx) ignoreForAll(ctx context.Context, e spaces.Event, why string) error {
	r, err := t.space.load(ctx, e.Space)
	if err != nil || r == nil {
		return err
	}
	for _, m := range r.minds {
		if err := t.Run(ctx, ignoreRow, string(m.Agent), string(m.Circle), string(e.Space), e.Seq, why); err != nil {
			return fmt.Errorf("hush %s for %s: %w", e.ID, m, err)
		}
	}
	return nil
}

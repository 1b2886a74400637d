package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	waitingByAccount engine.Query = `select account, count(*), min(created) from outbox where state in ('ready', 'sending')
group by account order by account`
	unknownByAccount engine.Query = `select account, count(*) from outbox
where state = 'unknown' and settled >= $1
group by account order by account`
	denialsByAgent engine.Query = `select agent || '', count(*) from denials where at >= $1 group by agent || '' order by 1`
	spentOfDay     engine.Query = `select agent, space, prompt + output from usage where day = $1 order by agent, space`
	leasesLost     engine.Query = `select coalesce(sum(refused), 0) from leases`
)

var _ alerts.MetricsReader = AlertStore{}

// Vitals implements [problems.Gauge].
func (p AlertStore) Vitals(ctx context.Context, since, at time.Time) (v alerts.Metrics, err error) {
	err = p.s.engine.View(ctx, func(ctx context.Context, src engine.Reader) (err error) {
		v.Queues, err = engine.AllRows(ctx, src, waitingByAccount, nil, func(r engine.Row) (q alerts.Queue, err error) {
			return q, r.Scan(&q.Account, &q.Waiting, engine.ScanTime(&q.Oldest))
		})
		if err != nil {
			return err
		}
		if v.Unknown, err = engine.AllRows(ctx, src, unknownByAccount, []any{engine.ToMillis(since)}, scanCount); err != nil {
			return err
		}
		if v.Denials, err = engine.AllRows(ctx, src, denialsByAgent, []any{engine.ToMillis(since)}, scanCount); err != nil {
			return err
		}
		v.Spent, err = engine.AllRows(ctx, src, spentOfDay, []any{engine.DayNumber(at)}, func(r engine.Row) (s alerts.DailyUsage, err error) {
			return s, r.Scan(&s.Agent, &s.Space, &s.Tokens)
		})
		if err != nil {
			return err
		}
		if _, err = engine.ScanRow(ctx, src, leasesLost, nil, &v.Lost); err != nil {
			return err
		}
		v.Began, err = engine.CreatedAt(ctx, src)
		return err
	})
	if err != nil {
		return alerts.Metrics{}, fmt.Errorf("read vitals: %w", err)
	}
	if p.s.writer != nil {
		v.Slowest = p.s.writer.TakeSlowest()
	}
	return v, nil
}

func scanCount(r engine.Row) (c alerts.NamedCount, err error) { return c, r.Scan(&c.Name, &c.N) }

package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
)

const (
	waitingByAccount query = `select account, count(*), min(created) from outbox where state in ('ready', 'sending')
group by account order by account`
	unknownByAccount query = `select account, count(*) from outbox
where state = 'unknown' and settled >= $1
group by account order by account`
	denialsByAgent query = `select agent || '', count(*) from denials where at >= $1 group by agent || '' order by 1`
	spentOfDay     query = `select agent, space, prompt + output from usage where day = $1 order by agent, space`
	recordBegan    query = `select coalesce(cast(min(tstamp) as text), '') from goose_db_version where version_id > 0`
	leasesLost     query = `select coalesce(sum(refused), 0) from leases`
)

var _ alerts.MetricsReader = AlertStore{}

// Vitals implements [problems.Gauge].
func (p AlertStore) Vitals(ctx context.Context, since, at time.Time) (v alerts.Metrics, err error) {
	err = p.s.engine.View(ctx, func(ctx context.Context, src Reader) (err error) {
		v.Queues, err = all(ctx, src, waitingByAccount, nil, func(r row) (q alerts.Queue, err error) {
			return q, r.Scan(&q.Account, &q.Waiting, timeScanner{&q.Oldest})
		})
		if err != nil {
			return err
		}
		if v.Unknown, err = all(ctx, src, unknownByAccount, []any{ms(since)}, scanCount); err != nil {
			return err
		}
		if v.Denials, err = all(ctx, src, denialsByAgent, []any{ms(since)}, scanCount); err != nil {
			return err
		}
		v.Spent, err = all(ctx, src, spentOfDay, []any{day(at)}, func(r row) (s alerts.DailyUsage, err error) {
			return s, r.Scan(&s.Agent, &s.Space, &s.Tokens)
		})
		if err != nil {
			return err
		}
		if _, err = one(ctx, src, leasesLost, nil, &v.Lost); err != nil {
			return err
		}
		v.Began, err = Began(ctx, src)
		return err
	})
	if err != nil {
		return alerts.Metrics{}, fmt.Errorf("read vitals: %w", err)
	}
	if p.s.writer != nil {
		v.Slowest = time.Duration(p.s.writer.slowest.Swap(0))
	}
	return v, nil
}

func scanCount(r row) (c alerts.NamedCount, err error) { return c, r.Scan(&c.Name, &c.N) }

// Began returns when the first migration of a record ran; zero when that is not
// known.
func Began(ctx context.Context, src Reader) (time.Time, error) {
	var text string
	_, err := one(ctx, src, recordBegan, nil, &text)
	return beganAt(text), err
}

// beganAt reads the moment at which the first migration ran; zero when it says
// nothing.
func beganAt(text string) time.Time {
	for _, layout := range []string{time.DateTime, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	return time.Time{}
}

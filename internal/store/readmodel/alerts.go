package readmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
)

const (
	problemColumns engine.QueryText = `id, code, severity, subject, evidence, opened, seen, count, well, closed, acked, told, over`
	openProblems   engine.QueryText = `select ` + problemColumns + ` from problems where closed = 0
union all select ` + problemColumns + ` from problems where closed > $1 order by opened, id`
)

// An AlertReader reads alerts and what they are derived from.
type AlertReader struct {
	engine engine.DatabaseEngine
	clock  func() engine.DatabaseClock // of the last transaction
}

// NewAlertReader returns a reader of alerts. clock returns the clock by which leases
// and timers are stored.
func NewAlertReader(e engine.DatabaseEngine, clock func() engine.DatabaseClock) AlertReader {
	return AlertReader{e, clock}
}

// Problems returns the reader of alerts.
func (c ReadModel) Problems() AlertReader {
	return AlertReader{c.engine, func() engine.DatabaseClock { return engine.DatabaseClock{} }}
}

// Problems implements [problems.Store].
func (p AlertReader) Problems(ctx context.Context, since time.Time) ([]alerts.Alert, error) {
	found, err := engine.AllRows(ctx, p.engine, openProblems, []any{engine.ToMillis(since)}, scanProblem)
	if err != nil {
		return nil, fmt.Errorf("read problems: %w", err)
	}
	return found, nil
}

func scanProblem(r engine.ResultRow) (p alerts.Alert, err error) {
	return p, r.Scan(&p.ID, &p.Code, &p.Severity, &p.Subject, &p.Evidence, engine.ScanTime(&p.Opened), engine.ScanTime(&p.Seen), &p.Count,
		engine.ScanTime(&p.Well), engine.ScanTime(&p.Closed), engine.ScanTime(&p.Acked), &p.Told, &p.Over)
}

const (
	// What a mind could begin with: rows, a cycle whose holder is gone, the end of a
	// wait, and timers, which are a place of their own. A cycle that was given back
	// says nothing of when; it waits for the mind's others. Nearly all cycles began by
	// then: by that the engine is not to look for them.
	idleMinds engine.QueryText = `select agent, circle, count(*), min(since),
  (select count(*) from leases r where r.agent = w.agent and r.circle = w.circle and r.expires > $1) from (
  select i.agent, i.circle, i.space, min(case when i.not_before > i.at then i.not_before else i.at end) as since from inbox i
  where i.state = 'ready' and i.at <= $2 and i.not_before <= $2
    and not exists (select 1 from timers t where t.agent = i.agent and t.circle = i.circle and t.kind = 'sleep' and t.fired_by = '')
  group by i.agent, i.circle, i.space
  union all
  select c.agent, c.circle, c.space, case when l.expires > c.started then l.expires else c.started end as since from cycles c
  join leases l on l.agent = c.agent and l.circle = c.circle and l.space = c.space
  where c.state = 'open' and c.started + 0 <= $2 and l.expires <= $2 and (l.expires > 0 or not exists (
    select 1 from leases o where o.agent = c.agent and o.circle = c.circle and o.expires > $1))
  union all
  select x.agent, x.circle, x.space, x.due as since from waits x where x.state <> 'told' and x.due <= $2
    and not exists (select 1 from timers t where t.agent = x.agent and t.circle = x.circle and t.kind = 'sleep' and t.fired_by = '')
  union all
  select t.agent, t.circle, '', t.due as since from timers t where t.fired_by = '' and t.due <= $2
) w where not exists (
  select 1 from leases l where l.agent = w.agent and l.circle = w.circle and l.space = w.space and l.expires > $1)
group by agent, circle order by agent, circle`
	idleActions engine.QueryText = `select o.account, count(*), min(case when o.not_before > o.created then o.not_before else o.created end), min(o.n) from outbox o
where o.state in ('ready', 'sending') and o.state = 'ready' and o.created <= $1 and o.not_before <= $1 and ` + tables.IsLaneHead + `
group by o.account order by o.account`
)

// Idle implements [problems.Gauge].
func (p AlertReader) Idle(ctx context.Context, before, now time.Time) (idle alerts.UnclaimedWork, err error) {
	c := p.clock()
	until := engine.ToMillis(c.ToShared(before))
	err = p.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) (err error) {
		idle.Minds, err = engine.AllRows(ctx, src, idleMinds, []any{engine.ToMillis(c.ToShared(now)), until}, func(r engine.ResultRow) (m alerts.UnclaimedMind, err error) {
			err = r.Scan(&m.Agent, &m.Circle, &m.Rooms, engine.ScanTime(&m.Since), &m.Runs)
			m.Since = c.ToLocal(m.Since)
			return m, err
		})
		if err != nil {
			return err
		}
		idle.Queues, err = engine.AllRows(ctx, src, idleActions, []any{until}, func(r engine.ResultRow) (q alerts.UnclaimedQueue, err error) {
			err = r.Scan(&q.Account, &q.Waiting, engine.ScanTime(&q.Since), &q.First)
			q.Since = c.ToLocal(q.Since)
			return q, err
		})
		return err
	})
	if err != nil {
		return alerts.UnclaimedWork{}, fmt.Errorf("read unclaimed work: %w", err)
	}
	return idle, nil
}

const (
	waitingByAccount engine.QueryText = `select account, count(*), min(created) from outbox where state in ('ready', 'sending')
group by account order by account`
	unknownByAccount engine.QueryText = `select account, count(*) from outbox
where state = 'unknown' and settled >= $1
group by account order by account`
	denialsByAgent engine.QueryText = `select agent || '', count(*) from denials where at >= $1 group by agent || '' order by 1`
	spentOfDay     engine.QueryText = `select agent, space, prompt + output, cost from usage where day = $1 order by agent, space`
	leasesLost     engine.QueryText = `select coalesce(sum(refused), 0) from leases`
)

var _ alerts.MetricsReader = AlertReader{}

// Vitals implements [problems.Gauge].
func (p AlertReader) Vitals(ctx context.Context, since, at time.Time) (v alerts.StoreMetrics, err error) {
	err = p.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) (err error) {
		v.Queues, err = engine.AllRows(ctx, src, waitingByAccount, nil, func(r engine.ResultRow) (q alerts.AccountQueue, err error) {
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
		v.Spent, err = engine.AllRows(ctx, src, spentOfDay, []any{engine.DayNumber(at)}, func(r engine.ResultRow) (s alerts.DailyUsage, err error) {
			return s, r.Scan(&s.Agent, &s.Space, &s.Used.Tokens, &s.Used.Cost)
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
		return alerts.StoreMetrics{}, fmt.Errorf("read metrics: %w", err)
	}
	return v, nil
}

func scanCount(r engine.ResultRow) (c alerts.NamedCount, err error) { return c, r.Scan(&c.Name, &c.N) }

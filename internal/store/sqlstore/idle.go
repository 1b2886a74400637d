package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	// What a mind could begin with: rows, a cycle whose holder is gone, the end of a
	// wait, and timers, which are a place of their own. A cycle that was given back
	// says nothing of when; it waits for the mind's others. Nearly all cycles began by
	// then: by that the engine is not to look for them.
	idleMinds engine.Query = `select agent, circle, count(*), min(since),
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
	idleActions engine.Query = `select o.account, count(*), min(case when o.not_before > o.created then o.not_before else o.created end), min(o.n) from outbox o
where o.state in ('ready', 'sending') and o.state = 'ready' and o.created <= $1 and o.not_before <= $1 and ` + isHead + `
group by o.account order by o.account`
)

// Idle implements [problems.Gauge].
func (p AlertStore) Idle(ctx context.Context, before, now time.Time) (idle alerts.UnclaimedWork, err error) {
	var c engine.Clock
	if p.s.writer != nil {
		c = p.s.clock()
	}
	until := engine.ToMillis(c.ToShared(before))
	err = p.s.engine.View(ctx, func(ctx context.Context, src engine.Reader) (err error) {
		idle.Minds, err = engine.AllRows(ctx, src, idleMinds, []any{engine.ToMillis(c.ToShared(now)), until}, func(r engine.Row) (m alerts.UnclaimedMind, err error) {
			err = r.Scan(&m.Agent, &m.Circle, &m.Rooms, engine.ScanTime(&m.Since), &m.Runs)
			m.Since = c.ToLocal(m.Since)
			return m, err
		})
		if err != nil {
			return err
		}
		idle.Queues, err = engine.AllRows(ctx, src, idleActions, []any{until}, func(r engine.Row) (q alerts.UnclaimedQueue, err error) {
			err = r.Scan(&q.Account, &q.Waiting, engine.ScanTime(&q.Since), &q.First)
			q.Since = c.ToLocal(q.Since)
			return q, err
		})
		return err
	})
	if err != nil {
		return alerts.UnclaimedWork{}, fmt.Errorf("read what nobody takes up: %w", err)
	}
	return idle, nil
}

package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertRow engine.QueryText = `insert into inbox (agent, circle, space, seq, event, root, depth, state, at)
values ($1, $2, $3, $4, $5, $6, $7, 'ready', $8)`
	// waiting !A mind gets at most about a quarter of the list.
	waiting engine.QueryText = `select agent, circle, space, since from (
select agent, circle, space, min(since) as since, row_number() over (partition by agent, circle order by min(since), space) as k from (
  select i.agent, i.circle, i.space, min(i.at) as since from inbox i where i.state = 'ready' and i.not_before <= $1
    and not exists (select 1 from timers t where t.agent = i.agent and t.circle = i.circle and t.kind = 'sleep' and t.fired_by = '')
  group by i.agent, i.circle, i.space
  union all
  select c.agent, c.circle, c.space, c.started from cycles c where c.state = 'open'
  union all
  select x.agent, x.circle, x.space, x.due from waits x where x.state <> 'told' and x.due <= $1
    and not exists (select 1 from timers t where t.agent = x.agent and t.circle = x.circle and t.kind = 'sleep' and t.fired_by = '')
) w where not exists (
  select 1 from leases l where l.agent = w.agent and l.circle = w.circle and l.space = w.space and l.expires > $1)
group by agent, circle, space) p where k <= $2 / 4 + 1 order by since, agent, circle, space limit $2 + 0`

	// readyRows !The rows are found by the index of ready rows, not by the key, which
	// has all rows.
	readyRows engine.QueryText = `select ` + tables.InboxColumns + `, ` + tables.EventColumns + ` from (
  select agent, circle, space, seq from inbox
  where agent = $1 and circle = $2 and space = $3 and state = 'ready' order by seq limit $4 + 0) r
join inbox i on i.agent = r.agent and i.circle = r.circle and i.space = r.space and i.seq = r.seq
join events e on e.space = r.space and e.branch = 'main' and e.seq = r.seq order by r.seq`

	deferRow  engine.QueryText = `update inbox set not_before = $5 where agent = $1 and circle = $2 and space = $3 and seq = $4`
	ignoreRow engine.QueryText = `update inbox set state = 'ignored', reason = $5 where agent = $1 and circle = $2 and space = $3 and seq = $4`
	claimRow  engine.QueryText = `update inbox set state = 'claimed', reason = r.reason, cycle = r.cycle
from (select cast($1 as text) as agent, cast($2 as text) as circle, cast($3 as text) as space, cast($4 as bigint) as seq, cast($5 as text) as reason, cast($6 as text) as cycle) r
where inbox.agent = r.agent and inbox.circle = r.circle and inbox.space = r.space and inbox.seq = r.seq`
	consumeAll engine.QueryText = `update inbox set state = 'consumed' from (select cast($1 as text) as cycle) r
where inbox.cycle = r.cycle and inbox.cycle <> '' and inbox.state = 'claimed'`
	returnAll engine.QueryText = `update inbox set attempts = attempts + 1, not_before = $2, cycle = '',
  state = case when attempts + 1 >= $3 then 'dead' else 'ready' end,
  reason = case when attempts + 1 >= $3 then $4 else '' end
where cycle = $1 and cycle <> '' and state = 'claimed'`
	spareAll engine.QueryText = `update inbox set attempts = case when attempts < $3 then attempts + 1 else attempts end,
  not_before = $2, cycle = '', state = 'ready', reason = '' where cycle = $1 and cycle <> '' and state = 'claimed'`
	crashAll engine.QueryText = `update inbox set crashes = crashes + 1 where cycle = $1 and cycle <> '' and state = 'claimed'`
	dropAll  engine.QueryText = `update inbox set cycle = '',
  state = case when crashes >= $2 then 'dead' else 'ready' end,
  reason = case when crashes >= $2 then $3 else '' end
where cycle = $1 and cycle <> '' and state = 'claimed'`
)

const (
	maxAttempts = spaces.MaxAttempts // of a row before it is dead
	maxSpared   = 2                  // attempts that count while the failure is not the fault of the row
	maxCrashes  = 3                  // of a cycle before it is abandoned and its rows are dead
	maxRows     = 1000               // of one claim

)

// An inboxKey names the inbox of a mind in a space.
type inboxKey struct {
	mind  spaces.Mind
	space spaces.SpaceID
}

// needsGate reports whether events of a kind get inbox rows. A mind sees other events
// when it reads the space.
func needsGate(k spaces.EventKind) bool {
	switch k {
	case spaces.KindSaid, spaces.KindEdited, spaces.KindDeleted, spaces.KindReacted, spaces.KindUnreacted:
		return true
	default:
		return false
	}
}

// An inboxTx stores inbox rows and the decisions of the gate about them.
type inboxTx struct {
	*writeTx
	space *spaceTx
}

// deliver stores an inbox row for every mind uplinked to the space, except for the
// author, and returns those minds.
func (t *inboxTx) deliver(ctx context.Context, e spaces.Event) ([]spaces.Mind, error) {
	if e.Branch != spaces.Primary || !needsGate(e.Body.Kind()) {
		return nil, nil
	}
	r, err := t.space.load(ctx, e.Space)
	if err != nil {
		return nil, err
	}
	var minds []spaces.Mind
	for _, m := range r.minds {
		if m.Agent.Entity() == e.Actor {
			continue
		}
		err := t.Add(ctx, inboxRows, string(m.Agent), string(m.Circle), string(e.Space), e.Seq, string(e.ID),
			string(e.Root), e.Depth, engine.ToMillis(e.RecvAt))
		if err != nil {
			return nil, fmt.Errorf("deliver %s to %s: %w", e.ID, m, err)
		}
		if err := t.addReady(m, e); err != nil {
			return nil, err
		}
		minds = append(minds, m)
	}
	return minds, nil
}

// addReady caches a row that was delivered, with its event as it will be read, if all ready
// rows before it are known.
func (t *inboxTx) addReady(m spaces.Mind, e spaces.Event) error {
	here := inboxKey{m, e.Space}
	before, known := t.cache.recent.ready[here]
	known = known || t.cache.handled[here]
	delete(t.cache.handled, here)
	if !known {
		return nil
	}
	raw, err := spaces.Encode(e.Body)
	if err != nil {
		return err
	}
	if e.Body, err = spaces.Decode(e.Body.Kind(), raw); err != nil {
		return err
	}
	row := spaces.InboxRow{Mind: m, Space: e.Space, Seq: e.Seq, Event: e.ID, State: spaces.RowReady}
	t.cache.recent.ready[here] = append(before, tables.InboxEntry{InboxRow: row, Root: e.Root, Depth: e.Depth, Subject: e})
	return nil
}

// Waiting implements [shell.WakeQueue].
func (s WakeStore) Waiting(ctx context.Context, at time.Time, limit int) ([]spaces.PendingWork, error) {
	out, err := engine.AllRows(ctx, s.s.engine, waiting, []any{engine.ToMillis(s.s.clock().ToShared(at)), limit}, func(r engine.ResultRow) (w spaces.PendingWork, err error) {
		return w, r.Scan(&w.Mind.Agent, &w.Mind.Circle, &w.Space, engine.ScanTime(&w.Since))
	})
	if err != nil {
		return nil, fmt.Errorf("list waiting minds: %w", err)
	}
	return out, nil
}

package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	addUsage engine.QueryText = `insert into usage (day, agent, space, prompt, cached, output, calls, cost) values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (day, agent, space) do update set prompt = usage.prompt + excluded.prompt, cached = usage.cached + excluded.cached,
  output = usage.output + excluded.output, calls = usage.calls + excluded.calls, cost = usage.cost + excluded.cost`
	chargeRoot engine.QueryText = `insert into roots (root, messages, tokens, cost) values ($1, $2, $3, $4)
on conflict (root) do update set messages = roots.messages + excluded.messages, tokens = roots.tokens + excluded.tokens, cost = roots.cost + excluded.cost`
	chargeSender engine.QueryText = `insert into senders (day, entity, tokens, cost) values ($1, $2, $3, $4)
on conflict (day, entity) do update set tokens = senders.tokens + excluded.tokens, cost = senders.cost + excluded.cost`
	payingRows engine.QueryText = `select i.root, e.actor from inbox i
join events e on e.space = i.space and e.branch = 'main' and e.seq = i.seq where i.cycle = $1 and i.cycle <> ''
union all select w.root, '' from waits w where w.woke = $1 and w.woke <> ''`
	timerSpace engine.QueryText = `select t.space from cycles y join timers t on t.id = y.timer where y.id = $1`

	forgetSenders engine.QueryText = `delete from senders where day < $1`
	stopRoot      engine.QueryText = `insert into roots (root, stopped) values ($1, 1) on conflict (root) do update set stopped = 1`
)

// chargeUsage adds the usage of the step to the day and to every causal chain of the
// cycle.
func (k *stepTx) chargeUsage(ctx context.Context) error {
	u := k.commit.Step.Usage
	room := k.trigger
	if room == "" && u != (spaces.TokenUsage{}) { // the space of its timer
		if _, err := engine.ScanRow(ctx, k, timerSpace, []any{string(k.commit.Step.Cycle)}, &room); err != nil {
			return fmt.Errorf("find the room of a timer: %w", err)
		}
	}
	if err := k.usage.addDaily(ctx, k.commit.At, k.mind.Agent, room, u); err != nil {
		return err
	}
	if u.Used() == (money.UsedTokens{}) && k.sent == 0 {
		return nil
	}
	charged, err := k.usage.accountsOf(ctx, k.commit.Step.Cycle)
	if err != nil {
		return fmt.Errorf("find who is answered: %w", err)
	}
	if err := k.chargePeople(ctx, charged.people, u.Used()); err != nil {
		return err
	}
	if k.trigger != "" {
		return k.chargeChains(ctx, charged.roots, u.Used())
	}
	// Each message of a wake without a space begins a chain.
	for _, e := range k.result.Events {
		if _, said := e.Body.(spaces.MessagePosted); !said {
			continue
		}
		if err := k.Add(ctx, rootRows, string(e.Root), 1, u.Total(), u.Cost); err != nil {
			return err
		}
	}
	return nil
}

// A usageTx counts tokens for days, chains and people.
type usageTx struct {
	*writeTx
	entity *entityTx
}

// addDaily adds usage in a space to the day. The agent is empty for usage outside of
// steps.
func (t *usageTx) addDaily(ctx context.Context, at time.Time, agent spaces.AgentID, space spaces.SpaceID, u spaces.TokenUsage) error {
	if u == (spaces.TokenUsage{}) {
		return nil
	}
	if err := t.Add(ctx, usageRows, engine.DayNumber(at), string(agent), string(space), u.Prompt, u.Cached, u.Output, u.Calls, u.Cost); err != nil {
		return fmt.Errorf("count usage: %w", err)
	}
	if agent != "" {
		return nil // its figures are counted when the run ends
	}
	var c console.FigureCounts
	c.AddUsage(u)
	sum := figureSum{}
	sum.add(console.FigureScope{Space: space}, engine.ToMillis(at), c, noAnswer)
	return t.addFigures(ctx, sum)
}

// chargePeople adds usage to the people whose words woke the cycle or set its timer.
func (k *stepTx) chargePeople(ctx context.Context, people []spaces.EntityID, u money.UsedTokens) error {
	for _, who := range people {
		if u == (money.UsedTokens{}) {
			break
		}
		if err := k.Add(ctx, senderRows, engine.DayNumber(k.commit.At), string(who), u.Tokens, u.Cost); err != nil {
			return fmt.Errorf("count for senders: %w", err)
		}
		key := senderKey{engine.DayNumber(k.commit.At), who}
		if used, known := k.cache.recent.senders[key]; known {
			k.cache.recent.senders[key] = money.UsedTokens{Tokens: used.Tokens + u.Tokens, Cost: used.Cost + u.Cost}
		}
	}
	return nil
}

// chargeChains adds usage and messages to the causal chains of the cycle.
func (k *stepTx) chargeChains(ctx context.Context, roots []spaces.EventID, u money.UsedTokens) error {
	for _, root := range roots {
		if err := k.Add(ctx, rootRows, string(root), k.sent, u.Tokens, u.Cost); err != nil {
			return fmt.Errorf("count for chain %s: %w", root, err)
		}
	}
	return nil
}

// The usageAccounts of a cycle are the causal chains of its rows, and the people whose
// words woke it or set its timer.
type usageAccounts struct {
	roots  []spaces.EventID
	people []spaces.EntityID
}

// accountsOf returns the accounts of a cycle. The cache is dropped when the cycle takes
// more rows.
func (t *usageTx) accountsOf(ctx context.Context, id spaces.CycleID) (p usageAccounts, err error) {
	if p, ok := t.cache.accounts[id]; ok {
		return p, nil
	}
	rows, err := engine.AllRows(ctx, t, payingRows, []any{string(id)}, func(r engine.ResultRow) (e tables.InboxEntry, err error) {
		return e, r.Scan(&e.Root, &e.Subject.Actor)
	})
	if err != nil {
		return p, err
	}
	if p, err = t.setAccounts(ctx, id, rows); err != nil || len(rows) > 0 {
		return p, err
	}
	_, err = engine.ScanRow(ctx, t, tables.TimerPayers, []any{string(id)}, engine.ScanList(&p.people))
	t.cache.accounts[id] = p
	return p, err
}

// setAccounts computes and caches the accounts of a cycle with these rows.
func (t *usageTx) setAccounts(ctx context.Context, id spaces.CycleID, rows []tables.InboxEntry) (p usageAccounts, err error) {
	actors := make([]spaces.EntityID, len(rows))
	for n, e := range rows {
		p.roots, actors[n] = append(p.roots, e.Root), e.Subject.Actor
	}
	actors = slices.DeleteFunc(actors, func(who spaces.EntityID) bool { return who == "" })
	slices.Sort(p.roots)
	slices.Sort(actors)
	p.roots = slices.Compact(p.roots)
	for _, who := range slices.Compact(actors) {
		kind, err := t.entity.kind(ctx, who)
		if err != nil {
			return p, err
		}
		if kind == spaces.Human {
			p.people = append(p.people, who)
		}
	}
	t.cache.accounts[id] = p
	return p, nil
}

// chainEntries returns the causal chains of waits as inbox entries.
func chainEntries(waits []spaces.PendingWait) []tables.InboxEntry {
	rows := make([]tables.InboxEntry, len(waits))
	for i := range waits {
		rows[i].Root = waits[i].Root
	}
	return rows
}

// Stop marks causal chains as stopped by a person: their events wake no agent.
func (s RunStore) Stop(ctx context.Context, roots ...spaces.EventID) error {
	return s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		for _, root := range roots {
			if err := t.Run(ctx, stopRoot, string(root)); err != nil {
				return fmt.Errorf("stop chain %s: %w", root, err)
			}
		}
		return nil
	})
}

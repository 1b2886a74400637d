package record

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	addUsage query = `insert into usage (day, agent, space, prompt, cached, output, calls) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (day, agent, space) do update set prompt = usage.prompt + excluded.prompt, cached = usage.cached + excluded.cached,
  output = usage.output + excluded.output, calls = usage.calls + excluded.calls`
	chargeRoots query = `insert into roots (root, messages, tokens)
select distinct root, cast($2 as bigint), cast($3 as bigint) from inbox where cycle = $1 and cycle <> ''
on conflict (root) do update set messages = roots.messages + excluded.messages, tokens = roots.tokens + excluded.tokens`
	chargeRoot query = `insert into roots (root, messages, tokens) values ($1, $2, $3)
on conflict (root) do update set messages = roots.messages + excluded.messages, tokens = roots.tokens + excluded.tokens`
	chargeSenders query = `insert into senders (day, entity, tokens)
select distinct cast($2 as bigint), n.id, cast($3 as bigint) from inbox i
join events e on e.space = i.space and e.branch = 'main' and e.seq = i.seq join entities n on n.id = e.actor and n.kind = 'human'
where i.cycle = $1 and i.cycle <> ''
on conflict (day, entity) do update set tokens = senders.tokens + excluded.tokens`
	senderTokens  query = `select tokens from senders where day = $1 and entity = $2`
	sendersTokens query = `select coalesce(max(s.tokens), 0) from inbox i
join events e on e.space = i.space and e.branch = 'main' and e.seq = i.seq join senders s on s.day = $2 and s.entity = e.actor
where i.cycle = $1 and i.cycle <> ''`
	forgetSenders query = `delete from senders where day < $1`
	stopRoot      query = `insert into roots (root, stopped) values ($1, 1) on conflict (root) do update set stopped = 1`
	spentOn       query = `select agent, space, prompt, cached, output from usage where day = $1`
)

// charge adds what the step took to the day's tallies and to every chain the
// cycle answers to.
func (k *commit) charge(ctx context.Context) error {
	u := k.c.Step.Usage
	if u != (spaces.Usage{}) {
		err := k.run(ctx, addUsage, day(k.c.At), string(k.mind.Agent), string(k.space), u.Prompt, u.Cached, u.Output, u.Calls)
		if err != nil {
			return fmt.Errorf("count usage: %w", err)
		}
	}
	if u.Total() == 0 && k.spoke == 0 {
		return nil
	}
	if u.Total() > 0 {
		if err := k.run(ctx, chargeSenders, string(k.c.Step.Cycle), day(k.c.At), u.Total()); err != nil {
			return fmt.Errorf("count for senders: %w", err)
		}
	}
	if k.space != "" {
		return k.run(ctx, chargeRoots, string(k.c.Step.Cycle), k.spoke, u.Total())
	}
	// A wake without a space begins chains of its own, one a message.
	for _, e := range k.done.Events {
		if _, said := e.Body.(spaces.Said); !said {
			continue
		}
		if err := k.run(ctx, chargeRoot, string(e.Root), 1, u.Total()); err != nil {
			return err
		}
	}
	return nil
}

// Stop marks causal chains as stopped by a person: nothing they lead to wakes
// anybody again.
func (s Shell) Stop(ctx context.Context, roots ...spaces.EventID) error {
	return s.s.write(ctx, func(ctx context.Context, t *tx) error {
		for _, root := range roots {
			if err := t.run(ctx, stopRoot, string(root)); err != nil {
				return fmt.Errorf("stop chain %s: %w", root, err)
			}
		}
		return nil
	})
}

// Spent implements [shell.Record]. Days are counted in UTC.
func (s Shell) Spent(ctx context.Context, at time.Time, agent spaces.AgentID, space spaces.SpaceID) (shell.Spent, error) {
	var sum shell.Spent
	err := each(ctx, s.s.engine, spentOn, []any{day(at)}, func(r row) error {
		var who spaces.AgentID
		var where spaces.SpaceID
		var u spaces.Usage
		if err := r.Scan(&who, &where, &u.Prompt, &u.Cached, &u.Output); err != nil {
			return err
		}
		sum.All += u.Total()
		if who == agent {
			sum.Agent += u.Total()
		}
		if where == space {
			sum.Space += u.Total()
		}
		return nil
	})
	if err != nil {
		return shell.Spent{}, fmt.Errorf("read usage: %w", err)
	}
	return sum, nil
}

// SpentBySenders implements [shell.Record].
func (s Shell) SpentBySenders(ctx context.Context, at time.Time, cycle spaces.CycleID) (int, error) {
	most := 0
	if _, err := one(ctx, s.s.engine, sendersTokens, []any{string(cycle), day(at)}, &most); err != nil {
		return 0, fmt.Errorf("read what senders used: %w", err)
	}
	return most, nil
}

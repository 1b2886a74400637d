package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

// Figures are counted from the log of events behind the writes of messages, which they do not
// slow: up to a place in the order of recording that is stored with the counts, so that each
// event is counted once whatever ends the process. Each fact is counted for its space, agent
// and platform and for every sum over them, so that a page reads one range of the key.

// HoursKept is how long figures of hours are stored; those of days stay.
const HoursKept = 14 * 24 * time.Hour

const (
	newestNumber engine.QueryText = `select coalesce(max(n), 0) from events`
	factsAfter   engine.QueryText = `select e.n, e.space, e.seq, e.kind, e.actor, e.recv_at, e.cause, e.body,
  coalesce((select m.account from messages m where m.event = e.id and m.own = 0 order by m.account limit 1), '') from events e
where e.n > $1 and e.n <= $2 and (e.kind = 'said' and e.source is not null and e.branch = 'main' or e.kind = 'delivered' or e.kind = 'failed' or e.kind = 'denied' or e.kind = 'stopped')
order by e.n`
	toldAgents engine.QueryText = `select distinct u.agent from uplinks u
join inbox i on i.agent = u.agent and i.circle = u.circle and i.space = u.space and i.seq = $2 where u.space = $1`
	actionFigure engine.QueryText = `select o.agent, o.account,
  (select count(*) from outbox p where p.cycle = o.cycle and p.cycle <> '' and p.ordinal < o.ordinal and p.kind = 'send') from outbox o where o.id = $1`
	answeredAt  engine.QueryText = `select c.recv_at from events m join events c on c.id = m.cause where m.id = $1 and c.kind = 'said' and c.source is not null`
	cycleFigure engine.QueryText = `select y.agent, case when y.space <> '' then y.space else coalesce(t.space, '') end,
  y.prompt, y.cached, y.output, y.calls, y.cost, coalesce(y.stop, ''),
  coalesce((select m.account from inbox i join messages m on m.event = i.event where i.cycle = y.id and i.cycle <> '' and m.own = 0 order by i.seq, m.account limit 1), '')
from cycles y left join timers t on t.id = y.timer where y.id = $1`

	addFigure engine.QueryText = `insert into figures (span, space, agent, platform, at, received, sent, unsent, failed, denied, calls, prompt, cached, output, cost)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
on conflict (span, space, agent, platform, at) do update set received = figures.received + excluded.received, sent = figures.sent + excluded.sent,
  unsent = figures.unsent + excluded.unsent, failed = figures.failed + excluded.failed, denied = figures.denied + excluded.denied,
  calls = figures.calls + excluded.calls, prompt = figures.prompt + excluded.prompt, cached = figures.cached + excluded.cached,
  output = figures.output + excluded.output, cost = figures.cost + excluded.cost`
	addAnswers engine.QueryText = `insert into answer_times (span, space, agent, platform, at, bound, answers) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (span, space, agent, platform, at, bound) do update set answers = answer_times.answers + excluded.answers`
	dropFigures engine.QueryText = `delete from figures where span = $1 and at < $2`
	dropAnswers engine.QueryText = `delete from answer_times where span = $1 and at < $2`
)

// A FigureStore counts what happened over time, and reads it.
type FigureStore struct {
	readmodel.FigureTable
	s *Store
}

// Count counts the next events, up to limit of them, and reports whether there are more.
// Several processes may call it: each event is counted by one of them.
func (f FigureStore) Count(ctx context.Context, limit int) (more bool, err error) {
	var from, upto, newest int64
	sum := figureSum{}
	err = f.s.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) (err error) {
		if from, err = tables.MetaNumber(ctx, src, tables.MetaFigures); err != nil {
			return err
		}
		if _, err = engine.ScanRow(ctx, src, newestNumber, nil, &newest); err != nil {
			return err
		}
		upto = min(newest, from+int64(limit))
		return sum.addEvents(ctx, src, from, upto)
	})
	if err != nil {
		return false, fmt.Errorf("count events after %d: %w", from, err)
	}
	if upto <= from {
		return false, nil
	}
	err = f.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if at, err := tables.MetaNumber(ctx, t, tables.MetaFigures); err != nil || at != from {
			return err // another process has counted them
		}
		if err := t.usage.addFigures(ctx, sum); err != nil {
			return err
		}
		return t.Run(ctx, storeMeta, tables.MetaFigures, strconv.FormatInt(upto, 10))
	})
	if err != nil {
		return false, fmt.Errorf("store figures up to event %d: %w", upto, err)
	}
	return upto < newest, nil
}

// DropHours deletes the figures of hours that are older than [HoursKept].
func (f FigureStore) DropHours(ctx context.Context, now time.Time) error {
	err := f.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		for _, q := range []engine.QueryText{dropFigures, dropAnswers} {
			if err := t.Run(ctx, q, console.FigureHour.Milliseconds(), engine.ToMillis(now.Add(-HoursKept))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete figures of hours: %w", err)
	}
	return nil
}

// A figureKey is the key of a row of figures.
type figureKey struct {
	span  int64 // milliseconds
	scope console.FigureScope
	at    int64
}

// A figureSum is what is to be added to the rows of figures.
type figureSum map[figureKey]*console.FigurePoint

// add adds a fact to all rows that it counts in.
func (s figureSum) add(scope console.FigureScope, at int64, c console.FigureCounts, answer time.Duration) {
	s.addRows(sumsOf(scope), at, c, answer)
}

// addRows adds a fact to the rows of the scopes.
func (s figureSum) addRows(scopes []console.FigureScope, at int64, c console.FigureCounts, answer time.Duration) {
	for _, span := range []int64{console.FigureHour.Milliseconds(), console.FigureDay.Milliseconds()} {
		for _, o := range scopes {
			key := figureKey{span, o, at - at%span}
			if s[key] == nil {
				s[key] = &console.FigurePoint{Times: console.AnswerTimes{}}
			}
			s[key].Add(c)
			if answer >= 0 {
				s[key].Times[console.AnswerBound(answer)]++
			}
		}
	}
}

// noAnswer is the answer time of what is no answer.
const noAnswer time.Duration = -1

// sumsOf returns a scope with every scope that includes it.
func sumsOf(s console.FigureScope) []console.FigureScope {
	all := []console.FigureScope{s}
	for _, widen := range []func(*console.FigureScope){
		func(o *console.FigureScope) { o.Space = "" }, func(o *console.FigureScope) { o.Agent = "" }, func(o *console.FigureScope) { o.Platform = "" },
	} {
		for _, o := range all {
			widen(&o)
			all = engine.AppendNew(all, o)
		}
	}
	return all
}

// A countedEvent is an event that figures are counted from.
type countedEvent struct {
	n, seq, at int64
	space      spaces.SpaceID
	actor      spaces.EntityID
	cause      spaces.EventID
	body       spaces.EventBody
	platform   string // of a message of a person
}

func scanCounted(r engine.ResultRow) (e countedEvent, err error) {
	var kind, account string
	var body []byte
	if err := r.Scan(&e.n, &e.space, &e.seq, &kind, &e.actor, &e.at, &e.cause, &body, &account); err != nil {
		return e, err
	}
	e.platform = platformOf(account)
	e.body, err = spaces.Decode(spaces.EventKind(kind), body)
	return e, err
}

// addEvents adds the events behind a place in the order of recording, up to another.
func (s figureSum) addEvents(ctx context.Context, src engine.QueryReader, from, upto int64) error {
	events, err := engine.AllRows(ctx, src, factsAfter, []any{from, upto}, scanCounted)
	if err != nil {
		return err
	}
	for _, e := range events {
		switch b := e.body.(type) { //nolint:gochecksumtype // the query brings these five alone
		case spaces.MessagePosted:
			err = s.addMessage(ctx, src, e, b)
		case spaces.ActionDelivered:
			err = s.addOutcome(ctx, src, e, b.Action, spaces.ActionSent)
		case spaces.SendFailed:
			err = s.addOutcome(ctx, src, e, b.Action, b.State)
		case spaces.CallDenied:
			err = s.addDenial(ctx, src, e, b.Denial)
		case spaces.CycleStopped:
			err = s.addCycle(ctx, src, e, b.Cycle)
		}
		if err != nil {
			return fmt.Errorf("event %d: %w", e.n, err)
		}
	}
	return nil
}

// addMessage adds a message of a person or of another program, once for each agent that was to
// be shown it and once for all.
func (s figureSum) addMessage(ctx context.Context, src engine.QueryReader, e countedEvent, b spaces.MessagePosted) error {
	if _, ours := e.actor.IsAgent(); ours || b.Past {
		return nil
	}
	agents, err := engine.AllRows(ctx, src, toldAgents, []any{string(e.space), e.seq}, engine.ScanValue[spaces.AgentID])
	if err != nil {
		return err
	}
	counted := []console.FigureScope{}
	for _, agent := range append(agents, "") {
		for _, o := range sumsOf(console.FigureScope{Space: e.space, Agent: agent, Platform: e.platform}) {
			counted = engine.AppendNew(counted, o)
		}
	}
	s.addRows(counted, e.at, console.FigureCounts{Received: 1}, noAnswer)
	return nil
}

// addOutcome adds what became of a message of an agent; with the first one of a run, how long
// the person waited whom it answers.
func (s figureSum) addOutcome(ctx context.Context, src engine.QueryReader, e countedEvent, id spaces.ActionID, state spaces.ActionState) error {
	var c console.FigureCounts
	switch state {
	case spaces.ActionSent:
		c.Sent = 1
	case spaces.ActionFailed, spaces.ActionExpired:
		c.Unsent = 1
	case spaces.ActionReady, spaces.ActionSending, spaces.ActionUnknown, spaces.ActionCancelled:
		return nil // not decided, or as a person asked
	}
	scope := console.FigureScope{Space: e.space}
	var account string
	var before int
	found, err := engine.ScanRow(ctx, src, actionFigure, []any{string(id)}, &scope.Agent, &account, &before)
	if err != nil || !found {
		return err
	}
	scope.Platform = platformOf(account)
	answer, asked := noAnswer, int64(0)
	if c.Sent > 0 && before == 0 {
		if found, err = engine.ScanRow(ctx, src, answeredAt, []any{string(e.cause)}, &asked); err != nil {
			return err
		}
		if found {
			answer = max(time.Duration(e.at-asked)*time.Millisecond, 0)
		}
	}
	s.add(scope, e.at, c, answer)
	return nil
}

// addDenial adds a tool call that was refused.
func (s figureSum) addDenial(ctx context.Context, src engine.QueryReader, e countedEvent, d spaces.Denial) error {
	run, _, err := runFigure(ctx, src, d.Cycle)
	s.add(console.FigureScope{Space: d.Space, Agent: d.Agent, Platform: run.Platform}, e.at, console.FigureCounts{Denied: 1}, noAnswer)
	return err
}

// addCycle adds a run that has ended, with what it used.
func (s figureSum) addCycle(ctx context.Context, src engine.QueryReader, e countedEvent, id spaces.CycleID) error {
	run, c, err := runFigure(ctx, src, id)
	if c != (console.FigureCounts{}) {
		s.add(run, e.at, c, noAnswer)
	}
	return err
}

// runFigure returns where a run belongs and what it used.
func runFigure(ctx context.Context, src engine.QueryReader, id spaces.CycleID) (scope console.FigureScope, c console.FigureCounts, err error) {
	var u spaces.TokenUsage
	var stop spaces.StopReason
	var account string
	_, err = engine.ScanRow(ctx, src, cycleFigure, []any{string(id)},
		&scope.Agent, &scope.Space, &u.Prompt, &u.Cached, &u.Output, &u.Calls, &u.Cost, &stop, &account)
	scope.Platform = platformOf(account)
	c.AddUsage(u)
	if stop.Failed() {
		c.Failed = 1
	}
	return scope, c, err
}

// addFigures adds a sum to the rows.
func (t *usageTx) addFigures(ctx context.Context, sum figureSum) error {
	for _, key := range slices.SortedFunc(maps.Keys(sum), compareFigureKeys) {
		p := sum[key]
		at := []any{key.span, string(key.scope.Space), string(key.scope.Agent), key.scope.Platform, key.at}
		err := t.Run(ctx, addFigure, append(slices.Clone(at), p.Received, p.Sent, p.Unsent, p.Failed, p.Denied, p.Calls, p.Prompt, p.Cached, p.Output, p.Cost)...)
		if err != nil {
			return fmt.Errorf("add figures: %w", err)
		}
		for _, bound := range slices.Sorted(maps.Keys(p.Times)) {
			if err := t.Run(ctx, addAnswers, append(slices.Clone(at), bound, p.Times[bound])...); err != nil {
				return fmt.Errorf("add answer times: %w", err)
			}
		}
	}
	return nil
}

// compareFigureKeys orders keys as the table does, so that rows are written side by side.
func compareFigureKeys(a, b figureKey) int {
	return cmp.Or(cmp.Compare(a.span, b.span), cmp.Compare(a.scope.Space, b.scope.Space), cmp.Compare(a.scope.Agent, b.scope.Agent),
		cmp.Compare(a.scope.Platform, b.scope.Platform), cmp.Compare(a.at, b.at))
}

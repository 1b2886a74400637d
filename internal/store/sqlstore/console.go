package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// The conditions are those of partial indexes: what is done is not looked at.
	tallyAll engine.Query = `select
  (select count(*) from inbox where state = 'ready')
    + (select count(*) from cycles y join inbox i on i.cycle = y.id where y.state = 'open' and i.cycle <> ''),
  (select count(*) from cycles where state = 'open'),
  (select count(*) from outbox where state in ('ready', 'sending')),
  (select coalesce(min(created), 0) from outbox where state in ('ready', 'sending')),
  (select count(*) from outbox
    where (state = 'unknown' or state = 'failed' or state = 'expired' or state = 'cancelled') and state = 'unknown'),
  (select count(*) from outbox
    where (state = 'unknown' or state = 'failed' or state = 'expired' or state = 'cancelled') and settled >= $1 and state in ('failed', 'expired')),
  (select count(*) from timers where fired_by = ''),
  (select count(*) from waits where state <> 'told' and state = 'open'),
  (select coalesce(sum(prompt + output), 0) from usage where day = $2)`
	roomColumns engine.Query = `s.id, s.kind, s.name, s.circle, s.wake, s.direct, s.closed, s.agent_run, s.created_at,
  (select count(*) from members m where m.space = s.id), b.head_seq, b.last_at
from spaces s join branches b on b.space = s.id and b.id = 'main'`
	allRooms    engine.Query = `select ` + roomColumns + ` where s.kind = 'room' order by s.created_at, s.id`
	roomAgents  engine.Query = `select agent, space from uplinks where live = 1 order by agent, n`
	mindColumns              = `select u.agent, u.circle,
  (select coalesce(max(y.n), 0) from cycles y where y.agent = u.agent and y.circle = u.circle and y.n is not null),
  (select count(*) from cycles y where y.agent = u.agent and y.circle = u.circle and y.state = 'open'),
  coalesce(sum(g.prompt), 0), coalesce(sum(g.cached), 0), coalesce(sum(g.output), 0)`
	mindUsage = `left join usage g on g.day = $1 and g.agent = u.agent
  and g.space in (select v.space from uplinks v where v.agent = u.agent and v.circle = u.circle)`
	allMinds engine.Query = mindColumns + `
from (select distinct agent, circle from uplinks) u ` + mindUsage + `
group by u.agent, u.circle order by u.agent, u.circle`
	lastCycle    engine.Query = `select ` + cycleColumns + ` from cycles where agent = $1 and circle = $2 order by started desc, id desc limit 1`
	namedCycles  engine.Query = `select ` + cycleColumns + ` from cycles where id >= $1 and id < $1 || '􏿿' order by id limit 2`
	lostDrafts   engine.Query = `select account, chat, message from drafts where cycle = $1 and length(text) = 0 order by step`
	cycleActions engine.Query = `select ` + actionColumns + ` from outbox o where o.cycle = $1 and o.cycle <> '' order by o.ordinal`
	innerEvents  engine.Query = `select ` + eventColumns + ` from events e
where e.space = $1 and e.branch = $2 and e.seq >= (select inner_from from cycles where id = $3)
  and e.seq <= (select case when inner_to = 0 then 9223372036854775807 else inner_to end from cycles where id = $3) order by e.seq`
	recentEvents engine.Query = `select ` + eventColumns + ` from events e join spaces s on s.id = e.space
where s.kind = 'room' and e.branch = 'main' order by e.n desc limit $1 + 0`
	recentIn    engine.Query = `select ` + eventColumns + ` from events e where e.space = $1 and e.branch = 'main' order by e.seq desc limit $2 + 0`
	newestTurns engine.Query = `select t.cycle, t.n, t.body from
  (select id, started from cycles where agent = $1 and circle = $2 order by started desc, id desc limit $3 + 0) y
join turns t on t.cycle = y.id order by y.started, y.id, t.n`
)

// Tally implements [console.Record].
func (c ReadModel) Tally(ctx context.Context, at time.Time) (console.Totals, error) {
	var n console.Totals
	_, err := engine.ScanRow(ctx, c.engine, tallyAll, []any{engine.ToMillis(engine.StartOfDay(at)), engine.DayNumber(at)},
		&n.Inbox, &n.Open, &n.Outbox, engine.ScanTime(&n.Oldest), &n.Unknown, &n.Failed, &n.Timers, &n.Waits, &n.Tokens)
	if err != nil {
		return n, fmt.Errorf("tally: %w", err)
	}
	if n.Bytes, err = c.engine.Size(ctx); err != nil {
		return n, fmt.Errorf("tally: %w", err)
	}
	return n, nil
}

// Rooms implements [console.Record].
func (c ReadModel) Rooms(ctx context.Context) ([]console.Room, error) {
	var rooms []console.Room
	err := c.engine.View(ctx, func(ctx context.Context, src engine.Reader) (err error) {
		if rooms, err = engine.AllRows(ctx, src, allRooms, nil, scanRoom); err != nil {
			return err
		}
		return furnishAll(ctx, src, rooms)
	})
	if err != nil {
		return nil, fmt.Errorf("list rooms: %w", err)
	}
	return rooms, nil
}

func scanRoom(r engine.Row) (o console.Room, err error) {
	s := &o.Space
	return o, r.Scan(&s.ID, &s.Kind, &s.Name, &s.Circle, &s.Wake, &s.Direct, &s.Closed, &s.AgentRun, engine.ScanTime(&s.CreatedAt),
		&o.Members, &o.Events, engine.ScanTime(&o.Last))
}

// furnishAll adds chats and agents to rooms, which are all there are.
func furnishAll(ctx context.Context, src engine.Reader, rooms []console.Room) error {
	chats := map[spaces.SpaceID][]spaces.Mapping{}
	err := engine.EachRow(ctx, src, mappings, []any{"", ""}, func(r engine.Row) error {
		m, err := scanMapping(r)
		chats[m.Space] = append(chats[m.Space], m)
		return err
	})
	if err != nil {
		return err
	}
	agents := map[spaces.SpaceID][]spaces.AgentID{}
	err = engine.EachRow(ctx, src, roomAgents, nil, func(r engine.Row) error {
		var agent spaces.AgentID
		var space spaces.SpaceID
		err := r.Scan(&agent, &space)
		agents[space] = append(agents[space], agent)
		return err
	})
	if err != nil {
		return err
	}
	for i := range rooms {
		id := rooms[i].Space.ID
		rooms[i].Agents, rooms[i].Chats = agents[id], chats[id]
	}
	return nil
}

// Minds implements [console.Record].
func (c ReadModel) Minds(ctx context.Context, at time.Time) ([]console.Mind, error) {
	minds, err := c.mindsBy(ctx, allMinds, engine.DayNumber(at))
	if err != nil {
		return nil, fmt.Errorf("list minds: %w", err)
	}
	return minds, nil
}

// mindsBy returns the minds that a statement finds, each with its newest cycle.
func (c ReadModel) mindsBy(ctx context.Context, text engine.Query, args ...any) ([]console.Mind, error) {
	var minds []console.Mind
	err := c.engine.View(ctx, func(ctx context.Context, src engine.Reader) (err error) {
		minds, err = engine.AllRows(ctx, src, text, args, func(r engine.Row) (m console.Mind, err error) {
			output := 0
			err = r.Scan(&m.Mind.Agent, &m.Mind.Circle, &m.Cycles, &m.Open, &m.Prompt, &m.Cached, &output)
			m.Tokens = m.Prompt + output
			return m, err
		})
		if err != nil {
			return err
		}
		for i := range minds {
			m := &minds[i]
			m.Last, err = engine.FirstRow(ctx, src, lastCycle, []any{string(m.Mind.Agent), string(m.Mind.Circle)}, scanCycle)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return minds, err
}

// Run implements [console.Record].
func (c ReadModel) Run(ctx context.Context, id string) (console.Run, error) {
	var run console.Run
	err := c.engine.View(ctx, func(ctx context.Context, src engine.Reader) error {
		found, err := engine.AllRows(ctx, src, namedCycles, []any{id}, scanCycle)
		if err != nil {
			return err
		}
		if len(found) == 0 || (len(found) > 1 && string(found[0].ID) != id) {
			return console.ErrUnknown
		}
		run.Cycle = found[0]
		return fillRun(ctx, src, &run)
	})
	if err != nil {
		return console.Run{}, fmt.Errorf("read run %s: %w", id, err)
	}
	return run, nil
}

// fillRun adds everything that belongs to the cycle of a run.
func fillRun(ctx context.Context, src engine.Reader, run *console.Run) error {
	y := run.Cycle
	entries, err := engine.AllRows(ctx, src, cycleRows, []any{string(y.ID)}, scanEntry)
	if err != nil {
		return err
	}
	for _, e := range entries {
		run.Rows, run.Events = append(run.Rows, e.InboxRow), append(run.Events, e.event)
	}
	if run.Steps, err = engine.AllRows(ctx, src, allSteps, []any{string(y.ID)}, scanStep); err != nil {
		return err
	}
	if run.Turns, err = turnsOf(ctx, src, y.ID); err != nil {
		return err
	}
	if run.Waits, err = engine.AllRows(ctx, src, runsWaits, []any{string(y.ID)}, scanWait); err != nil {
		return err
	}
	if run.Lost, err = engine.AllRows(ctx, src, lostDrafts, []any{string(y.ID)}, scanRef); err != nil {
		return err
	}
	orders, err := engine.AllRows(ctx, src, cycleActions, []any{string(y.ID)}, scanOrder)
	if err != nil {
		return err
	}
	for _, o := range orders {
		run.Actions = append(run.Actions, o.Action)
	}
	inner, err := engine.AllRows(ctx, src, innerEvents, []any{string(y.Mind.Inner()), string(y.Mind.Branch()), string(y.ID)}, scanEvent)
	for _, e := range inner {
		if cycleOf(e.Body) == y.ID {
			run.Inner = append(run.Inner, e)
		}
	}
	if err != nil {
		return err
	}
	gone, err := silenceOf(ctx, src, y.Mind)
	if err != nil {
		return err
	}
	err = gone.withdrawn(ctx, src, run.Events)
	run.Inner, run.Events = gone.over(run.Inner), gone.over(run.Events)
	for i := range run.Actions {
		run.Actions[i].Text = gone.words.Text(run.Actions[i].Text)
	}
	return err
}

// cycleOf returns the cycle an inner event belongs to; empty for those that
// belong to none.
func cycleOf(b spaces.Body) spaces.CycleID {
	switch b := b.(type) {
	case spaces.Noted:
		return b.Cycle
	case spaces.Bookmarked:
		return b.Cycle
	case spaces.CycleStarted:
		return b.Cycle
	case spaces.Thought:
		return b.Cycle
	case spaces.ToolCalled:
		return b.Cycle
	case spaces.ToolReturned:
		return b.Cycle
	case spaces.CycleSummarised:
		return b.Cycle
	case spaces.Denied:
		return b.Denial.Cycle
	case spaces.Transitioned:
		if len(b.Moves) > 0 {
			return b.Moves[0].Cycle
		}
		return ""
	case spaces.Compacted:
		return b.Cycle
	case spaces.Stopped:
		return b.Cycle
	case spaces.Said, spaces.Edited, spaces.Deleted, spaces.Reacted, spaces.Unreacted, spaces.Joined, spaces.Left,
		spaces.Renamed, spaces.Pinned, spaces.Unpinned, spaces.Migrated, spaces.Linked, spaces.Unlinked, spaces.Delivered,
		spaces.Failed, spaces.Gap, spaces.Unreadable, spaces.Transcribed, spaces.Goal, spaces.Remembered, spaces.Forgot, spaces.SpanChanged:
		return ""
	}
	panic("record: cycle of an unknown body")
}

// Recent implements [console.Record].
func (c ReadModel) Recent(ctx context.Context, room spaces.SpaceID, limit int) ([]spaces.Event, error) {
	q, args := recentEvents, []any{limit}
	if room != "" {
		q, args = recentIn, []any{string(room), limit}
	}
	found, err := engine.AllRows(ctx, c.engine, q, args, scanEvent)
	if err != nil {
		return nil, fmt.Errorf("read recent events: %w", err)
	}
	slices.Reverse(found)
	deleted := supersededMessages{} // what deletes one of the newest is among them
	for _, e := range found {
		if b, ok := e.Body.(spaces.Deleted); ok {
			deleted.note(b.Target, b.Ref)
		}
	}
	return deleted.from(found), nil
}

// Names implements [console.Record].
func (c ReadModel) Names(ctx context.Context, ids []spaces.EntityID) (map[spaces.EntityID]spaces.Entity, error) {
	return entitiesOf(ctx, c.engine, ids)
}

// Turns implements [console.Record].
func (c ReadModel) Turns(ctx context.Context, m spaces.Mind, limit int) (*spaces.Keyframe, []spaces.TranscriptTurn, error) {
	key := []any{string(m.Agent), string(m.Circle)}
	k, err := engine.FirstRow(ctx, c.engine, newestKeyframe, key, scanKeyframe)
	if err != nil {
		return nil, nil, fmt.Errorf("read keyframe of %s: %w", m, err)
	}
	turns, err := engine.AllRows(ctx, c.engine, newestTurns, append(key, limit), scanTurn)
	if err != nil {
		return nil, nil, fmt.Errorf("read turns of %s: %w", m, err)
	}
	return k, turns, nil
}

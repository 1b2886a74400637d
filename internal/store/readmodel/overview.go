package readmodel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// The conditions are those of partial indexes: what is done is not looked at.
	tallyAll engine.QueryText = `select
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
	roomColumns engine.QueryText = `s.id, s.kind, s.name, s.circle, s.wake, s.direct, s.closed, s.agent_run, s.created_at,
  (select count(*) from members m where m.space = s.id), b.head_seq, b.last_at
from spaces s join branches b on b.space = s.id and b.id = 'main'`
	allRooms    engine.QueryText = `select ` + roomColumns + ` where s.kind = 'room' order by s.created_at, s.id`
	roomAgents  engine.QueryText = `select agent, space from uplinks where live = 1 order by agent, n`
	mindColumns                  = `select u.agent, u.circle,
  (select coalesce(max(y.n), 0) from cycles y where y.agent = u.agent and y.circle = u.circle and y.n is not null),
  (select count(*) from cycles y where y.agent = u.agent and y.circle = u.circle and y.state = 'open'),
  coalesce(sum(g.prompt), 0), coalesce(sum(g.cached), 0), coalesce(sum(g.output), 0), coalesce(sum(g.cost), 0)`
	mindUsage = `left join usage g on g.day = $1 and g.agent = u.agent
  and g.space in (select v.space from uplinks v where v.agent = u.agent and v.circle = u.circle)`
	allMinds engine.QueryText = mindColumns + `
from (select distinct agent, circle from uplinks) u ` + mindUsage + `
group by u.agent, u.circle order by u.agent, u.circle`
	lastCycle    engine.QueryText = `select ` + tables.CycleColumns + ` from cycles where agent = $1 and circle = $2 order by started desc, id desc limit 1`
	namedCycles  engine.QueryText = `select ` + tables.CycleColumns + ` from cycles where id >= $1 and id < $1 || '􏿿' order by id limit $2 + 0`
	lostDrafts   engine.QueryText = `select account, chat, message from drafts where cycle = $1 and length(text) = 0 order by step`
	cycleSettled engine.QueryText = `select o.settled from outbox o where o.cycle = $1 and o.cycle <> '' order by o.ordinal`
	cycleActions engine.QueryText = `select ` + tables.ActionColumns + ` from outbox o where o.cycle = $1 and o.cycle <> '' order by o.ordinal`
	innerEvents  engine.QueryText = `select ` + tables.EventColumns + ` from events e
where e.space = $1 and e.branch = $2 and e.seq >= (select inner_from from cycles where id = $3)
  and e.seq <= (select case when inner_to = 0 then 9223372036854775807 else inner_to end from cycles where id = $3) order by e.seq`
	recentEvents engine.QueryText = `select ` + tables.EventColumns + ` from events e join spaces s on s.id = e.space
where s.kind = 'room' and e.branch = 'main' order by e.n desc limit $1 + 0`
	recentIn    engine.QueryText = `select ` + tables.EventColumns + ` from events e where e.space = $1 and e.branch = 'main' order by e.seq desc limit $2 + 0`
	newestTurns engine.QueryText = `select t.cycle, t.n, t.body from
  (select id, started from cycles where agent = $1 and circle = $2 order by started desc, id desc limit $3 + 0) y
join turns t on t.cycle = y.id order by y.started, y.id, t.n`
)

// Tally implements [console.Store].
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

// Rooms implements [console.Store].
func (c ReadModel) Rooms(ctx context.Context) ([]console.Room, error) {
	var rooms []console.Room
	err := c.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) (err error) {
		if rooms, err = engine.AllRows(ctx, src, allRooms, nil, scanRoom); err != nil {
			return err
		}
		return addChatsAndAgents(ctx, src, rooms)
	})
	if err != nil {
		return nil, fmt.Errorf("list rooms: %w", err)
	}
	return rooms, nil
}

func scanRoom(r engine.ResultRow) (o console.Room, err error) {
	s := &o.Space
	return o, r.Scan(&s.ID, &s.Kind, &s.Name, &s.Circle, &s.Wake, &s.Direct, &s.Closed, &s.AgentRun, engine.ScanTime(&s.CreatedAt),
		&o.Members, &o.Events, engine.ScanTime(&o.Last))
}

// addChatsAndAgents adds chats and agents to rooms, which are all there are.
func addChatsAndAgents(ctx context.Context, src engine.QueryReader, rooms []console.Room) error {
	chats := map[spaces.SpaceID][]spaces.ChatMapping{}
	err := engine.EachRow(ctx, src, tables.SelectMappings, []any{"", ""}, func(r engine.ResultRow) error {
		m, err := tables.ScanMapping(r)
		chats[m.Space] = append(chats[m.Space], m)
		return err
	})
	if err != nil {
		return err
	}
	agents := map[spaces.SpaceID][]spaces.AgentID{}
	err = engine.EachRow(ctx, src, roomAgents, nil, func(r engine.ResultRow) error {
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

// Minds implements [console.Store].
func (c ReadModel) Minds(ctx context.Context, at time.Time) ([]console.Mind, error) {
	minds, err := queryMinds(ctx, c, allMinds, engine.DayNumber(at))
	if err != nil {
		return nil, fmt.Errorf("list minds: %w", err)
	}
	return minds, nil
}

// queryMinds returns the minds that a statement finds, each with its newest cycle.
func queryMinds(ctx context.Context, c ReadModel, text engine.QueryText, args ...any) ([]console.Mind, error) {
	var minds []console.Mind
	err := c.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) (err error) {
		minds, err = engine.AllRows(ctx, src, text, args, func(r engine.ResultRow) (m console.Mind, err error) {
			output := 0
			err = r.Scan(&m.Mind.Agent, &m.Mind.Circle, &m.Cycles, &m.Open, &m.Prompt, &m.Cached, &output, &m.Cost)
			m.Tokens = m.Prompt + output
			return m, err
		})
		if err != nil {
			return err
		}
		for i := range minds {
			m := &minds[i]
			m.Last, err = engine.FirstRow(ctx, src, lastCycle, []any{string(m.Mind.Agent), string(m.Mind.Circle)}, tables.ScanCycle)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return minds, err
}

// Run implements [console.Store].
func (c ReadModel) Run(ctx context.Context, id string) (console.Run, error) {
	var run console.Run
	err := c.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		found, err := engine.AllRows(ctx, src, namedCycles, []any{id, console.MaxAmbiguous + 1}, tables.ScanCycle)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return console.ErrUnknown
		}
		if len(found) > 1 && string(found[0].ID) != id {
			several := console.AmbiguousNameError{Kind: "runs", Given: id}
			for _, y := range found {
				several.Could = append(several.Could, string(y.ID))
			}
			return several
		}
		run.Cycle = found[0]
		return loadRun(ctx, src, &run)
	})
	if err != nil {
		return console.Run{}, fmt.Errorf("read run %s: %w", id, err)
	}
	return run, nil
}

// loadRun adds everything that belongs to the cycle of a run.
func loadRun(ctx context.Context, src engine.QueryReader, run *console.Run) error {
	y := run.Cycle
	entries, err := engine.AllRows(ctx, src, tables.InboxRowsOfCycle, []any{string(y.ID)}, tables.ScanInboxEntry)
	if err != nil {
		return err
	}
	for _, e := range entries {
		run.Rows, run.Events = append(run.Rows, e.InboxRow), append(run.Events, e.Subject)
	}
	if run.Steps, err = engine.AllRows(ctx, src, allSteps, []any{string(y.ID)}, tables.ScanStep); err != nil {
		return err
	}
	if run.Turns, err = tables.TurnsOfCycle(ctx, src, y.ID); err != nil {
		return err
	}
	if run.Tools, err = engine.AllRows(ctx, src, tables.ToolRunsOfCycle, []any{string(y.ID)}, tables.ScanToolRun); err != nil {
		return err
	}
	if run.Rated, err = ratingsOfRun(ctx, src, y.ID); err != nil {
		return err
	}
	if run.Waits, err = engine.AllRows(ctx, src, runsWaits, []any{string(y.ID)}, tables.ScanWait); err != nil {
		return err
	}
	if run.Lost, err = engine.AllRows(ctx, src, lostDrafts, []any{string(y.ID)}, tables.ScanRef); err != nil {
		return err
	}
	orders, err := engine.AllRows(ctx, src, cycleActions, []any{string(y.ID)}, tables.ScanAction)
	if err != nil {
		return err
	}
	for _, o := range orders {
		run.Actions = append(run.Actions, o.Action)
	}
	if run.Settled, err = engine.AllRows(ctx, src, cycleSettled, []any{string(y.ID)}, func(r engine.ResultRow) (at time.Time, err error) {
		return at, r.Scan(engine.ScanTime(&at))
	}); err != nil {
		return err
	}
	inner, err := engine.AllRows(ctx, src, innerEvents, []any{string(y.Mind.Inner()), string(y.Mind.Branch()), string(y.ID)}, tables.ScanEvent)
	for _, e := range inner {
		if tables.CycleOfBody(e.Body) == y.ID {
			run.Inner = append(run.Inner, e)
		}
	}
	if err != nil {
		return err
	}
	gone, err := tables.LoadRedactor(ctx, src, y.Mind)
	if err != nil {
		return err
	}
	err = gone.HideWithdrawn(ctx, src, run.Events)
	run.Inner, run.Events = gone.Redact(run.Inner), gone.Redact(run.Events)
	for i := range run.Actions {
		run.Actions[i].Text = gone.Words.Text(run.Actions[i].Text)
	}
	return err
}

// Recent implements [console.Store].
func (c ReadModel) Recent(ctx context.Context, room spaces.SpaceID, limit int) ([]spaces.Event, error) {
	q, args := recentEvents, []any{limit}
	if room != "" {
		q, args = recentIn, []any{string(room), limit}
	}
	found, err := engine.AllRows(ctx, c.engine, q, args, tables.ScanEvent)
	if err != nil {
		return nil, fmt.Errorf("read recent events: %w", err)
	}
	slices.Reverse(found)
	deleted := tables.SupersededMessages{} // what deletes one of the newest is among them
	for _, e := range found {
		if b, ok := e.Body.(spaces.MessageDeleted); ok {
			deleted.Add(b.Target, b.Ref)
		}
	}
	return deleted.Redact(found), nil
}

// Names implements [console.Store].
func (c ReadModel) Names(ctx context.Context, ids []spaces.EntityID) (map[spaces.EntityID]spaces.Entity, error) {
	return tables.EntitiesByID(ctx, c.engine, ids)
}

// Turns implements [console.Store].
func (c ReadModel) Turns(ctx context.Context, m spaces.Mind, limit int) (*spaces.Keyframe, []spaces.TranscriptTurn, error) {
	key := []any{string(m.Agent), string(m.Circle)}
	k, err := engine.FirstRow(ctx, c.engine, tables.NewestKeyframe, key, tables.ScanKeyframe)
	if err != nil {
		return nil, nil, fmt.Errorf("read keyframe of %s: %w", m, err)
	}
	turns, err := engine.AllRows(ctx, c.engine, newestTurns, append(key, limit), tables.ScanTurn)
	if err != nil {
		return nil, nil, fmt.Errorf("read turns of %s: %w", m, err)
	}
	return k, turns, nil
}

// Lists of thousands of rooms and minds, a page at a time: what a row shows is
// counted for the rows of the page alone.
const (
	roomNames  engine.QueryText = `select id, name from spaces where kind = 'room'`
	roomsPaged engine.QueryText = `with page as (
  select b.space, b.last_at from branches b join spaces s on s.id = b.space
  where b.id = 'main' and s.kind = 'room' and (b.last_at < $1 or b.last_at = $1 and b.space > $2)
  order by b.last_at desc, b.space limit $3 + 0)
select ` + roomColumns + ` join page on page.space = s.id order by page.last_at desc, page.space`
	mindsPaged engine.QueryText = `with ran as (
  select u.agent, u.circle, u.agent || '/' || u.circle as name,
    coalesce((select max(y.started) from cycles y where y.agent = u.agent and y.circle = u.circle), 0) as last
  from (select distinct agent, circle from uplinks) u),
page as (select * from ran where last < $2 or last = $2 and name > $3 order by last desc, name limit $4 + 0)
` + mindColumns + `
from page u ` + mindUsage + `
group by u.agent, u.circle, u.name, u.last order by u.last desc, u.name`
)

// RoomNames implements [console.Store].
func (c ReadModel) RoomNames(ctx context.Context) (map[spaces.SpaceID]string, error) {
	names := map[spaces.SpaceID]string{}
	err := engine.EachRow(ctx, c.engine, roomNames, nil, func(r engine.ResultRow) error {
		var id spaces.SpaceID
		var name string
		err := r.Scan(&id, &name)
		names[id] = name
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list names of rooms: %w", err)
	}
	return names, nil
}

// LatestRooms implements [console.Store].
func (c ReadModel) LatestRooms(ctx context.Context, behind console.Cursor, limit int) ([]console.Room, error) {
	var rooms []console.Room
	err := c.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) (err error) {
		rooms, err = engine.AllRows(ctx, src, roomsPaged, []any{beforeCursor(behind), behind.ID, limit}, scanRoom)
		for i := 0; i < len(rooms) && err == nil; i++ {
			o := &rooms[i]
			o.Chats, o.Agents, err = tables.ChatsAndAgents(ctx, src, o.Space.ID)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list latest rooms: %w", err)
	}
	return rooms, nil
}

// LatestMinds implements [console.Store].
func (c ReadModel) LatestMinds(ctx context.Context, at time.Time, behind console.Cursor, limit int) ([]console.Mind, error) {
	minds, err := queryMinds(ctx, c, mindsPaged, engine.DayNumber(at), beforeCursor(behind), behind.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("list latest minds: %w", err)
	}
	return minds, nil
}

// beforeCursor returns the stored instant that the rows behind a cursor do not exceed.
func beforeCursor(c console.Cursor) int64 {
	if c.ID == "" {
		return math.MaxInt64
	}
	return engine.ToMillis(c.At)
}

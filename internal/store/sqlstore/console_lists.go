package sqlstore

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// Lists of thousands of rooms and minds, a page at a time: what a row shows is
// counted for the rows of the page alone.
const (
	roomChats  engine.Query = `select account, chat, title, space, object, relay, live from mappings where space = $1 order by n`
	roomNames  engine.Query = `select id, name from spaces where kind = 'room'`
	roomsPaged engine.Query = `with page as (
  select b.space, b.last_at from branches b join spaces s on s.id = b.space
  where b.id = 'main' and s.kind = 'room' and (b.last_at < $1 or b.last_at = $1 and b.space > $2)
  order by b.last_at desc, b.space limit $3 + 0)
select ` + roomColumns + ` join page on page.space = s.id order by page.last_at desc, page.space`
	mindsPaged engine.Query = `with ran as (
  select u.agent, u.circle, u.agent || '/' || u.circle as name,
    coalesce((select max(y.started) from cycles y where y.agent = u.agent and y.circle = u.circle), 0) as last
  from (select distinct agent, circle from uplinks) u),
page as (select * from ran where last < $2 or last = $2 and name > $3 order by last desc, name limit $4 + 0)
` + mindColumns + `
from page u ` + mindUsage + `
group by u.agent, u.circle, u.name, u.last order by u.last desc, u.name`
)

// RoomNames implements [console.Record].
func (c ReadModel) RoomNames(ctx context.Context) (map[spaces.SpaceID]string, error) {
	names := map[spaces.SpaceID]string{}
	err := engine.EachRow(ctx, c.engine, roomNames, nil, func(r engine.Row) error {
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

// LatestRooms implements [console.Record].
func (c ReadModel) LatestRooms(ctx context.Context, behind console.Cursor, limit int) ([]console.Room, error) {
	var rooms []console.Room
	err := c.engine.View(ctx, func(ctx context.Context, src engine.Reader) (err error) {
		rooms, err = engine.AllRows(ctx, src, roomsPaged, []any{before(behind), behind.ID, limit}, scanRoom)
		for i := 0; i < len(rooms) && err == nil; i++ {
			o := &rooms[i]
			o.Chats, o.Agents, err = furnishing(ctx, src, o.Space.ID)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list latest rooms: %w", err)
	}
	return rooms, nil
}

// LatestMinds implements [console.Record].
func (c ReadModel) LatestMinds(ctx context.Context, at time.Time, behind console.Cursor, limit int) ([]console.Mind, error) {
	minds, err := c.mindsBy(ctx, mindsPaged, engine.DayNumber(at), before(behind), behind.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("list latest minds: %w", err)
	}
	return minds, nil
}

// before returns the stored instant that the rows behind a cursor do not exceed.
func before(c console.Cursor) int64 {
	if c.ID == "" {
		return math.MaxInt64
	}
	return engine.ToMillis(c.At)
}

// furnishing returns the chats and agents of a room.
func furnishing(ctx context.Context, src engine.Reader, room spaces.SpaceID) (chats []spaces.Mapping, agents []spaces.AgentID, err error) {
	id := []any{string(room)}
	if chats, err = engine.AllRows(ctx, src, roomChats, id, scanMapping); err != nil {
		return nil, nil, err
	}
	agents, err = engine.AllRows(ctx, src, seatedAgents, id, engine.ScanValue[spaces.AgentID])
	return chats, agents, err
}

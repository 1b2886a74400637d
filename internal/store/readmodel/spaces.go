package readmodel

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	mutedAgents engine.QueryText = `select agent from uplinks where space = $1 and live = 1 and muted_until > $2 order by agent`
	oneRoom     engine.QueryText = `select ` + roomColumns + ` where s.kind = 'room' and s.id = $1`
	roomUplinks engine.QueryText = `select agent, circle from uplinks where space = $1 order by agent, n`
	roomLog     engine.QueryText = `select ` + tables.EventColumns + ` from events e where e.space = $1 and e.branch = 'main' and e.seq < $2 order by e.seq desc limit $3 + 0`
	rowsBetween engine.QueryText = `select seq, state, reason, cycle from inbox where agent = $1 and circle = $2 and space = $3 and seq >= $4 and seq <= $5`
	placesOf    engine.QueryText = `select account, chat, message from messages where event = $1 order by account, chat, part`
	spansWithin engine.QueryText = `select ` + tables.SpanColumns + ` from spans where closed_at = 0 and opened_at <= $2
union all select ` + tables.SpanColumns + ` from spans where closed_at >= $1 and closed_at > 0 and opened_at <= $2
order by opened_at, id limit $3 + 0`
	newestEvent  engine.QueryText = `select coalesce(max(n), 0) from events`
	happenedNext engine.QueryText = `select e.n, ` + tables.EventColumns + ` from events e
where e.n > $1 and (e.kind = 'spanned' or e.kind = 'delivered' or e.kind = 'failed') order by e.n limit $2 + 0`
)

// Room implements [console.Store].
func (c ReadModel) Room(ctx context.Context, id spaces.SpaceID) (console.Room, []spaces.SpaceMember, error) {
	var rooms []console.Room
	var people []spaces.SpaceMember
	err := c.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) (err error) {
		if rooms, err = engine.AllRows(ctx, src, oneRoom, []any{string(id)}, scanRoom); err != nil {
			return err
		}
		if len(rooms) == 0 {
			return console.ErrUnknown
		}
		if rooms[0].Chats, rooms[0].Agents, err = tables.ChatsAndAgents(ctx, src, id); err != nil {
			return err
		}
		if rooms[0].Muted, err = engine.AllRows(ctx, src, mutedAgents, []any{string(id), engine.ToMillis(time.Now())}, engine.ScanValue[spaces.AgentID]); err != nil {
			return err
		}
		people, err = tables.MembersOfSpace(ctx, src, id, tables.NoLimit)
		return err
	})
	if err != nil {
		return console.Room{}, nil, fmt.Errorf("read space %s: %w", id, err)
	}
	return rooms[0], people, nil
}

// Entries returns the entry of the configuration that each room comes from. Rooms
// that come from none are absent.
func (c ReadModel) Entries(ctx context.Context) (map[spaces.SpaceID]string, error) {
	entries := map[spaces.SpaceID]string{}
	err := engine.EachRow(ctx, c.engine, tables.ConfiguredSpaces, nil, func(r engine.ResultRow) error {
		var o spaces.ConfiguredSpace
		if err := r.Scan(&o.Space, &o.Key, &o.Circle, &o.Wake); err != nil {
			return err
		}
		entries[o.Space] = o.Key
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list entries of rooms: %w", err)
	}
	return entries, nil
}

// Log implements [console.Store]. Of messages that were deleted it has no words.
func (c ReadModel) Log(ctx context.Context, id spaces.SpaceID, before int64, limit int) ([]console.LogLine, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	var lines []console.LogLine
	err := c.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		events, err := engine.AllRows(ctx, src, roomLog, []any{string(id), before, limit}, tables.ScanEvent)
		if err != nil || len(events) == 0 {
			return err
		}
		deleted, err := tables.DeletedSince(ctx, src, id, events[len(events)-1].Seq)
		if err != nil {
			return err
		}
		for _, e := range deleted.Redact(events) {
			l := console.LogLine{Event: e}
			if _, ours := e.Actor.IsAgent(); ours {
				if l.Places, err = engine.AllRows(ctx, src, placesOf, []any{string(e.ID)}, tables.ScanRef); err != nil {
					return err
				}
			}
			lines = append(lines, l)
		}
		return addGateMarks(ctx, src, id, lines)
	})
	if err != nil {
		return nil, fmt.Errorf("read log of %s: %w", id, err)
	}
	return lines, nil
}

// addGateMarks adds to lines, newest first, what each mind made of them.
func addGateMarks(ctx context.Context, src engine.QueryReader, id spaces.SpaceID, lines []console.LogLine) error {
	minds, err := engine.AllRows(ctx, src, roomUplinks, []any{string(id)}, tables.ScanMind)
	if err != nil {
		return err
	}
	last := lines[0].Event.Seq
	first := lines[len(lines)-1].Event.Seq
	at := map[int64]int{}
	for i := range lines {
		at[lines[i].Event.Seq] = i
	}
	for _, m := range minds {
		args := []any{string(m.Agent), string(m.Circle), string(id), first, last}
		err := engine.EachRow(ctx, src, rowsBetween, args, func(r engine.ResultRow) error {
			var seq int64
			k := console.GateMark{Mind: m}
			if err := r.Scan(&seq, &k.State, &k.Reason, &k.Run); err != nil {
				return err
			}
			if i, shown := at[seq]; shown {
				lines[i].Marks = append(lines[i].Marks, k)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Connections implements [console.Store].
func (c ReadModel) Connections(ctx context.Context, from, to time.Time, limit int) ([]spaces.ConnectionSpan, error) {
	found, err := engine.AllRows(ctx, c.engine, spansWithin, []any{engine.ToMillis(from), engine.ToMillis(to), limit}, tables.ScanSpan)
	if err != nil {
		return nil, fmt.Errorf("list connections: %w", err)
	}
	return found, nil
}

// Happened implements [console.ActivityReader].
func (c ReadModel) Happened(ctx context.Context, after int64, limit int) ([]spaces.Event, int64, error) {
	if after < 0 {
		_, err := engine.ScanRow(ctx, c.engine, newestEvent, nil, &after)
		if err != nil {
			return nil, -1, fmt.Errorf("find the end of the record: %w", err)
		}
		return nil, after, nil
	}
	found, err := engine.AllRows(ctx, c.engine, happenedNext, []any{after, limit}, func(r engine.ResultRow) (e spaces.Event, err error) {
		var s tables.StoredEvent
		if err := r.Scan(append([]any{&after}, s.Fields()...)...); err != nil {
			return e, err
		}
		return s.Decode()
	})
	if err != nil {
		return nil, after, fmt.Errorf("read what happened: %w", err)
	}
	return found, after, nil
}

package tables

import (
	"context"
	"fmt"
	"math"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	selectSpace engine.QueryText = `select id, kind, name, circle, wake, direct, closed, guest, case when config_key is null then 0 else 1 end, agent_run, created_at from spaces where id = $1`
	// SpaceConfigKey selects the configuration entry of a space; empty for none.
	SpaceConfigKey engine.QueryText = `select coalesce(config_key, '') from spaces where id = $1`
	selectMember   engine.QueryText = `select m.entity, coalesce(e.kind, ''), coalesce(e.name, ''), coalesce(e.handle, ''), coalesce(e.zone, ''), coalesce(e.zone_from, 0), m.since
from members m left join entities e on e.id = m.entity where m.space = $1 order by m.since, m.entity limit $2 + 0`
	selectEntity engine.QueryText = `select id, kind, name, handle, portrait, zone, zone_from from entities where id = $1`
	// SelectMappings selects the mappings of an account, of a space, or all of them.
	SelectMappings engine.QueryText = `select account, chat, title, space, object, relay, live from mappings
where ($1 = '' or account = $1) and ($2 = '' or space = $2) order by n`
	seatedAgents engine.QueryText = `select distinct agent from uplinks where space = $1 and live = 1 order by agent`
	roomChats    engine.QueryText = `select account, chat, title, space, object, relay, live from mappings where space = $1 order by n`
	// LiveMinds selects the minds with a live uplink to a space.
	LiveMinds engine.QueryText = `select agent, circle from uplinks where space = $1 and live = 1 order by agent, n`
	// UplinkColumns lists the columns that UplinkFields scans.
	UplinkColumns engine.QueryText = `agent, circle, space, cursor, cursor_id, live, muted_until, opened_at, fresh, fresh_at, erased`
	selectUplink  engine.QueryText = `select ` + UplinkColumns + ` from uplinks where agent = $1 and circle = $2 and space = $3`
	// SpanColumns lists the columns that ScanSpan scans.
	SpanColumns engine.QueryText = `id, agent, circle, space, from_seq, from_id, to_seq, to_id, opened_at, closed_at, opener, closer, checked`
	// SpansOfUplink selects the connection spans of an uplink, newest first.
	SpansOfUplink engine.QueryText = `select ` + SpanColumns + ` from spans where agent = $1 and circle = $2 and space = $3 order by id desc limit $4 + 0`
	// ConfiguredSpaces selects the spaces that come from entries of the configuration.
	ConfiguredSpaces engine.QueryText = `select id, config_key, circle, wake from spaces where config_key is not null order by id`
)

// SpaceByID returns a space and reports whether it exists.
func SpaceByID(ctx context.Context, src engine.QueryReader, id spaces.SpaceID) (s spaces.Space, found bool, err error) {
	found, err = engine.ScanRow(ctx, src, selectSpace, []any{string(id)},
		&s.ID, &s.Kind, &s.Name, &s.Circle, &s.Wake, &s.Direct, &s.Closed, &s.Guest, &s.Configured, &s.AgentRun, engine.ScanTime(&s.CreatedAt))
	return s, found, err
}

// MembersOfSpace returns up to limit members of a space, by the time they joined.
func MembersOfSpace(ctx context.Context, src engine.QueryReader, space spaces.SpaceID, limit int) ([]spaces.SpaceMember, error) {
	return engine.AllRows(ctx, src, selectMember, []any{string(space), limit}, func(row engine.ResultRow) (m spaces.SpaceMember, err error) {
		return m, row.Scan(&m.ID, &m.Kind, &m.Name, &m.Handle, &m.Zone, &m.ZoneFrom, &m.Since)
	})
}

// NoLimit is the limit of an unlimited list.
const NoLimit = math.MaxInt32

// EntityByID returns an entity and reports whether it exists.
func EntityByID(ctx context.Context, src engine.QueryReader, id spaces.EntityID) (e spaces.Entity, found bool, err error) {
	found, err = engine.ScanRow(ctx, src, selectEntity, []any{string(id)}, &e.ID, &e.Kind, &e.Name, &e.Handle, &e.Portrait, &e.Zone, &e.ZoneFrom)
	return e, found, err
}

// EntitiesByID returns the entities that exist.
func EntitiesByID(ctx context.Context, src engine.QueryReader, ids []spaces.EntityID) (map[spaces.EntityID]spaces.Entity, error) {
	known := make(map[spaces.EntityID]spaces.Entity, len(ids))
	for _, id := range ids {
		e, found, err := EntityByID(ctx, src, id)
		if err != nil {
			return nil, fmt.Errorf("read entity %s: %w", id, err)
		}
		if found {
			known[id] = e
		}
	}
	return known, nil
}

// ScanMapping scans the columns of a mapping.
func ScanMapping(r engine.ResultRow) (m spaces.ChatMapping, err error) {
	return m, r.Scan(&m.Account, &m.Chat, &m.Title, &m.Space, &m.Object, &m.Relay, &m.Live)
}

// ChatsAndAgents returns the chats and the agents of a space.
func ChatsAndAgents(ctx context.Context, src engine.QueryReader, room spaces.SpaceID) (chats []spaces.ChatMapping, agents []spaces.AgentID, err error) {
	id := []any{string(room)}
	if chats, err = engine.AllRows(ctx, src, roomChats, id, ScanMapping); err != nil {
		return nil, nil, err
	}
	agents, err = engine.AllRows(ctx, src, seatedAgents, id, engine.ScanValue[spaces.AgentID])
	return chats, agents, err
}

// ScanMind scans an agent and a circle.
func ScanMind(r engine.ResultRow) (m spaces.Mind, err error) { return m, r.Scan(&m.Agent, &m.Circle) }

// UplinkFields returns the scan destinations for UplinkColumns.
func UplinkFields(u *spaces.Uplink) []any {
	return []any{&u.Mind.Agent, &u.Mind.Circle, &u.Space, &u.Cursor, &u.CursorID, &u.Live, engine.ScanTime(&u.MutedUntil), engine.ScanTime(&u.OpenedAt), &u.Fresh, engine.ScanTime(&u.FreshAt), &u.Erased}
}

// UplinkOf returns the uplink of a mind to a space; zero if there is none.
func UplinkOf(ctx context.Context, src engine.QueryReader, m spaces.Mind, space spaces.SpaceID) (u spaces.Uplink, err error) {
	_, err = engine.ScanRow(ctx, src, selectUplink, []any{string(m.Agent), string(m.Circle), string(space)}, UplinkFields(&u)...)
	return u, err
}

// ScanUplink scans the columns UplinkColumns.
func ScanUplink(r engine.ResultRow) (u spaces.Uplink, err error) {
	return u, r.Scan(UplinkFields(&u)...)
}

// ScanSpan scans the columns SpanColumns.
func ScanSpan(r engine.ResultRow) (s spaces.ConnectionSpan, err error) {
	return s, r.Scan(&s.ID, &s.Mind.Agent, &s.Mind.Circle, &s.Space, &s.From, &s.FromID, &s.To, &s.ToID,
		engine.ScanTime(&s.Opened), engine.ScanTime(&s.Closed), &s.Opener, &s.Closer, engine.ScanTime(&s.Checked))
}

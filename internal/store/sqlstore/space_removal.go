package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	admittedRooms engine.QueryText = `select distinct s.id, '', s.circle, s.wake from mappings m join spaces s on s.id = m.space
where m.account = $1 and m.chat <> '' and s.config_key is null order by s.id`

	readyHere   engine.QueryText = `select agent, circle, space, seq from inbox where agent = $1 and circle = $2 and space = $3 and state = 'ready'`
	leaveRow    engine.QueryText = `update inbox set state = 'ignored', reason = $4 where (agent, circle, space, seq) in (` + readyHere + `)`
	dropMapping engine.QueryText = `delete from mappings where account = $1 and chat = $2 and space = $3`
	chatMoves   engine.QueryText = `select body from events where space = $1 and branch = $2 and kind = 'migrated' order by seq`
)

// leftReason is the reason of rows that wait for an agent that was removed from the
// space.
const leftReason = "the agent has left the space"

// Configured returns the spaces that come from the configuration, with their agents and
// chats.
func (b ChatStore) Configured(ctx context.Context) ([]spaces.ConfiguredSpace, error) {
	return b.spacesBy(ctx, tables.ConfiguredSpaces)
}

// Admitted returns the spaces without a configuration entry that have chats on an
// account, with their agents and all their chats.
func (b ChatStore) Admitted(ctx context.Context, account string) ([]spaces.ConfiguredSpace, error) {
	return b.spacesBy(ctx, admittedRooms, account)
}

func (b ChatStore) spacesBy(ctx context.Context, q engine.QueryText, args ...any) ([]spaces.ConfiguredSpace, error) {
	rooms, err := engine.AllRows(ctx, b.s.engine, q, args, func(r engine.ResultRow) (c spaces.ConfiguredSpace, err error) {
		return c, r.Scan(&c.Space, &c.Key, &c.Circle, &c.Wake)
	})
	if err != nil {
		return nil, fmt.Errorf("list rooms: %w", err)
	}
	for i := range rooms {
		c := &rooms[i]
		if c.Chats, c.Agents, err = tables.ChatsAndAgents(ctx, b.s.engine, c.Space); err != nil {
			return nil, fmt.Errorf("read room %s: %w", c.Space, err)
		}
	}
	return rooms, nil
}

// Moves returns the moves of the chats of a space, oldest first.
func (b ChatStore) Moves(ctx context.Context, space spaces.SpaceID) ([]spaces.ChatMigrated, error) {
	return movesOf(ctx, b.s.engine, space)
}

func movesOf(ctx context.Context, src engine.QueryReader, space spaces.SpaceID) ([]spaces.ChatMigrated, error) {
	out, err := engine.AllRows(ctx, src, chatMoves, []any{string(space), string(spaces.Primary)}, func(r engine.ResultRow) (spaces.ChatMigrated, error) {
		var text []byte
		if err := r.Scan(&text); err != nil {
			return spaces.ChatMigrated{}, err
		}
		body, err := spaces.Decode(spaces.KindMigrated, text)
		m, _ := body.(spaces.ChatMigrated)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read moves of %s: %w", space, err)
	}
	return out, nil
}

// Dismiss removes agents and chats from a space, in one transaction. The rows of a
// removed agent are ignored, with the reason. Its running cycle goes on; an open cycle
// that no process runs is abandoned. Agents and chats that are not in the space are
// skipped.
func (b ChatStore) Dismiss(ctx context.Context, d spaces.AgentRemoval) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		r, err := t.space.load(ctx, d.Space)
		if err != nil || r == nil {
			return err
		}
		for _, a := range d.Agents {
			if err := t.room.removeAgent(ctx, r, a, d); err != nil {
				return err
			}
		}
		for _, c := range d.Chats {
			if err := t.chat.removeFromSpace(ctx, r, c, d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("dismiss from space %s: %w", d.Space, err)
	}
	return nil
}

func (t *roomTx) removeAgent(ctx context.Context, r *spaceState, a spaces.AgentID, d spaces.AgentRemoval) error {
	for _, m := range r.minds {
		if m.Agent != a {
			continue
		}
		if err := t.uplink.disconnect(ctx, m, r, d.At); err != nil {
			return err
		}
		if err := t.Run(ctx, leaveRow, string(m.Agent), string(m.Circle), string(r.ID), leftReason); err != nil {
			return err
		}
		if err := t.cycle.abandonLeft(ctx, m, r.ID, leftReason, d.At); err != nil {
			return err
		}
		if err := t.mission.leave(ctx, r.ID, m.Agent, d.At); err != nil {
			return err
		}
	}
	member, err := engine.QueryBool(ctx, t, isMember, string(r.ID), string(a.Entity()))
	if err != nil || !member {
		return err
	}
	e := spaces.Event{
		Space: r.ID, Branch: spaces.Primary, Object: spaces.ChatObject, Actor: a.Entity(), At: d.At, RecvAt: d.At,
		Body: spaces.MemberLeft{Who: a.Entity()},
	}
	if err := t.event.append(ctx, &e); err != nil {
		return err
	}
	_, err = t.wait.settleByEvent(ctx, e, nil) // the next poll finds the minds that waited for it
	return err
}

func (t *chatTx) removeFromSpace(ctx context.Context, r *spaceState, c spaces.ChatMapping, d spaces.AgentRemoval) error {
	n, err := t.Exec(ctx, dropMapping, c.Account, c.Chat, string(r.ID))
	if err != nil || n == 0 {
		return err
	}
	fact := spaces.ChatUnlinked{Account: c.Account, Chat: c.Chat, Reason: d.Reason}
	if err := t.appendFact(ctx, r.ID, fact, d.At); err != nil || r.reachable() {
		return err
	}
	return t.span.closeAll(ctx, r, spaces.SpanUnlinked, d.At)
}

const (
	takenSeats engine.QueryText = `select distinct space, agent from uplinks where live = 1 order by space, agent`
	// leftCycles !The added 0 keeps the engine from reading all cycles.
	leftCycles engine.QueryText = `select ` + tables.CycleColumns + ` from cycles where state = 'open' and not exists (select 1 from leases l
  where l.agent = cycles.agent and l.circle = cycles.circle and l.space = cycles.space and l.expires > $1) order by started + 0, id`
	leftCycle engine.QueryText = `select ` + tables.CycleColumns + ` from cycles where agent = $1 and circle = $2 and space = $3 and state = 'open'
  and not exists (select 1 from leases l where l.agent = $1 and l.circle = $2 and l.space = $3 and l.expires > $4)`
	leaveClaimed engine.QueryText = `update inbox set state = 'ignored', reason = $2, cycle = '' where cycle = $1 and cycle <> '' and state = 'claimed'`
	emptyRooms   engine.QueryText = `select distinct s.id from mappings m join spaces s on s.id = m.space
where m.account = $1 and m.chat <> '' and s.config_key is null and s.direct >= $2
  and not exists (select 1 from uplinks u where u.space = s.id and u.live = 1) order by s.id`
	otherWakes engine.QueryText = `select distinct s.id from mappings m join spaces s on s.id = m.space
where m.account = $1 and m.chat <> '' and s.config_key is null and s.direct >= $2 and s.wake <> $3 order by s.id`
)

// goneDetail is the detail of cycles of an agent that is not configured any more.
const goneDetail = "the agent is not in the configuration any more"

// Strangers returns how to remove the agents that are not in here from all their spaces.
func (b ChatStore) Strangers(ctx context.Context, here []spaces.AgentID) (away []spaces.AgentRemoval, err error) {
	err = engine.EachRow(ctx, b.s.engine, takenSeats, nil, func(r engine.ResultRow) error {
		var space spaces.SpaceID
		var agent spaces.AgentID
		if err := r.Scan(&space, &agent); err != nil || slices.Contains(here, agent) {
			return err
		}
		if n := len(away); n > 0 && away[n-1].Space == space {
			away[n-1].Agents = append(away[n-1].Agents, agent)
			return nil
		}
		away = append(away, spaces.AgentRemoval{Space: space, Agents: []spaces.AgentID{agent}})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list agents that are in rooms: %w", err)
	}
	return away, nil
}

// Retire abandons the open cycles of agents that are not in here, unless a process runs
// them. Their rows are ignored, with the reason. Timers stay.
func (b ChatStore) Retire(ctx context.Context, here []spaces.AgentID, at time.Time) error {
	found, err := engine.AllRows(ctx, b.s.engine, leftCycles, []any{engine.ToMillis(b.s.clock().ToShared(at))}, tables.ScanCycle)
	if err != nil {
		return fmt.Errorf("list open cycles: %w", err)
	}
	found = slices.DeleteFunc(found, func(y spaces.Cycle) bool { return slices.Contains(here, y.Mind.Agent) })
	for _, y := range found {
		err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
			return t.cycle.abandonLeft(ctx, y.Mind, y.Space, goneDetail, at)
		})
		if err != nil {
			return fmt.Errorf("end cycle %s: %w", y.ID, err)
		}
	}
	return nil
}

// abandonLeft abandons the cycle of a mind in a space that it leaves, unless a process
// runs it.
func (t *cycleTx) abandonLeft(ctx context.Context, m spaces.Mind, space spaces.SpaceID, why string, at time.Time) error {
	y, err := engine.FirstRow(ctx, t, leftCycle, []any{string(m.Agent), string(m.Circle), string(space), t.SharedMillis(at)}, tables.ScanCycle)
	if err != nil || y == nil {
		return err
	}
	clear(t.cache.handled)
	if err := t.Run(ctx, leaveClaimed, string(y.ID), why); err != nil {
		return err
	}
	if _, err := t.outbox.cancelTools(ctx, spaces.StopRequest{Run: y.ID, At: at}); err != nil {
		return err
	}
	return t.abandon(ctx, *y, spaces.StopNoCapableAgent, why, at)
}

// Fill adds agents to the spaces of an account that have no configuration entry and no
// agent; to direct ones only, or to all.
func (b ChatStore) Fill(ctx context.Context, account string, agents []spaces.AgentID, direct bool, at time.Time) (filled int, err error) {
	empty, err := engine.AllRows(ctx, b.s.engine, emptyRooms, []any{account, minDirect(direct)}, engine.ScanValue[spaces.SpaceID])
	if err != nil {
		return 0, fmt.Errorf("list rooms nobody is in: %w", err)
	}
	for _, id := range empty {
		err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
			r, err := t.space.load(ctx, id)
			for i := 0; err == nil && r != nil && i < len(agents); i++ {
				err = t.room.addAgent(ctx, r, agents[i], spaces.OpenRequest{At: at})
			}
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("fill room %s: %w", id, err)
		}
	}
	return len(empty), nil
}

// Rouse sets the wake policy of the spaces of an account that have no configuration
// entry; of direct ones only, or of all.
func (b ChatStore) Rouse(ctx context.Context, account string, wake spaces.WakePolicy, direct bool) (changed int, err error) {
	other, err := engine.AllRows(ctx, b.s.engine, otherWakes, []any{account, minDirect(direct), string(wake)}, engine.ScanValue[spaces.SpaceID])
	if err != nil {
		return 0, fmt.Errorf("list rooms that wake otherwise: %w", err)
	}
	for _, id := range other {
		err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
			r, err := t.space.load(ctx, id)
			if err != nil || r == nil {
				return err
			}
			return t.room.update(ctx, r, spaces.OpenRequest{Wake: wake, Direct: r.Direct, Closed: r.Closed})
		})
		if err != nil {
			return 0, fmt.Errorf("change what wakes in room %s: %w", id, err)
		}
	}
	return len(other), nil
}

// minDirect returns the smallest value of the column direct that is selected.
func minDirect(direct bool) int {
	if direct {
		return 1
	}
	return 0
}

package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	keyedRooms    engine.Query = `select id, config_key, circle, wake from spaces where config_key is not null order by id`
	admittedRooms engine.Query = `select distinct s.id, '', s.circle, s.wake from mappings m join spaces s on s.id = m.space
where m.account = $1 and m.chat <> '' and s.config_key is null order by s.id`
	seatedAgents engine.Query = `select distinct agent from uplinks where space = $1 and live = 1 order by agent`
	readyHere    engine.Query = `select agent, circle, space, seq from inbox where agent = $1 and circle = $2 and space = $3 and state = 'ready'`
	leaveRow     engine.Query = `update inbox set state = 'ignored', reason = $4 where (agent, circle, space, seq) in (` + readyHere + `)`
	dropMapping  engine.Query = `delete from mappings where account = $1 and chat = $2 and space = $3`
	chatMoves    engine.Query = `select body from events where space = $1 and branch = $2 and kind = 'migrated' order by seq`
)

// leftReason is why what waited for an agent is not handled: it was sent away.
const leftReason = "the agent has left the space"

// Configured lists the rooms that came from entries of the configuration, with
// who is in them and which chats they have.
func (b BridgeStore) Configured(ctx context.Context) ([]spaces.ConfiguredSpace, error) {
	return b.spacesBy(ctx, keyedRooms)
}

// Admitted lists the rooms that came from no entry of their own and have chats on
// an account, with who is in them and all their chats.
func (b BridgeStore) Admitted(ctx context.Context, account string) ([]spaces.ConfiguredSpace, error) {
	return b.spacesBy(ctx, admittedRooms, account)
}

func (b BridgeStore) spacesBy(ctx context.Context, q engine.Query, args ...any) ([]spaces.ConfiguredSpace, error) {
	rooms, err := engine.AllRows(ctx, b.s.engine, q, args, func(r engine.Row) (c spaces.ConfiguredSpace, err error) {
		return c, r.Scan(&c.Space, &c.Key, &c.Circle, &c.Wake)
	})
	if err != nil {
		return nil, fmt.Errorf("list rooms: %w", err)
	}
	for i := range rooms {
		c := &rooms[i]
		if c.Chats, c.Agents, err = furnishing(ctx, b.s.engine, c.Space); err != nil {
			return nil, fmt.Errorf("read room %s: %w", c.Space, err)
		}
	}
	return rooms, nil
}

// Moves returns how the chats of a room moved on their platforms, oldest first.
// It reads the room's whole log.
func (b BridgeStore) Moves(ctx context.Context, space spaces.SpaceID) ([]spaces.Migrated, error) {
	return movesOf(ctx, b.s.engine, space)
}

func movesOf(ctx context.Context, src engine.Reader, space spaces.SpaceID) ([]spaces.Migrated, error) {
	out, err := engine.AllRows(ctx, src, chatMoves, []any{string(space), string(spaces.Primary)}, func(r engine.Row) (spaces.Migrated, error) {
		var text []byte
		if err := r.Scan(&text); err != nil {
			return spaces.Migrated{}, err
		}
		body, err := spaces.Decode(spaces.KindMigrated, text)
		m, _ := body.(spaces.Migrated)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read moves of %s: %w", space, err)
	}
	return out, nil
}

// Dismiss has agents leave a room and gives up chats of it, in one transaction.
// What waits there for an agent that leaves is ignored for good, with the
// reason. What it is about there it ends; what it had left open is over. Who or what is not there any more is passed over.
func (b BridgeStore) Dismiss(ctx context.Context, d spaces.Removal) error {
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

func (t *roomTx) removeAgent(ctx context.Context, r *spaceState, a spaces.AgentID, d spaces.Removal) error {
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
	}
	member, err := engine.QueryBool(ctx, t, isMember, string(r.ID), string(a.Entity()))
	if err != nil || !member {
		return err
	}
	e := spaces.Event{
		Space: r.ID, Branch: spaces.Primary, Object: spaces.ChatObject, Actor: a.Entity(), At: d.At, RecvAt: d.At,
		Body: spaces.Left{Who: a.Entity()},
	}
	if err := t.event.append(ctx, &e); err != nil {
		return err
	}
	_, err = t.wait.settleByEvent(ctx, e, nil) // whoever waits for it is found by the next look
	return err
}

func (t *chatTx) removeFromSpace(ctx context.Context, r *spaceState, c spaces.Mapping, d spaces.Removal) error {
	n, err := t.Exec(ctx, dropMapping, c.Account, c.Chat, string(r.ID))
	if err != nil || n == 0 {
		return err
	}
	fact := spaces.Unlinked{Account: c.Account, Chat: c.Chat, Reason: d.Reason}
	if err := t.appendFact(ctx, r.ID, fact, d.At); err != nil || r.reachable() {
		return err
	}
	return t.span.closeAll(ctx, r, spaces.SpanUnlinked, d.At)
}

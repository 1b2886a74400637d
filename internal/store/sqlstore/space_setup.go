package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	spaceByKey  engine.QueryText = `select id from spaces where config_key = $1`
	spaceByChat engine.QueryText = `select m.space from mappings m join spaces s on s.id = m.space
where m.account = $1 and m.chat = $2 and ($3 = '' or s.config_key is null) order by m.n limit 1`
	knownThere  engine.QueryText = `select space from messages where account = $1 and chat = $2 and space <> '' limit 1`
	insertSpace engine.QueryText = `insert into spaces (id, kind, name, circle, wake, direct, closed, guest, config_key, created_at)
values ($1, 'room', $2, $3, $4, $5, $6, $7, $8, $9)`
	renewSpace engine.QueryText = `update spaces set name = $2, circle = $3, wake = $4, direct = $5, closed = $6, config_key = coalesce($7, config_key)
where id = $1`

	insertMapping engine.QueryText = `insert into mappings (account, chat, space, object, title, relay, live, n)
values ($1, $2, $3, $4, $5, $6, 1, (select coalesce(max(n), 0) + 1 from mappings))
on conflict (account, chat, space) do nothing`
	renewMapping engine.QueryText = `update mappings set relay = $4, title = case when $5 = '' then title else $5 end
where account = $1 and chat = $2 and space = $3 and (relay <> $4 or ($5 <> '' and title <> $5))`
	isMember engine.QueryText = `select exists (select 1 from members where space = $1 and entity = $2)`
	handOver engine.QueryText = `update inbox set circle = $4 where (agent, circle, space, seq) in (` + readyHere + `)`
)

// Open implements [activity.Directory]. A space is found by its key or by its first
// chat: an entry of the configuration takes over a space that was admitted without one.
// A chat that has moved leads to its space, which does not change.
func (b ChatStore) Open(ctx context.Context, o spaces.OpenRequest) (spaces.ChatPlacement, error) {
	var place spaces.ChatPlacement
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if r, err := t.chat.findMoved(ctx, o); err != nil || r != nil {
			place = placementOf(r)
			return err
		}
		r, err := t.room.findOrCreate(ctx, o)
		if err != nil {
			return err
		}
		for _, c := range o.Chats {
			if err := t.chat.addToSpace(ctx, r, c, o); err != nil {
				return err
			}
		}
		for _, a := range o.Agents {
			if err := t.room.addAgent(ctx, r, a, o); err != nil {
				return err
			}
		}
		place = placementOf(r)
		return nil
	})
	if err != nil {
		return spaces.ChatPlacement{}, fmt.Errorf("open space %q: %w", o.Name, err)
	}
	return place, nil
}

// placementOf returns the placement of a space; zero for none.
func placementOf(r *spaceState) spaces.ChatPlacement {
	if r == nil {
		return spaces.ChatPlacement{}
	}
	return spaces.ChatPlacement{Space: r.ID, Object: spaces.ChatObject, Circle: r.Circle}
}

// findMoved returns the space of a chat that has another id by now, for late or repeated
// updates about the old one.
func (t *chatTx) findMoved(ctx context.Context, o spaces.OpenRequest) (*spaceState, error) {
	if o.Key != "" || len(o.Chats) == 0 {
		return nil, nil
	}
	c := o.Chats[0]
	if known, err := t.spacesOf(ctx, c.Account, c.Chat); err != nil || len(known) > 0 {
		return nil, err
	}
	var id spaces.SpaceID
	if found, err := engine.ScanRow(ctx, t, knownThere, []any{c.Account, c.Chat}, &id); err != nil || !found {
		return nil, err
	}
	moves, err := movesOf(ctx, t, id)
	if err != nil || !slices.ContainsFunc(moves, func(m spaces.ChatMigrated) bool { return m.Account == c.Account && m.From == c.Chat }) {
		return nil, err
	}
	return t.space.load(ctx, id)
}

// A roomTx creates and changes spaces and their agents.
type roomTx struct {
	*writeTx
	branch  *branchTx
	cycle   *cycleTx
	event   *eventTx
	space   *spaceTx
	uplink  *uplinkTx
	wait    *waitTx
	mission *missionTx
}

func (t *roomTx) findOrCreate(ctx context.Context, o spaces.OpenRequest) (*spaceState, error) {
	var id spaces.SpaceID
	found, err := false, error(nil)
	if o.Key != "" {
		found, err = engine.ScanRow(ctx, t, spaceByKey, []any{o.Key}, &id)
	}
	if err == nil && !found && len(o.Chats) > 0 {
		found, err = engine.ScanRow(ctx, t, spaceByChat, []any{o.Chats[0].Account, o.Chats[0].Chat, o.Key}, &id)
	}
	if err != nil {
		return nil, err
	}
	if !found {
		return t.create(ctx, o)
	}
	r, err := t.space.load(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, t.update(ctx, r, o)
}

func (t *roomTx) create(ctx context.Context, o spaces.OpenRequest) (*spaceState, error) {
	id := spaces.SpaceID(t.newID())
	circle, wake := cmp.Or(o.Circle, spaces.OwnCircle(id)), cmp.Or(o.Wake, spaces.WakeAuto)
	err := t.Run(ctx, insertSpace, string(id), o.Name, string(circle), string(wake), o.Direct, o.Closed, o.Guest, engine.NullString(o.Key), engine.ToMillis(o.At))
	if err != nil {
		return nil, err
	}
	if err := t.branch.create(ctx, spaces.Branch{Space: id, ID: spaces.Primary}); err != nil {
		return nil, err
	}
	return t.space.load(ctx, id)
}

// update changes a space to what the request says. Empty fields change nothing.
func (t *roomTx) update(ctx context.Context, r *spaceState, o spaces.OpenRequest) error {
	want := r.Space
	want.Direct, want.Closed, want.Configured = o.Direct, o.Closed, r.Configured || o.Key != ""
	want.Name, want.Wake, want.Circle = cmp.Or(o.Name, want.Name), cmp.Or(o.Wake, want.Wake), cmp.Or(o.Circle, want.Circle)
	var key string
	if _, err := engine.ScanRow(ctx, t, tables.SpaceConfigKey, []any{string(r.ID)}, &key); err != nil {
		return err
	}
	if want == r.Space && (o.Key == "" || o.Key == key) {
		return nil
	}
	err := t.Run(ctx, renewSpace, string(r.ID), want.Name, string(want.Circle), string(want.Wake), want.Direct, want.Closed, engine.NullString(o.Key))
	if err != nil {
		return err
	}
	moved := want.Circle != r.Circle
	r.Space = want
	if !moved {
		return nil
	}
	return t.changeCircle(ctx, r, o)
}

// changeCircle moves the agents of a space to their minds in its new circle, with the
// rows that wait.
func (t *roomTx) changeCircle(ctx context.Context, r *spaceState, o spaces.OpenRequest) error {
	for _, old := range r.minds {
		if old.Circle == r.Circle {
			continue
		}
		if err := t.uplink.disconnect(ctx, old, r, o.At); err != nil {
			return err
		}
		next := spaces.Mind{Agent: old.Agent, Circle: r.Circle}
		if err := t.uplink.connect(ctx, next, r, o.At); err != nil {
			return err
		}
		clear(t.cache.handled)
		if err := t.Run(ctx, handOver, string(old.Agent), string(old.Circle), string(r.ID), string(r.Circle)); err != nil {
			return err
		}
	}
	return nil
}

// addToSpace maps a chat to a space and appends that, once. A configuration may name the
// old id of a chat that has moved.
func (t *chatTx) addToSpace(ctx context.Context, r *spaceState, c spaces.ChatMapping, o spaces.OpenRequest) error {
	known, err := t.spacesOf(ctx, c.Account, c.Chat)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(known, func(m chatSpace) bool { return m.space == r.ID }) {
		moves, err := movesOf(ctx, t, r.ID)
		if err != nil {
			return err
		}
		for _, m := range moves {
			if m.Account == c.Account && m.From == c.Chat {
				c.Chat = m.To
			}
		}
	}
	n, err := t.Exec(ctx, insertMapping, c.Account, c.Chat, string(r.ID), string(spaces.ChatObject), c.Title, c.Relay)
	if err != nil {
		return err
	}
	if n == 0 {
		return t.Run(ctx, renewMapping, c.Account, c.Chat, string(r.ID), c.Relay, c.Title)
	}
	return t.appendFact(ctx, r.ID, spaces.ChatLinked{Account: c.Account, Chat: c.Chat}, o.At)
}

// addAgent makes an agent a member of a space and connects its mind.
func (t *roomTx) addAgent(ctx context.Context, r *spaceState, a spaces.AgentID, o spaces.OpenRequest) error {
	t.cache.forgetMembers()
	if err := t.Run(ctx, insertEntity, string(a.Entity()), string(spaces.Agent), string(a), ""); err != nil {
		return err
	}
	member, err := engine.QueryBool(ctx, t, isMember, string(r.ID), string(a.Entity()))
	if err != nil {
		return err
	}
	if !member {
		e := spaces.Event{
			Space: r.ID, Branch: spaces.Primary, Object: spaces.ChatObject, Actor: a.Entity(), At: o.At, RecvAt: o.At,
			Body: spaces.MemberJoined{Who: a.Entity()},
		}
		if err := t.event.append(ctx, &e); err != nil {
			return err
		}
	}
	return t.uplink.connect(ctx, spaces.Mind{Agent: a, Circle: r.Circle}, r, o.At)
}

package sqlstore

import (
	"cmp"
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	selectPerson engine.QueryText = `select e.id, e.kind, e.name, e.handle, e.portrait, e.zone, e.zone_from from identities i join entities e on e.id = i.entity
where i.platform = $1 and i.scope = $2 and i.user_id = $3`
	upsertEntity engine.QueryText = `insert into entities (id, kind, name, handle, portrait, zone, zone_from) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (id) do update set kind = excluded.kind, name = excluded.name, handle = excluded.handle, portrait = excluded.portrait,
  zone = excluded.zone, zone_from = excluded.zone_from`
	updateZone     engine.QueryText = `update entities set zone = $2, zone_from = $3 where id = $1 and zone_from <= $4`
	insertEntity   engine.QueryText = `insert into entities (id, kind, name, handle) values ($1, $2, $3, $4) on conflict (id) do nothing`
	upsertIdentity engine.QueryText = `insert into identities (platform, scope, user_id, entity) values ($1, $2, $3, $4)
on conflict (platform, scope, user_id) do update set entity = excluded.entity`
)

type identityKey struct{ platform, scope, user string }

func identityKeyOf(i spaces.PlatformIdentity) identityKey {
	return identityKey{i.Platform, i.Scope, i.User}
}

// An entityTx resolves identities to entities.
type entityTx struct {
	*writeTx
}

// resolve returns the entity of an identity, creates it if it is new, and updates its
// names. An identity without a user has no entity.
func (t *entityTx) resolve(ctx context.Context, i spaces.PlatformIdentity) (spaces.EntityID, error) {
	if i.User == "" {
		return "", nil
	}
	e, found, err := t.find(ctx, i)
	if err != nil {
		return "", fmt.Errorf("look up identity on %s: %w", i.Platform, err)
	}
	if _, ours := e.ID.IsAgent(); ours {
		return e.ID, nil // the configuration names our agents
	}
	now := mergeIdentity(e, i)
	if found && now == e {
		return e.ID, nil
	}
	if !found {
		now.ID = spaces.EntityID(t.newID())
	}
	if err := t.Run(ctx, upsertEntity, string(now.ID), string(now.Kind), now.Name, now.Handle, now.Portrait, now.Zone, int(now.ZoneFrom)); err != nil {
		return "", fmt.Errorf("store entity: %w", err)
	}
	if !found {
		if err := t.Run(ctx, upsertIdentity, i.Platform, i.Scope, i.User, string(now.ID)); err != nil {
			return "", fmt.Errorf("store identity on %s: %w", i.Platform, err)
		}
	}
	t.cache.forgetMembers()
	t.cache.addIdentity(identityKeyOf(i), now)
	return now.ID, nil
}

func (t *entityTx) find(ctx context.Context, i spaces.PlatformIdentity) (spaces.Entity, bool, error) {
	if e, ok := t.cache.identities[identityKeyOf(i)]; ok {
		return e, true, nil
	}
	var e spaces.Entity
	found, err := engine.ScanRow(ctx, t, selectPerson, []any{i.Platform, i.Scope, i.User}, &e.ID, &e.Kind, &e.Name, &e.Handle, &e.Portrait, &e.Zone, &e.ZoneFrom)
	if found {
		t.cache.addIdentity(identityKeyOf(i), e)
	}
	return e, found, err
}

// kind returns the kind of an entity; empty if it is unknown.
func (t *entityTx) kind(ctx context.Context, id spaces.EntityID) (spaces.EntityKind, error) {
	if k, ok := t.cache.kinds[id]; ok {
		return k, nil
	}
	e, found, err := tables.EntityByID(ctx, t, id)
	if found {
		t.cache.kinds[id] = e.Kind
	}
	return e.Kind, err
}

// mergeIdentity returns e updated from an identity. An empty field of the identity
// changes nothing, nor does a name that is the user id.
func mergeIdentity(e spaces.Entity, i spaces.PlatformIdentity) spaces.Entity {
	e.Kind, e.Handle = cmp.Or(i.Kind, e.Kind, spaces.Human), cmp.Or(i.Handle, e.Handle)
	if i.Name != "" && (i.Name != i.User || e.Name == "") {
		e.Name, e.Portrait = i.Name, i.Portrait
	}
	if e.ZoneFrom == spaces.ZoneOfPlatform {
		e.Zone = cmp.Or(i.Zone, e.Zone)
	}
	return e
}

// SetZone stores the time zone of a person, unless a higher source gave theirs. An empty
// name takes back what that source or a lower one gave: the platform's word counts again.
func (b ChatStore) SetZone(ctx context.Context, who spaces.PlatformIdentity, zone string, from spaces.ZoneSource) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		id, err := t.entity.resolve(ctx, who)
		if err != nil {
			return err
		}
		delete(t.cache.identities, identityKeyOf(who))
		t.cache.forgetMembers()
		keep := from
		if zone == "" {
			keep = spaces.ZoneOfPlatform
		}
		return t.Run(ctx, updateZone, string(id), zone, int(keep), int(from))
	})
	if err != nil {
		return fmt.Errorf("store time zone of a person on %s: %w", who.Platform, err)
	}
	return nil
}

// Bind binds an identity to an entity: what it does and who mentions it counts for that
// entity. The account of an adapter is bound to its agent. Binding again moves the
// identity.
func (b ChatStore) Bind(ctx context.Context, i spaces.PlatformIdentity, id spaces.EntityID) error {
	return b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		what := spaces.Human
		if agent, ours := id.IsAgent(); ours {
			what, i.Name = spaces.Agent, string(agent)
		}
		if err := t.Run(ctx, insertEntity, string(id), string(what), i.Name, i.Handle); err != nil {
			return fmt.Errorf("bind identity on %s: %w", i.Platform, err)
		}
		delete(t.cache.identities, identityKeyOf(i))
		t.cache.forgetMembers()
		if err := t.Run(ctx, upsertIdentity, i.Platform, i.Scope, i.User, string(id)); err != nil {
			return fmt.Errorf("bind identity on %s: %w", i.Platform, err)
		}
		return nil
	})
}

// Agents stores the names of our agents.
func (b ChatStore) Agents(ctx context.Context, agents []spaces.Entity) error {
	return b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		for _, a := range agents {
			if err := t.Run(ctx, upsertEntity, string(a.ID), string(a.Kind), a.Name, a.Handle, a.Portrait, "", 0); err != nil {
				return fmt.Errorf("name agent %s: %w", a.ID, err)
			}
		}
		clear(t.cache.identities)
		clear(t.cache.kinds)
		t.cache.forgetMembers()
		return nil
	})
}

const (
	roleOf     engine.QueryText = `select coalesce(max(role), 0) from roles where platform = $1 and scope = $2 and user_id = $3`
	dropConfig engine.QueryText = `delete from roles where platform = $1 and source = 'config'`
	dropPaired engine.QueryText = `delete from roles where source = 'pairing'`
	insertRole engine.QueryText = `insert into roles (platform, scope, user_id, source, role) values ($1, $2, $3, $4, $5)
on conflict (platform, scope, user_id, source) do update set role = excluded.role where roles.role < excluded.role`
	// entityRole !The authority of a message is the role of its author; for agents and
	// other programs at most a member's.
	entityRole engine.QueryText = `select e.kind, coalesce(max(r.role), 0) from entities e
left join identities i on i.entity = e.id
left join roles r on r.platform = i.platform and r.scope = i.scope and r.user_id = i.user_id
where e.id = $1 group by e.id`
	lowerAuthority engine.QueryText = `update cycles set authority = $2 where id = $1 and authority > $2`
	runAuthority   engine.QueryText = `select authority from cycles where id = $1`
)

// Role implements [commands.RoleLookup].
func (b ChatStore) Role(ctx context.Context, who spaces.PlatformIdentity) (spaces.AuthorityLevel, error) {
	role := spaces.OfMember
	if _, err := engine.ScanRow(ctx, b.s.engine, roleOf, []any{who.Platform, who.Scope, who.User}, &role); err != nil {
		return spaces.OfStranger, fmt.Errorf("read role: %w", err)
	}
	return max(role, spaces.OfMember), nil
}

// Appoint replaces the roles that the configuration gives on a platform.
func (b ChatStore) Appoint(ctx context.Context, platform string, list []spaces.RoleGrant) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		clear(t.cache.roles)
		if err := t.Run(ctx, dropConfig, platform); err != nil {
			return err
		}
		for _, a := range list {
			if err := t.Run(ctx, insertRole, platform, a.Who.Scope, a.Who.User, "config", int(a.Role)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("appoint on %s: %w", platform, err)
	}
	return nil
}

// replacePairedRoles replaces the roles of the senders that were admitted by pairing.
func (t *entityTx) replacePairedRoles(ctx context.Context, d access.PairingState) error {
	clear(t.cache.roles)
	if err := t.Run(ctx, dropPaired); err != nil {
		return err
	}
	for _, a := range d.Admitted {
		if a.Role <= spaces.OfMember || a.User == "" {
			continue
		}
		if err := t.Run(ctx, insertRole, platformOf(a.Account), a.Scope, a.User, "pairing", int(a.Role)); err != nil {
			return err
		}
	}
	return nil
}

// authorityOf returns the authority of a run that these rows woke: the lowest of the
// roles of the people behind them.
func (t *entityTx) authorityOf(ctx context.Context, woken []tables.InboxEntry, waits []spaces.PendingWait) (spaces.AuthorityLevel, error) {
	least := spaces.OfOwner
	for _, e := range woken {
		role, err := t.roleOf(ctx, e.Subject.Actor)
		if err != nil {
			return spaces.OfStranger, err
		}
		least = min(least, role)
	}
	for _, w := range waits { // at most the authority of the run that asked
		role := spaces.OfMember
		if _, err := engine.ScanRow(ctx, t, runAuthority, []any{string(w.Cycle)}, &role); err != nil {
			return spaces.OfStranger, err
		}
		least = min(least, role)
		for _, a := range w.Answers {
			if a.Choice == 0 || a.Event != "" { // words have a row of their own
				continue
			}
			if role, err := t.roleOf(ctx, a.Who); err != nil {
				return spaces.OfStranger, err
			} else {
				least = min(least, role)
			}
		}
	}
	if len(woken)+len(waits) == 0 {
		least = spaces.OfMember
	}
	return least, nil
}

// roleOf returns the authority of what an entity says.
func (t *entityTx) roleOf(ctx context.Context, who spaces.EntityID) (spaces.AuthorityLevel, error) {
	if role, ok := t.cache.roles[who]; ok {
		return role, nil
	}
	role := spaces.OfMember
	var kind spaces.EntityKind
	if _, err := engine.ScanRow(ctx, t, entityRole, []any{string(who)}, &kind, &role); err != nil {
		return spaces.OfStranger, err
	}
	if kind != spaces.Human {
		role = spaces.OfMember // a program has no higher role
	}
	role = max(role, spaces.OfMember)
	t.cache.roles[who] = role
	return role, nil
}

const (
	identitiesOf engine.QueryText = `select i.platform, i.scope, i.user_id, e.kind, e.name, e.handle from identities i join entities e on e.id = i.entity
where i.entity = $1 order by i.platform, i.scope, i.user_id`
	memberBy engine.QueryText = `select exists (select 1 from identities i join members m on m.entity = i.entity
where i.platform = $1 and i.scope = $2 and i.user_id = $3 and m.space = $4)`
)

// ResolveMentions implements [activity.Outbox].
func (b OutboxStore) ResolveMentions(ctx context.Context, account string, message spaces.EventID, kin activity.IdentityLookup) (out []spaces.PlatformIdentity, broadcast bool, err error) {
	e, err := tables.EventByID(ctx, b.s.engine, message)
	if err != nil {
		return nil, false, fmt.Errorf("read message %s: %w", message, err)
	}
	if e == nil {
		return nil, false, nil
	}
	said, _ := e.Body.(spaces.MessagePosted)
	people := 0
	for _, who := range said.Mentions {
		if _, ours := who.IsAgent(); ours || people == activity.MaxNamed {
			continue
		}
		here, err := b.memberIdentities(ctx, platformOf(account), e.Space, who, kin)
		if err != nil {
			return nil, false, fmt.Errorf("read who %s names: %w", message, err)
		}
		if len(here) > 0 {
			people++
			out = append(out, here...)
		}
	}
	return out, said.Broadcast, nil
}

// memberIdentities returns the identities of a member of the space on a platform. A
// person who is known there through kin is named by the identity that kin returns.
func (b OutboxStore) memberIdentities(ctx context.Context, platform string, room spaces.SpaceID, who spaces.EntityID, kin activity.IdentityLookup) ([]spaces.PlatformIdentity, error) {
	known, err := identitiesOfEntity(ctx, b.s.engine, who)
	if err != nil {
		return nil, err
	}
	var here []spaces.PlatformIdentity
	for _, i := range known {
		if i.Platform == platform {
			here = append(here, i)
		}
	}
	for n := 0; n < len(known) && len(here) == 0 && kin != nil; n++ {
		if other, ok := kin(known[n]); ok {
			other.Kind, other.Name = known[n].Kind, known[n].Name
			here = append(here, other)
			if other.Name = known[n].Handle; other.Name != "" {
				here = append(here, other) // a handle may belong to another person there, and is only a name
			}
		}
	}
	var members []spaces.PlatformIdentity
	for _, i := range here {
		member, err := engine.QueryBool(ctx, b.s.engine, memberBy, i.Platform, i.Scope, i.User, string(room))
		if err != nil {
			return nil, err
		}
		if member {
			members = append(members, i)
		}
	}
	return members, nil
}

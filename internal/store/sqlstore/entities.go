package sqlstore

import (
	"cmp"
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	selectEntity engine.Query = `select id, kind, name, handle, portrait from entities where id = $1`
	selectPerson engine.Query = `select e.id, e.kind, e.name, e.handle, e.portrait from identities i join entities e on e.id = i.entity
where i.platform = $1 and i.scope = $2 and i.user_id = $3`
	upsertEntity engine.Query = `insert into entities (id, kind, name, handle, portrait) values ($1, $2, $3, $4, $5)
on conflict (id) do update set kind = excluded.kind, name = excluded.name, handle = excluded.handle, portrait = excluded.portrait`
	insertEntity   engine.Query = `insert into entities (id, kind, name, handle) values ($1, $2, $3, $4) on conflict (id) do nothing`
	upsertIdentity engine.Query = `insert into identities (platform, scope, user_id, entity) values ($1, $2, $3, $4)
on conflict (platform, scope, user_id) do update set entity = excluded.entity`
)

type identityKey struct{ platform, scope, user string }

func identityKeyOf(i spaces.Identity) identityKey { return identityKey{i.Platform, i.Scope, i.User} }

// An entityTx resolves identities to entities.
type entityTx struct {
	*writeTx
}

// person returns the entity behind an identity, made if it is new, with its
// names brought up to date. An identity without a user is nobody.
func (t *entityTx) resolve(ctx context.Context, i spaces.Identity) (spaces.EntityID, error) {
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
	if err := t.Run(ctx, upsertEntity, string(now.ID), string(now.Kind), now.Name, now.Handle, now.Portrait); err != nil {
		return "", fmt.Errorf("keep entity: %w", err)
	}
	if !found {
		if err := t.Run(ctx, upsertIdentity, i.Platform, i.Scope, i.User, string(now.ID)); err != nil {
			return "", fmt.Errorf("keep identity on %s: %w", i.Platform, err)
		}
	}
	t.cache.forgetMembers()
	t.cache.addIdentity(identityKeyOf(i), now)
	return now.ID, nil
}

func (t *entityTx) find(ctx context.Context, i spaces.Identity) (spaces.Entity, bool, error) {
	if e, ok := t.cache.identities[identityKeyOf(i)]; ok {
		return e, true, nil
	}
	var e spaces.Entity
	found, err := engine.ScanRow(ctx, t, selectPerson, []any{i.Platform, i.Scope, i.User}, &e.ID, &e.Kind, &e.Name, &e.Handle, &e.Portrait)
	if found {
		t.cache.addIdentity(identityKeyOf(i), e)
	}
	return e, found, err
}

// kindOf returns the kind of an entity; empty when it is unknown.
func (t *entityTx) kind(ctx context.Context, id spaces.EntityID) (spaces.EntityKind, error) {
	if k, ok := t.cache.kinds[id]; ok {
		return k, nil
	}
	e, found, err := entityOf(ctx, t, id)
	if found {
		t.cache.kinds[id] = e.Kind
	}
	return e.Kind, err
}

// mergeIdentity returns e with what the identity says of it. An update that leaves a
// field empty says nothing about it, nor does an id that stands for a name.
func mergeIdentity(e spaces.Entity, i spaces.Identity) spaces.Entity {
	e.Kind, e.Handle = cmp.Or(i.Kind, e.Kind, spaces.Human), cmp.Or(i.Handle, e.Handle)
	if i.Name != "" && (i.Name != i.User || e.Name == "") {
		e.Name, e.Portrait = i.Name, i.Portrait
	}
	return e
}

func entityOf(ctx context.Context, src engine.Reader, id spaces.EntityID) (e spaces.Entity, found bool, err error) {
	found, err = engine.ScanRow(ctx, src, selectEntity, []any{string(id)}, &e.ID, &e.Kind, &e.Name, &e.Handle, &e.Portrait)
	return e, found, err
}

// entitiesOf returns those of the entities that are in the record.
func entitiesOf(ctx context.Context, src engine.Reader, ids []spaces.EntityID) (map[spaces.EntityID]spaces.Entity, error) {
	known := make(map[spaces.EntityID]spaces.Entity, len(ids))
	for _, id := range ids {
		e, found, err := entityOf(ctx, src, id)
		if err != nil {
			return nil, fmt.Errorf("read entity %s: %w", id, err)
		}
		if found {
			known[id] = e
		}
	}
	return known, nil
}

// Bind ties an identity to an entity, so that what it does and who mentions it
// are known to be that one: the account of an adapter is its agent's. Binding
// again moves the identity.
func (b BridgeStore) Bind(ctx context.Context, i spaces.Identity, id spaces.EntityID) error {
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

// Agents makes the names of our agents known, or changes them.
func (b BridgeStore) Agents(ctx context.Context, agents []spaces.Entity) error {
	return b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		for _, a := range agents {
			if err := t.Run(ctx, upsertEntity, string(a.ID), string(a.Kind), a.Name, a.Handle, a.Portrait); err != nil {
				return fmt.Errorf("name agent %s: %w", a.ID, err)
			}
		}
		clear(t.cache.identities)
		clear(t.cache.kinds)
		t.cache.forgetMembers()
		return nil
	})
}

package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	roleOf     engine.Query = `select coalesce(max(role), 0) from roles where platform = $1 and scope = $2 and user_id = $3`
	dropConfig engine.Query = `delete from roles where platform = $1 and source = 'config'`
	dropPaired engine.Query = `delete from roles where source = 'pairing'`
	insertRole engine.Query = `insert into roles (platform, scope, user_id, source, role) values ($1, $2, $3, $4, $5)
on conflict (platform, scope, user_id, source) do update set role = excluded.role where roles.role < excluded.role`
	// What a message may ask for: its author's role; for what an agent or another
	// program said, at most a member's.
	entityRole engine.Query = `select e.kind, coalesce(max(r.role), 0) from entities e
left join identities i on i.entity = e.id
left join roles r on r.platform = i.platform and r.scope = i.scope and r.user_id = i.user_id
where e.id = $1 group by e.id`
	lowerAuthority engine.Query = `update cycles set authority = $2 where id = $1 and authority > $2`
	runAuthority   engine.Query = `select authority from cycles where id = $1`
)

// Role implements [activity.Roles].
func (b BridgeStore) Role(ctx context.Context, who spaces.Identity) (spaces.Authority, error) {
	role := spaces.OfMember
	if _, err := engine.ScanRow(ctx, b.s.engine, roleOf, []any{who.Platform, who.Scope, who.User}, &role); err != nil {
		return spaces.OfStranger, fmt.Errorf("read role: %w", err)
	}
	return max(role, spaces.OfMember), nil
}

// Appoint replaces the roles that the configuration gives on a platform.
func (b BridgeStore) Appoint(ctx context.Context, platform string, list []spaces.RoleGrant) error {
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

// appoint gives those who were let in the roles they were let in with.
func (t *entityTx) replacePairedRoles(ctx context.Context, d activity.PairingState) error {
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

// authority returns what a run may do that these rows woke: what all of the
// people behind them may ask for (SECURITY S2, "Whose authority").
func (t *entityTx) authorityOf(ctx context.Context, woken []inboxEntry, waits []spaces.Wait) (spaces.Authority, error) {
	least := spaces.OfOwner
	for _, e := range woken {
		role, err := t.roleOf(ctx, e.event.Actor)
		if err != nil {
			return spaces.OfStranger, err
		}
		least = min(least, role)
	}
	for _, w := range waits { // what the run that asked might do is left
		role := spaces.OfMember
		if _, err := engine.ScanRow(ctx, t, runAuthority, []any{string(w.Cycle)}, &role); err != nil {
			return spaces.OfStranger, err
		}
		least = min(least, role)
	}
	if len(woken)+len(waits) == 0 {
		least = spaces.OfMember
	}
	return least, nil
}

// power returns what somebody's words may ask for.
func (t *entityTx) roleOf(ctx context.Context, who spaces.EntityID) (spaces.Authority, error) {
	if role, ok := t.cache.roles[who]; ok {
		return role, nil
	}
	role := spaces.OfMember
	var kind spaces.EntityKind
	if _, err := engine.ScanRow(ctx, t, entityRole, []any{string(who)}, &kind, &role); err != nil {
		return spaces.OfStranger, err
	}
	if kind != spaces.Human {
		role = spaces.OfMember // a program never asks for more (SECURITY S19)
	}
	role = max(role, spaces.OfMember)
	t.cache.roles[who] = role
	return role, nil
}

package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	identitiesOf engine.Query = `select i.platform, i.scope, i.user_id, e.kind, e.name, e.handle from identities i join entities e on e.id = i.entity
where i.entity = $1 order by i.platform, i.scope, i.user_id`
	memberBy engine.Query = `select exists (select 1 from identities i join members m on m.entity = i.entity
where i.platform = $1 and i.scope = $2 and i.user_id = $3 and m.space = $4)`
)

// ResolveMentions implements [activity.Outbox].
func (b BridgeStore) ResolveMentions(ctx context.Context, account string, message spaces.EventID, kin activity.IdentityLookup) (out []spaces.Identity, broadcast bool, err error) {
	e, err := eventOf(ctx, b.s.engine, message)
	if err != nil {
		return nil, false, fmt.Errorf("read message %s: %w", message, err)
	}
	if e == nil {
		return nil, false, nil
	}
	said, _ := e.Body.(spaces.Said)
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

// memberIdentities returns by which identities a platform knows somebody, if they are a
// member of the room. One who is known there by a kin's identity is named in the
// words as where they were written.
func (b BridgeStore) memberIdentities(ctx context.Context, platform string, room spaces.SpaceID, who spaces.EntityID, kin activity.IdentityLookup) ([]spaces.Identity, error) {
	known, err := engine.AllRows(ctx, b.s.engine, identitiesOf, []any{string(who)}, func(r engine.Row) (i spaces.Identity, err error) {
		return i, r.Scan(&i.Platform, &i.Scope, &i.User, &i.Kind, &i.Name, &i.Handle)
	})
	if err != nil {
		return nil, err
	}
	var here []spaces.Identity
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
				here = append(here, other) // a handle means somebody else there, and is only a name
			}
		}
	}
	var members []spaces.Identity
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

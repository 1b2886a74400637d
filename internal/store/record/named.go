package record

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	identityOn query = `select i.platform, i.scope, i.user_id, e.kind, e.name, e.handle from identities i join entities e on e.id = i.entity
where i.entity = $1 and i.platform = $2 order by i.scope, i.user_id`
)

// Named implements [activity.Outbox].
func (b Border) Named(ctx context.Context, account string, message spaces.EventID) (out []spaces.Identity, broadcast bool, err error) {
	found, err := all(ctx, b.s.engine, eventOf, []any{string(message)}, scanEvent)
	if err != nil {
		return nil, false, fmt.Errorf("read message %s: %w", message, err)
	}
	people := 0
	for _, e := range found {
		said, _ := e.Body.(spaces.Said)
		broadcast = said.Broadcast
		for _, who := range said.Mentions {
			if _, ours := who.IsAgent(); ours || people == activity.MaxNamed {
				continue
			}
			here, err := all(ctx, b.s.engine, identityOn, []any{string(who), platformOf(account)}, func(r row) (i spaces.Identity, err error) {
				return i, r.Scan(&i.Platform, &i.Scope, &i.User, &i.Kind, &i.Name, &i.Handle)
			})
			if err != nil {
				return nil, false, fmt.Errorf("read who %s names: %w", message, err)
			}
			if len(here) > 0 {
				people++
				out = append(out, here...)
			}
		}
	}
	return out, broadcast, nil
}

package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters"
)

// listing bounds the time to list the chats of an account's servers at a start.
const listing = 30 * time.Second

// openServers opens a space for each chat of the servers that the configuration
// names, as if we had just been let in there. Those that come later are opened
// when we are; one that cannot be listed now, when somebody speaks in it.
func (p *parts) openServers(ctx context.Context, ad adapters.Adapter, in *activity.Ingress, servers map[string]activity.Room) {
	lister, ok := ad.(adapters.Lister)
	if !ok || len(servers) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, listing)
	defer cancel()
	for _, group := range slices.Sorted(maps.Keys(servers)) {
		chats, err := lister.Chats(ctx, group)
		if err != nil {
			p.log.Warn("channels not listed", "server", group, "error", err)
			continue
		}
		var b adapters.Batch
		for _, c := range chats {
			b.Updates = append(b.Updates, adapters.Update{ID: "listed", Key: "listed:" + c.ID, Chat: c, At: time.Now(), Body: adapters.Linked{}})
		}
		if err := in.Accept(ctx, b); err != nil {
			p.log.Warn("channels not opened", "server", group, "error", err)
		}
	}
}

package server

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// listing bounds the time to list the chats of an account's servers.
const listing = 30 * time.Second

// openServers opens a space for each chat of the servers that the configuration names, as if
// the account had just joined there, and gives existing spaces the settings of their server.
// Chats that come later are opened when the account joins them; chats that cannot be listed
// now, with their next message.
func (sm *SpaceManager) openServers(ctx context.Context, ad adapters.Adapter, j connectedAccount) {
	lister, ok := ad.(adapters.ChatLister)
	servers := sm.serverDefaults(j.adapter)
	if !ok || len(servers) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, listing)
	defer cancel()
	for _, group := range slices.Sorted(maps.Keys(servers)) {
		chats, err := lister.Chats(ctx, group)
		if err != nil {
			sm.Log.Warn("channels not listed", "server", group, "error", err)
			continue
		}
		var b adapters.UpdateBatch
		for _, c := range chats {
			b.Updates = append(b.Updates, adapters.Update{ID: "listed", Key: "listed:" + c.ID, Chat: c, At: time.Now(), Body: adapters.ChatGained{}})
		}
		if err := j.in.Accept(ctx, b); err != nil {
			sm.Log.Warn("channels not opened", "server", group, "error", err)
			continue
		}
		if err := sm.applyDefaults(ctx, j, group, servers[group], chats); err != nil {
			sm.Log.Warn("channels not as the server's entry has them", "server", group, "error", err)
		}
	}
}

// reopenServers calls openServers for every connected account.
func (sm *SpaceManager) reopenServers(ctx context.Context) {
	sm.Opening.Lock()
	all := slices.Clone(sm.joined)
	sm.Opening.Unlock()
	for _, l := range sm.conns.all() {
		i := slices.IndexFunc(all, func(j connectedAccount) bool { return j.adapter == l.name })
		if i >= 0 {
			sm.openServers(ctx, l.adapter, all[i])
		}
	}
}

// allServerDefaults returns the settings of the servers of each account.
func (sm *SpaceManager) allServerDefaults() map[string]map[string]spaces.RoomDefaults {
	all := map[string]map[string]spaces.RoomDefaults{}
	for _, a := range sm.Config().Adapters {
		all[a.Name] = sm.serverDefaults(a.Name)
	}
	return all
}

func sameRooms(a, b map[string]spaces.RoomDefaults) bool {
	return maps.EqualFunc(a, b, func(x, y spaces.RoomDefaults) bool {
		return x.Circle == y.Circle && x.Wake == y.Wake && slices.Equal(x.Agents, y.Agents)
	})
}

// applyDefaults gives the spaces of a server's chats its settings. It skips a chat of a
// configured room, which has the settings of that room.
func (sm *SpaceManager) applyDefaults(ctx context.Context, j connectedAccount, group string, form spaces.RoomDefaults, chats []adapters.Chat) error {
	rooms, err := sm.border.Admitted(ctx, j.account)
	if err != nil {
		return err
	}
	for _, r := range rooms {
		i := slices.IndexFunc(r.Chats, func(m spaces.ChatMapping) bool {
			return m.Account == j.account && slices.ContainsFunc(chats, func(c adapters.Chat) bool { return c.ID == m.Chat })
		})
		if i < 0 {
			continue
		}
		if err := sm.rememberServer(ctx, r.Space, j.adapter+":"+group); err != nil {
			return err
		}
		if err := sm.applyRoomDefaults(ctx, r, r.Chats[i], form); err != nil {
			return err
		}
	}
	return nil
}

// applyRoomDefaults gives the space of one chat the settings of its server.
func (sm *SpaceManager) applyRoomDefaults(ctx context.Context, r spaces.ConfiguredSpace, chat spaces.ChatMapping, form spaces.RoomDefaults) error {
	o := spaces.OpenRequest{Circle: form.Circle, Wake: form.Wake, Agents: form.Agents, Chats: []spaces.ChatMapping{{Account: chat.Account, Chat: chat.Chat}}, At: time.Now()}
	asIs := (form.Circle == "" || form.Circle == r.Circle) && form.Wake == r.Wake
	for _, a := range form.Agents {
		asIs = asIs && slices.Contains(r.Agents, a)
	}
	if !asIs {
		if _, err := sm.mapping.Open(ctx, o); err != nil {
			return fmt.Errorf("give space %s its form: %w", r.Space, err)
		}
	}
	d := spaces.AgentRemoval{Space: r.Space, Reason: noLonger, At: time.Now()}
	for _, a := range r.Agents {
		if !slices.Contains(form.Agents, a) {
			d.Agents = append(d.Agents, a)
		}
	}
	if len(d.Agents) == 0 {
		return nil
	}
	sm.Log.Info("taken out of a room", "space", string(r.Space), "agents", len(d.Agents))
	return sm.border.Dismiss(ctx, d)
}

package server

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/spaces"
)

// noLonger is the reason that is stored when an agent or a chat is taken out of a room.
const noLonger = "the configuration does not name it here any more"

// openSpaces opens and closes rooms as the configuration has them, as far as that needs no
// platform.
func (sm *SpaceManager) openSpaces(ctx context.Context) error {
	sm.Opening.Lock()
	defer sm.Opening.Unlock()
	if _, err := sm.openConfigured(ctx); err != nil {
		return err
	}
	return sm.closeUnconfigured(ctx)
}

// closeUnconfigured takes agents, and chats of connected accounts, out of rooms whose entries
// do not name them any more. A room without an entry keeps its log and has no agents. Opening
// is held.
func (sm *SpaceManager) closeUnconfigured(ctx context.Context) error {
	rooms, err := sm.border.Configured(ctx)
	if err != nil {
		return err
	}
	for _, r := range rooms {
		entry, there := sm.entryOf(r.Key)
		if entry.Misconfigured || (!there && r.Key == HomeRoom) {
			continue // a mistake in the file removes no agent; the home room is no entry
		}
		d := spaces.AgentRemoval{Space: r.Space, Reason: noLonger, At: time.Now()}
		for _, a := range r.Agents {
			if !slices.Contains(entry.Agents, string(a)) {
				d.Agents = append(d.Agents, a)
			}
		}
		if d.Chats, err = sm.unnamedChats(ctx, r, entry); err != nil {
			return err
		}
		if len(d.Agents) == 0 && len(d.Chats) == 0 {
			continue
		}
		if err := sm.border.Dismiss(ctx, d); err != nil {
			return err
		}
		sm.Log.Info("taken out of a room", "space", r.Key, "agents", len(d.Agents), "chats", len(d.Chats))
		sm.mapping.Forget()
	}
	return sm.retire(ctx)
}

// retire takes agents that are not configured any more out of every room and ends what they
// left. Chats that lost all members get the agents who join such chats now. In chats without an
// entry, the wake policy of the file applies. Opening is held.
func (sm *SpaceManager) retire(ctx context.Context) error {
	c, at := sm.Config(), time.Now()
	here := make([]spaces.AgentID, len(c.Agents))
	for i, a := range c.Agents {
		here[i] = spaces.AgentID(a.ID)
	}
	away, err := sm.border.Strangers(ctx, here)
	if err != nil {
		return err
	}
	for _, d := range away {
		d.Reason, d.At = noLonger, at
		if err := sm.border.Dismiss(ctx, d); err != nil {
			return err
		}
		sm.Log.Info("taken out of a room", "space", string(d.Space), "agents", len(d.Agents))
	}
	if err := sm.border.Retire(ctx, here, at); err != nil {
		return err
	}
	for _, j := range sm.joined {
		if j.adapter == LocalName {
			continue
		}
		direct := len(sm.serverDefaults(j.adapter)) > 0 // a server's channels have what its entry says
		if _, err := sm.border.Rouse(ctx, j.account, c.SettingsFor("", "").Wake, direct); err != nil {
			return err
		}
		n, err := sm.border.Fill(ctx, j.account, sm.runningAgents(c.DefaultAgents), direct, at)
		if err != nil {
			return err
		}
		if n > 0 {
			sm.Log.Info("chats have other agents", "account", j.account, "chats", n)
		}
	}
	return nil
}

// entryOf returns the configured room of that key.
func (sm *SpaceManager) entryOf(key string) (config.SpaceEntry, bool) {
	for _, s := range slices.Concat(sm.Config().Spaces, sm.localRooms(), sm.directRooms()) {
		if s.Key == key {
			return s, true
		}
	}
	return config.SpaceEntry{}, false
}

// unnamedChats returns the chats of a room, on connected accounts, that its
// entry does not name, under their present ids or those they moved from.
func (sm *SpaceManager) unnamedChats(ctx context.Context, r spaces.ConfiguredSpace, entry config.SpaceEntry) ([]spaces.ChatMapping, error) {
	var gone []spaces.ChatMapping
	for _, c := range r.Chats {
		i := slices.IndexFunc(sm.joined, func(j connectedAccount) bool { return j.account == c.Account })
		if i < 0 || sm.joined[i].adapter == LocalName {
			continue
		}
		if !slices.Contains(entry.Chats, config.ChatRef{Adapter: sm.joined[i].adapter, Chat: c.Chat}) {
			gone = append(gone, c)
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	moves, err := sm.border.Moves(ctx, r.Space)
	if err != nil {
		return nil, fmt.Errorf("chats of %s: %w", r.Key, err)
	}
	return slices.DeleteFunc(gone, func(c spaces.ChatMapping) bool {
		i := slices.IndexFunc(sm.joined, func(j connectedAccount) bool { return j.account == c.Account })
		return slices.ContainsFunc(formerIDs(c, moves), func(id string) bool {
			return slices.Contains(entry.Chats, config.ChatRef{Adapter: sm.joined[i].adapter, Chat: id})
		})
	}), nil
}

// formerIDs lists the ids that a chat had before it moved to its present one.
func formerIDs(c spaces.ChatMapping, moves []spaces.ChatMigrated) []string {
	var ids []string
	now := c.Chat
	for _, m := range slices.Backward(moves) {
		if m.Account == c.Account && m.To == now {
			now = m.From
			ids = append(ids, now)
		}
	}
	return ids
}

package activity

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// A chatPlace is what is known about a chat before admission is decided.
type chatPlace struct {
	mapped []spaces.ChatPlacement // spaces of the chat
	named  []spaces.ChatPlacement // those of them that the configuration names
	server *spaces.RoomDefaults   // defaults of the chat's server, if that is configured
}

// configured reports whether the configuration names the chat or its server.
func (c chatPlace) configured() bool { return len(c.named) > 0 || c.server != nil }

// resolveChat looks up the spaces of the update's chat, without opening any.
func (in *Ingress) resolveChat(ctx context.Context, o *IngressOptions, u adapters.Update) (chatPlace, error) {
	mapped, err := in.mapping.Resolve(ctx, in.account.Key(), u.Chat.ID)
	if err != nil && !errors.Is(err, ErrUnmapped) {
		return chatPlace{}, err
	}
	c := chatPlace{mapped: mapped, named: o.namedAmong(mapped)}
	if defaults, ok := o.server(u.Chat); ok {
		c.server = &defaults
	}
	return c, nil
}

// admit returns the spaces that an update belongs to, none when it is refused:
// resolve the chat, decide, and then open a space for an admitted chat or answer a
// refused sender.
func (in *Ingress) admit(ctx context.Context, u adapters.Update, at time.Time) ([]spaces.ChatPlacement, error) {
	if u.Chat.ID == "" {
		return in.placeAccountUpdate(ctx, u, at)
	}
	o := in.options.Load()
	chat, err := in.resolveChat(ctx, o, u)
	if err != nil {
		return nil, err
	}
	r := access.AdmissionRequest{Update: u, Who: identity(in.account, u.From), Source: source(in.account, u), Named: chat.configured()}
	d, err := in.guard.Decide(ctx, o.policy, r, at)
	switch {
	case err != nil:
		return nil, err
	case d.Outcome == access.Admitted:
		return in.place(ctx, o, u, chat, d, at)
	case in.isBeforeRestore(u):
		return nil, nil // the sender was answered before the restore
	}
	return nil, in.guard.Answer(ctx, o.policy, r, d, at)
}

// place returns the spaces of an admitted update. A chat that is admitted for the
// first time gets its space here.
func (in *Ingress) place(ctx context.Context, o *IngressOptions, u adapters.Update, chat chatPlace, d access.AdmissionDecision, at time.Time) ([]spaces.ChatPlacement, error) {
	if _, left := u.Body.(adapters.PeopleLeft); left && len(chat.named) > 0 {
		return chat.mapped, nil // a member who leaves also leaves the room that the chat may come back to
	}
	if len(chat.named) > 0 {
		return chat.named, nil
	}
	places := chat.mapped
	if len(places) == 0 {
		room := o.Room
		if d.Approved {
			room.Circle = d.Circle
		}
		if chat.server != nil {
			room = *chat.server
		}
		if u.Chat.Guest {
			room.Circle = "" // who reads the answer is not known
		}
		p, err := in.openSpace(ctx, u.Chat, u.From, room, at)
		if err != nil {
			return nil, err
		}
		places = []spaces.ChatPlacement{p}
	}
	if chat.server != nil {
		for _, p := range places {
			if err := o.OfServer(ctx, u.Chat.Group, p.Space); err != nil {
				return nil, err
			}
		}
	}
	return places, nil
}

// namedAmong returns the placements that lie in rooms of the configuration.
func (o *IngressOptions) namedAmong(places []spaces.ChatPlacement) []spaces.ChatPlacement {
	var named []spaces.ChatPlacement
	for _, p := range places {
		if _, ok := o.Named[p.Space]; ok {
			named = append(named, p)
		}
	}
	return named
}

// openSpace gives a chat a space of its own.
func (in *Ingress) openSpace(ctx context.Context, c adapters.Chat, from adapters.Person, room spaces.RoomDefaults, at time.Time) (spaces.ChatPlacement, error) {
	direct := c.Kind == adapters.Direct
	name := c.Title
	if direct {
		name = cmp.Or(name, from.Name)
	}
	name = spaces.TruncateText(cmp.Or(name, c.ID), spaces.MaxNameBytes)
	in.logger.Info("chat let in", "chat", c.ID, "kind", string(c.Kind), "admit", string(in.options.Load().Admit))
	return in.mapping.Open(ctx, spaces.OpenRequest{
		Name: name, Circle: room.Circle, Wake: room.Wake, Direct: direct, Closed: direct, Guest: c.Guest, Agents: room.Agents,
		Chats: []spaces.ChatMapping{{Account: in.account.Key(), Chat: c.ID, Title: name, Live: true}},
		At:    at,
	})
}

// withoutChat returns what may be kept of an update that names no chat: not its text,
// since the bridge cannot tell whether an admitted person wrote it.
func withoutChat(u adapters.Update) adapters.Update {
	switch u.Body.(type) {
	case adapters.UpdateGap, adapters.UnreadableUpdate:
		return u
	case adapters.IncomingMessage, adapters.MessageEdit, adapters.MessageDeletion, adapters.ReactionChange, adapters.ReactionsCleared, adapters.PeopleJoined, adapters.PeopleLeft,
		adapters.ChatRenamed, adapters.MessagePinned, adapters.MessageUnpinned, adapters.ChatMigrated, adapters.ChatGained, adapters.ChatLost, adapters.ChoicePicked:
	}
	u.Body, u.Raw = adapters.UnreadableUpdate{Reason: "it names no chat"}, nil
	return u
}

// placeAccountUpdate places an update that is about the account and no chat. It goes
// to the account's own room; a gap also goes to every room
// of the account, because each of them lacks what was said meanwhile.
func (in *Ingress) placeAccountUpdate(ctx context.Context, u adapters.Update, at time.Time) ([]spaces.ChatPlacement, error) {
	key := in.account.Key()
	p, err := in.mapping.Own(ctx, key, at)
	if _, gap := u.Body.(adapters.UpdateGap); err != nil || !gap {
		return []spaces.ChatPlacement{p}, err
	}
	rooms, err := in.mapping.Account(ctx, key)
	if err != nil {
		return nil, err
	}
	places := []spaces.ChatPlacement{p}
	for _, p := range rooms {
		if !slices.ContainsFunc(places, func(q spaces.ChatPlacement) bool { return q.Space == p.Space }) {
			places = append(places, p)
		}
	}
	return places, nil
}

// speaker returns the agent that speaks for the account in a space.
func (in *Ingress) speaker(space spaces.SpaceID, c adapters.Chat) spaces.AgentID {
	o := in.options.Load()
	agents, ok := o.Named[space]
	if !ok {
		agents = o.Room.Agents
		if server, ok := o.server(c); ok {
			agents = server.Agents
		}
	}
	if len(agents) == 0 {
		return ""
	}
	return agents[0]
}

// server returns the form of the spaces of the chat's server, if it is named.
func (o *IngressOptions) server(c adapters.Chat) (spaces.RoomDefaults, bool) {
	if c.Group == "" {
		return spaces.RoomDefaults{}, false
	}
	room, ok := o.Servers[c.Group]
	return room, ok
}

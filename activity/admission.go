package activity

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// AdmissionMode is who may talk in chats that the configuration does not name. The
// modes never mix: what one of them let in is not let in by another.
type AdmissionMode string

// The modes of admission.
const (
	AdmitPairing   AdmissionMode = "pairing"   // whoever a person with the right has approved, and chats let in whole
	AdmitAllowlist AdmissionMode = "allowlist" // whoever the configuration lists, in their direct chats
	AdmitOpen      AdmissionMode = "open"      // everybody
	AdmitDeny      AdmissionMode = "deny"      // nobody
)

// An admissionRequest is what admission is decided on. Nothing a sender can choose,
// such as a name, is part of it.
type admissionRequest struct {
	named    bool // the configuration names the chat or its server
	approved bool // this sender was approved in this chat, or the whole chat was
	listed   bool // the configuration lists this sender
	direct   bool
	deed     bool // somebody's words or doing; else a fact that the platform itself tells
	human    bool // a person, by an id that never changes
	itself   bool // the chat speaks as itself: a channel, an anonymous administrator
	speaks   bool // the update is a message
}

// An admissionDecision is the outcome of admission.
type admissionDecision int

const (
	refuse admissionDecision = iota
	pair                     // refused, but told how to be approved
	letIn
)

// decide is the whole rule of who may talk (SECURITY S1). Programs are heard
// only if they are listed, in every mode and in named chats too, and what nobody
// in particular says is heard nowhere.
func decide(mode AdmissionMode, a admissionRequest) admissionDecision {
	person := a.human || a.itself && !a.direct
	if a.deed && !person && !a.listed {
		return refuse
	}
	if a.named {
		return letIn
	}
	switch mode {
	case AdmitOpen:
		return letIn
	case AdmitDeny:
		return refuse
	case AdmitAllowlist:
		if a.direct && a.listed {
			return letIn
		}
	case AdmitPairing:
		switch {
		case a.approved:
			return letIn
		case a.direct && a.human && a.speaks:
			return pair
		}
	}
	return refuse
}

// application collects what can be told of a sender without asking the desk.
func (o *IngressOptions) application(u adapters.Update, named bool) admissionRequest {
	from := u.From
	a := admissionRequest{
		named: named, direct: u.Chat.Kind == adapters.Direct, deed: isDeed(u),
		listed: from.ID != "" && slices.Contains(o.Allow, SenderID{Scope: from.Scope, User: from.ID}),
		human:  from.Kind == adapters.Human && from.ID != "",
		itself: from.Kind == adapters.Service && from.ID == u.Chat.ID && from.ID != "",
	}
	_, a.speaks = u.Body.(adapters.Message)
	return a
}

// isDeed reports whether an update is what its sender said or did. A platform
// that does not say who deleted or reacted tells a fact.
func isDeed(u adapters.Update) bool {
	switch u.Body.(type) {
	case adapters.Message, adapters.Edit:
		return true
	case adapters.Delete, adapters.Reaction, adapters.ReactionsCleared:
		return u.From.ID != ""
	case adapters.Joined, adapters.Left, adapters.Renamed, adapters.Pinned, adapters.Unpinned, adapters.Migrated,
		adapters.ChatGained, adapters.ChatLost, adapters.Gap, adapters.Unreadable:
		return false
	}
	return true
}

// admit returns where an update goes: none when it is refused. A chat that is
// let in for the first time gets its space here.
func (in *Ingress) admit(ctx context.Context, u adapters.Update, at time.Time) ([]spaces.Placement, error) {
	if u.Chat.ID == "" {
		return in.placeWhole(ctx, u, at)
	}
	places, err := in.mapping.Resolve(ctx, in.account.Key(), u.Chat.ID)
	if err != nil && !errors.Is(err, ErrUnmapped) {
		return nil, err
	}
	o := in.options.Load()
	named := o.namedAmong(places)
	server, ofServer := o.server(u.Chat)
	a, room := o.application(u, len(named) > 0 || ofServer), o.Room
	if !a.named && o.Admit == AdmitPairing {
		if room.Circle, a.approved, err = in.approved(ctx, u); err != nil {
			return nil, err
		}
		if !a.approved {
			if a.approved, err = in.invited(ctx, u, at); err != nil {
				return nil, err
			}
		}
	}
	v := decide(o.Admit, a)
	if v != letIn && in.isBeforeRestore(u) {
		return nil, nil // who asks has been told then
	}
	switch v {
	case refuse:
		return nil, in.explainRefusal(ctx, u, at)
	case pair:
		return nil, in.startPairing(ctx, u, at)
	case letIn:
	}
	if _, left := u.Body.(adapters.Left); left && len(named) > 0 {
		return places, nil // who leaves has also left the room that the chat may come back to
	}
	if len(named) > 0 {
		return named, nil
	}
	if len(places) == 0 {
		if ofServer {
			room = server
		}
		p, err := in.open(ctx, u.Chat, u.From, room, at)
		if err != nil {
			return nil, err
		}
		places = []spaces.Placement{p}
	}
	if ofServer {
		for _, p := range places {
			if err := o.OfServer(ctx, u.Chat.Group, p.Space); err != nil {
				return nil, err
			}
		}
	}
	return places, nil
}

// namedAmong returns the placements that lie in rooms of the configuration.
func (o *IngressOptions) namedAmong(places []spaces.Placement) []spaces.Placement {
	var named []spaces.Placement
	for _, p := range places {
		if _, ok := o.Named[p.Space]; ok {
			named = append(named, p)
		}
	}
	return named
}

// open gives a chat a space of its own.
func (in *Ingress) open(ctx context.Context, c adapters.Chat, from adapters.Person, room RoomDefaults, at time.Time) (spaces.Placement, error) {
	direct := c.Kind == adapters.Direct
	name := c.Title
	if direct {
		name = cmp.Or(name, from.Name)
	}
	name = cutText(cmp.Or(name, c.ID), maxName)
	in.logger.Info("chat let in", "chat", c.ID, "kind", string(c.Kind), "admit", string(in.options.Load().Admit))
	return in.mapping.Open(ctx, spaces.OpenRequest{
		Name: name, Circle: room.Circle, Wake: room.Wake, Direct: direct, Closed: direct, Agents: room.Agents,
		Chats: []spaces.Mapping{{Account: in.account.Key(), Chat: c.ID, Title: name, Live: true}},
		At:    at,
	})
}

// wholeAccounts returns what may be kept of an update that names no chat. Nobody
// can say whether its words were written by somebody who is admitted.
func wholeAccounts(u adapters.Update) adapters.Update {
	switch u.Body.(type) {
	case adapters.Gap, adapters.Unreadable:
		return u
	case adapters.Message, adapters.Edit, adapters.Delete, adapters.Reaction, adapters.ReactionsCleared, adapters.Joined, adapters.Left,
		adapters.Renamed, adapters.Pinned, adapters.Unpinned, adapters.Migrated, adapters.ChatGained, adapters.ChatLost:
	}
	u.Body, u.Raw = adapters.Unreadable{Reason: "it names no chat"}, nil
	return u
}

// placeWhole places an update that is about the account and no chat. It goes
// to the account's own room; a gap also goes to every room
// of the account, because each of them lacks what was said meanwhile.
func (in *Ingress) placeWhole(ctx context.Context, u adapters.Update, at time.Time) ([]spaces.Placement, error) {
	key := in.account.Key()
	p, err := in.mapping.Own(ctx, key, at)
	if _, gap := u.Body.(adapters.Gap); err != nil || !gap {
		return []spaces.Placement{p}, err
	}
	rooms, err := in.mapping.Account(ctx, key)
	if err != nil {
		return nil, err
	}
	places := []spaces.Placement{p}
	for _, p := range rooms {
		if !slices.ContainsFunc(places, func(q spaces.Placement) bool { return q.Space == p.Space }) {
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
func (o *IngressOptions) server(c adapters.Chat) (RoomDefaults, bool) {
	if c.Group == "" {
		return RoomDefaults{}, false
	}
	room, ok := o.Servers[c.Group]
	return room, ok
}

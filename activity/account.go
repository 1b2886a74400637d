package activity

import (
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// isUs reports whether p is the account itself. The account is never an entity:
// what it says is said by an agent, and a mention of it is a mention of the
// agent that speaks for it.
func isUs(a adapters.BotAccount, p adapters.Person) bool {
	return p.ID != "" && (p.ID == a.ID || p.Scope != "" && p.Scope+"-"+p.ID == a.ID) // an account whose users have ids of their team is called by both
}

// isEcho reports whether u is the platform telling us what we did ourselves.
// The record has it already, from the action; that it may come before the
// receipt is why it is known by its author and not by its id.
func isEcho(a adapters.BotAccount, u adapters.Update) bool {
	if !isUs(a, u.From) {
		return false
	}
	switch u.Body.(type) {
	case adapters.IncomingMessage, adapters.MessageEdit, adapters.MessageDeletion, adapters.ReactionChange, adapters.ReactionsCleared:
		return true
	case adapters.ChoicePicked, adapters.PeopleJoined, adapters.PeopleLeft, adapters.ChatRenamed, adapters.MessagePinned, adapters.MessageUnpinned, adapters.ChatMigrated,
		adapters.ChatGained, adapters.ChatLost, adapters.UpdateGap, adapters.UnreadableUpdate:
		return false
	}
	return false
}

// identity returns who p is to the record; the account itself, and no one, are
// the zero identity.
func identity(a adapters.BotAccount, p adapters.Person) spaces.PlatformIdentity {
	if p.ID == "" || isUs(a, p) {
		return spaces.PlatformIdentity{}
	}
	return spaces.PlatformIdentity{
		Platform: a.Platform,
		Scope:    p.Scope,
		User:     p.ID,
		Kind:     entityKind(p.Kind),
		Name:     spaces.TruncateText(p.Name, spaces.MaxNameBytes),
		Handle:   spaces.TruncateText(p.Handle, spaces.MaxNameBytes),
		Portrait: portrait(p.Portrait),
		Zone:     spaces.TruncateText(p.Zone, spaces.MaxNameBytes),
	}
}

// portrait returns the address of a picture that other platforms may be told of.
func portrait(address string) string {
	if len(address) > spaces.MaxNameBytes || !strings.HasPrefix(address, "https://") {
		return ""
	}
	return address
}

// entityKind maps what the platform says of a sender. What it does not say is a
// service: a program that claims nothing gets no person's rights.
func entityKind(k adapters.PersonKind) spaces.EntityKind {
	switch k {
	case adapters.Human:
		return spaces.Human
	case adapters.Bot:
		return spaces.Bot
	case adapters.Service:
		return spaces.Service
	}
	return spaces.Service
}

// others returns the identities of all people but the account itself, each once.
func others(a adapters.BotAccount, people []adapters.Person) []spaces.PlatformIdentity {
	var out []spaces.PlatformIdentity
	seen := map[adapters.Person]bool{}
	for _, p := range people {
		key := adapters.Person{ID: p.ID, Scope: p.Scope}
		if who := identity(a, p); who.User != "" && !seen[key] {
			seen[key] = true
			out = append(out, who)
		}
	}
	return out
}

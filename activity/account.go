package activity

import (
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// isUs reports whether p is the account itself. The account is never an entity:
// what it says is said by an agent, and a mention of it is a mention of the
// agent that speaks for it.
func isUs(a adapters.Account, p adapters.Person) bool { return p.ID == a.ID && p.ID != "" }

// isEcho reports whether u is the platform telling us what we did ourselves.
// The record has it already, from the action; that it may come before the
// receipt is why it is known by its author and not by its id.
func isEcho(a adapters.Account, u adapters.Update) bool {
	if !isUs(a, u.From) {
		return false
	}
	switch u.Body.(type) {
	case adapters.Message, adapters.Edit, adapters.Delete, adapters.Reaction, adapters.ReactionsCleared:
		return true
	case adapters.Joined, adapters.Left, adapters.Renamed, adapters.Pinned, adapters.Unpinned, adapters.Migrated,
		adapters.ChatGained, adapters.ChatLost, adapters.Gap, adapters.Unreadable:
		return false
	}
	return false
}

// identity returns who p is to the record; the account itself, and no one, are
// the zero identity.
func identity(a adapters.Account, p adapters.Person) spaces.Identity {
	if p.ID == "" || isUs(a, p) {
		return spaces.Identity{}
	}
	return spaces.Identity{
		Platform: a.Platform,
		Scope:    p.Scope,
		User:     p.ID,
		Kind:     entityKind(p.Kind),
		Name:     spaces.TruncateText(p.Name, spaces.MaxNameBytes),
		Handle:   spaces.TruncateText(p.Handle, spaces.MaxNameBytes),
		Portrait: portrait(p.Portrait),
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
func others(a adapters.Account, people []adapters.Person) []spaces.Identity {
	var out []spaces.Identity
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

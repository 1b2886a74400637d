// Package access decides who may talk through an account.
//
// A [Guard] applies the [Policy] of the configuration and the approvals stored in a
// [PairingState] to each update, and tells senders who are not admitted how to be
// approved. An [AccessManager] approves and revokes on behalf of an operator. A
// [SenderRateLimiter] limits how fast one sender wakes agents.
package access

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// AdmissionMode is who may talk in chats that the configuration does not name. The
// modes are independent: an approval counts in pairing mode only, the list of
// allowed senders in allowlist mode only.
type AdmissionMode string

// The modes of admission.
const (
	AdmitPairing   AdmissionMode = "pairing"   // approved senders, and approved chats
	AdmitAllowlist AdmissionMode = "allowlist" // senders that the configuration lists, in their direct chats and where they ask a guest
	AdmitOpen      AdmissionMode = "open"      // all senders
	AdmitDeny      AdmissionMode = "deny"      // no sender
)

// An AdmissionPolicy is what the configuration says about admission to an account.
type AdmissionPolicy struct {
	Mode  AdmissionMode
	Entry string     // name of the account's entry in the configuration
	Allow []SenderID // people for AdmitAllowlist, programs for every mode
	// Role returns the role of a sender. Default: owners cannot approve a chat by
	// adding the account to it.
	Role   func(ctx context.Context, who spaces.PlatformIdentity) (spaces.AuthorityLevel, error)
	Random io.Reader // source of pairing codes
	// Remember is for how long what a person writes who waits for an approval is kept, to be
	// answered after it. Default: nothing is kept.
	Remember time.Duration
}

// AdmitsInNamedChat reports whether the sender of an update is admitted in a chat
// that the configuration names.
func (p AdmissionPolicy) AdmitsInNamedChat(u adapters.Update) bool {
	return decide(p.Mode, p.facts(u, true)) != Refused
}

// An AdmissionDecision is the outcome of admission.
type AdmissionDecision struct {
	Outcome  AdmissionOutcome
	Approved bool            // the sender or the chat has a stored approval
	Circle   spaces.CircleID // of the approval
}

// AdmissionOutcome says what happens with an update.
type AdmissionOutcome int

// The outcomes of admission.
const (
	Refused        AdmissionOutcome = iota
	PairingOffered                  // refused, and the sender is told how to be approved
	Admitted
)

// admissionFacts is what admission is decided on. Nothing that a sender can choose,
// such as a name, is part of it.
type admissionFacts struct {
	named    bool // the configuration names the chat or its server
	approved bool // this sender was approved in this chat, or the whole chat was
	listed   bool // the configuration lists this sender
	direct   bool // the chat is direct
	guest    bool // the account is asked as a guest, in a chat that it is no member of
	authored bool // a sender said or did it; else the platform states a fact
	human    bool // the sender is a person, by an id that never changes
	itself   bool // the chat speaks as itself, or vouches for who speaks: a channel, an anonymous administrator, a program that posts to a hook
	message  bool // the update is a message
}

// decide is the whole admission rule. Programs are admitted only if they are
// listed, in every mode and in named chats too; what has no sender is refused
// everywhere.
func decide(mode AdmissionMode, a admissionFacts) AdmissionOutcome {
	person := a.human || a.itself && !a.direct
	if a.authored && !person && !a.listed {
		return Refused
	}
	if a.named {
		return Admitted
	}
	switch mode {
	case AdmitOpen:
		return Admitted
	case AdmitDeny:
		return Refused
	case AdmitAllowlist:
		if (a.direct || a.guest) && a.listed {
			return Admitted
		}
	case AdmitPairing:
		switch {
		case a.approved:
			return Admitted
		case a.direct && a.human && a.message:
			return PairingOffered
		}
	}
	return Refused
}

// facts returns what the update and the policy tell without stored approvals.
func (p AdmissionPolicy) facts(u adapters.Update, named bool) admissionFacts {
	from := u.From
	a := admissionFacts{
		named: named, direct: u.Chat.Kind == adapters.Direct, guest: u.Chat.Guest, authored: isAuthored(u),
		listed: from.ID != "" && slices.Contains(p.Allow, SenderID{Scope: from.Scope, User: from.ID}),
		human:  from.Kind == adapters.Human && from.ID != "",
		itself: from.Kind == adapters.Service && from.ID != "" && (from.ID == u.Chat.ID || from.Scope == u.Chat.ID),
	}
	_, a.message = u.Body.(adapters.IncomingMessage)
	return a
}

// isAuthored reports whether an update is what its sender said or did. A deletion or
// a reaction without a sender is a fact that the platform states.
func isAuthored(u adapters.Update) bool {
	switch u.Body.(type) {
	case adapters.IncomingMessage, adapters.MessageEdit, adapters.ChoicePicked:
		return true
	case adapters.MessageDeletion, adapters.ReactionChange, adapters.ReactionsCleared:
		return u.From.ID != ""
	case adapters.PeopleJoined, adapters.PeopleLeft, adapters.ChatRenamed, adapters.MessagePinned, adapters.MessageUnpinned, adapters.ChatMigrated,
		adapters.ChatGained, adapters.ChatLost, adapters.UpdateGap, adapters.UnreadableUpdate:
		return false
	}
	return true
}

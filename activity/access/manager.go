package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// ErrNotAdmitted is returned when there is nothing to take back.
var ErrNotAdmitted = errors.New("nobody is let in under this name")

// An ApprovalManager lets people and chats in, and shuts them out. It is what `trestle
// pair` calls, in any process that has the record open; of what chats say only an owner's
// decision about one request reaches it.
type ApprovalManager struct {
	Pairings PairingStore
	Spaces   SpaceOpener
	Notices  NoticePoster
	Room     spaces.RoomDefaults // of the opened space, but for its circle
}

// PairingStore stores the one [PairingState] of the database.
type PairingStore interface {
	// Load returns the state, an empty one at first.
	Load(ctx context.Context) (PairingState, error)
	// Amend applies change to the state and stores it, in one transaction. Amendments
	// are serialized over all processes. change is called at most once for each
	// attempt at the transaction and touches only the state and its own results.
	Amend(ctx context.Context, change func(*PairingState)) error
}

// SpaceOpener opens the space of an approved chat.
type SpaceOpener interface {
	// Open creates a space with its chats and uplinks where they are missing.
	Open(ctx context.Context, o spaces.OpenRequest) (spaces.ChatPlacement, error)
}

// An ApprovalGrant is what an approved person gets.
type ApprovalGrant struct {
	Circle spaces.CircleID // of the chat's space; empty: one of its own
	// Role is a member's or more. Default: a member's.
	Role spaces.AuthorityLevel
	By   string // the owner who decided in a chat; empty: the operator
}

// Approve lets in the person in whose code this is and opens the space of their
// chat. It fails with [ErrNoPairing] or [ErrDeskLocked]. A crash in the middle
// costs nothing: the admission is durable first, and the chat is opened when the
// person next speaks.
func (p ApprovalManager) Approve(ctx context.Context, code string, g ApprovalGrant, at time.Time) (ChatApproval, error) {
	var a ChatApproval
	var refusal error
	wrote := false
	err := p.Pairings.Amend(ctx, func(d *PairingState) {
		a, refusal = d.Approve(code, g, at)
		wrote = refusal == nil && d.keepsOf(a.PairingRequest)
	})
	if err != nil {
		return ChatApproval{}, fmt.Errorf("approve pairing: %w", err)
	}
	if refusal != nil {
		return ChatApproval{}, refusal
	}
	return a, errors.Join(p.welcome(ctx, a, wrote), p.close(ctx, a.ID, "Let in by `trestle pair`.", at))
}

// welcome opens the space of a person who was let in, and tells them.
func (p ApprovalManager) welcome(ctx context.Context, a ChatApproval, wrote bool) error {
	if err := p.open(ctx, a); err != nil {
		return err
	}
	now := "Write to me whenever you like."
	if wrote {
		now = "I read what you wrote now."
	}
	return p.tell(ctx, a, "You are let in. "+now+" `"+typedHelp(a.Account)+"` says what I can do for you.")
}

// AdmitChat admits a whole chat with everyone in it. Its space is opened, under
// its title, with its next message. A chat that is admitted already stays as it is.
func (p ApprovalManager) AdmitChat(ctx context.Context, account, chat string, g ApprovalGrant, at time.Time) (ChatApproval, error) {
	a := ChatApproval{PairingRequest: PairingRequest{Account: account, Chat: chat}, Circle: g.Circle, At: at}
	news := false
	if err := p.Pairings.Amend(ctx, func(d *PairingState) { news = d.AdmitChat(a) }); err != nil {
		return ChatApproval{}, fmt.Errorf("admit chat: %w", err)
	}
	if !news {
		return a, nil
	}
	return a, p.tell(ctx, a, "I am let in here. Mention me when you want me.")
}

// open makes sure of the space of a person's chat.
func (p ApprovalManager) open(ctx context.Context, a ChatApproval) error {
	name := cmp.Or(a.Name, a.Chat)
	_, err := p.Spaces.Open(ctx, spaces.OpenRequest{
		Name: name, Circle: a.Circle, Wake: p.Room.Wake, Direct: true, Closed: true, Agents: p.Room.Agents,
		Chats: []spaces.ChatMapping{{Account: a.Account, Chat: a.Chat, Title: name, Live: true}},
		At:    a.At,
	})
	return err
}

// Revoke takes access from those admitted under a name as [Approval.Name] and the
// lists show it: a person's or a chat's id on an account. The codes of those who wait
// under it are void. Their space and what was said in it stay. It fails with
// [ErrNotAdmitted].
func (p ApprovalManager) Revoke(ctx context.Context, account, id string) ([]ChatApproval, error) {
	var gone []ChatApproval
	err := p.Pairings.Amend(ctx, func(d *PairingState) {
		gone = d.Revoke(func(a ChatApproval) bool { return a.Account == account && (a.Chat == id || a.User == id) })
	})
	if err != nil {
		return nil, fmt.Errorf("revoke admission: %w", err)
	}
	if len(gone) == 0 {
		return nil, ErrNotAdmitted
	}
	for _, a := range gone {
		if a.At.IsZero() { // they waited
			if err := p.close(ctx, a.ID, "Refused by `trestle pair`.", time.Now()); err != nil {
				return gone, err
			}
		}
	}
	return gone, nil
}

// Lists returns who waits to be let in and who is.
func (p ApprovalManager) Lists(ctx context.Context, at time.Time) (waiting []PairingRequest, admitted []ChatApproval, err error) {
	d, err := p.Pairings.Load(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list pairings: %w", err)
	}
	return d.Waiting(at), d.Admitted, nil
}

// typedHelp returns the help command as people type it on an account's platform.
func typedHelp(account string) string {
	platform, _, _ := strings.Cut(account, ":")
	return adapters.TypedCommand(platform, "help")
}

// tell says in a chat that it is let in.
func (p ApprovalManager) tell(ctx context.Context, a ChatApproval, text string) error {
	err := p.Notices.Post(ctx, spaces.ProcessNotice{
		Key:     strings.Join([]string{"admitted", a.Account, a.Chat, a.At.UTC().Format(time.RFC3339Nano)}, "|"),
		Account: a.Account, Chat: a.Chat, Text: text, At: a.At, Expires: a.At.Add(noticeTTL),
	})
	if err != nil {
		return fmt.Errorf("post notice: %w", err)
	}
	return nil
}

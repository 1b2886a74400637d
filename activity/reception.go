package activity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxKnown bounds the approved people an ingress remembers.
const maxKnown = 4096

// noticeTTL is how long the help text may wait to be sent.
const noticeTTL = 10 * time.Minute

// knownFor is how long an approval is believed without being looked up: as long
// may somebody still be heard who was shut out by another process.
const knownFor = 2 * time.Second

// A SenderID names somebody within one platform: nothing that can be chosen.
type SenderID struct {
	Scope string // the Slack team; empty elsewhere
	User  string
}

// A senderKey is a sender's in one chat.
type senderKey struct {
	chat string
	who  SenderID
}

// A cachedApproval approval is good until its time.
type cachedApproval struct {
	circle spaces.CircleID
	until  time.Time
}

// approved reports whether the sender was approved in this chat, or the chat as a
// whole was, and into which circle. Only a yes is remembered, and not for long:
// approvals come and go in other processes.
func (in *Ingress) approved(ctx context.Context, u adapters.Update) (spaces.CircleID, bool, error) {
	k, now := senderKey{u.Chat.ID, SenderID{u.From.Scope, u.From.ID}}, time.Now()
	in.mu.Lock()
	r, known := in.known[k]
	in.mu.Unlock()
	if known && now.Before(r.until) {
		return r.circle, true, nil
	}
	desk, err := in.desk.Load(ctx)
	if err != nil {
		return "", false, fmt.Errorf("look up admission: %w", err)
	}
	a, ok := desk.Admission(in.account.Key(), u.Chat.ID, u.From.Scope, u.From.ID)
	if !ok {
		return "", false, nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.known) >= maxKnown {
		clear(in.known)
	}
	in.known[k] = cachedApproval{a.Circle, now.Add(knownFor)}
	return a.Circle, true, nil
}

// Forget drops what is remembered of approvals, so that what was revoked counts
// at once.
func (in *Ingress) Forget() {
	in.mu.Lock()
	defer in.mu.Unlock()
	clear(in.known)
}

// moveApprovals carries what was approved in a chat over to its new id.
func (in *Ingress) moveApprovals(ctx context.Context, from, to string) error {
	desk, err := in.desk.Load(ctx)
	if err != nil {
		return fmt.Errorf("look up admission: %w", err)
	}
	if _, ok := desk.Admission(in.account.Key(), from, "", ""); !ok {
		return nil
	}
	if err := in.desk.Amend(ctx, func(d *PairingState) { d.Move(in.account.Key(), from, to) }); err != nil {
		return fmt.Errorf("move approvals of chat %s: %w", from, err)
	}
	return nil
}

// startPairing gives a stranger a code to be approved by. The code is shown once; asking
// with /start shows it again. Nothing the stranger wrote is echoed or kept.
func (in *Ingress) startPairing(ctx context.Context, u adapters.Update, at time.Time) error {
	code, err := newCode(in.options.Load().Random)
	if err != nil {
		return fmt.Errorf("draw pairing code: %w", err)
	}
	asked := PairingRequest{
		Code: code, Account: in.account.Key(), Chat: u.Chat.ID,
		User: u.From.ID, Scope: u.From.Scope, Name: cutText(u.From.Name, maxName),
	}
	if asked.User == "" {
		return nil
	}
	var pending PairingRequest
	var refusal error
	err = in.desk.Amend(ctx, func(d *PairingState) { pending, refusal = d.Begin(asked, at) })
	switch {
	case err != nil:
		return fmt.Errorf("begin pairing: %w", err)
	case errors.Is(refusal, ErrTooManyPending):
		in.logger.Warn("pairing refused: too many pending", "chat", u.Chat.ID)
		return nil
	case refusal != nil:
		return refusal
	}
	key := "pairing|" + pending.Code
	if isCommand(u, commandStart) {
		key = source(in.account, u)
	}
	return in.post(ctx, Notice{
		Key: key, Chat: u.Chat.ID, Thread: spaces.ThreadID(u.Thread.ID), Text: codeText(pending.Code), At: at, Expires: pending.Expires,
	})
}

// codeText is all a stranger is told.
func codeText(code string) string {
	return "Your code is **" + shownCode(code) + "**.\n\n" +
		"To talk with me, give it to the person who runs this bot. They let you in with `trestle pair " + shownCode(code) + "`. " +
		"It is good for 10 minutes."
}

func (in *Ingress) post(ctx context.Context, n Notice) error {
	n.Account = in.account.Key()
	if err := in.notices.Post(ctx, n); err != nil {
		return fmt.Errorf("post notice: %w", err)
	}
	return nil
}

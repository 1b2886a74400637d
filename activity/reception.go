package activity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxKnown bounds the approved people an ingress remembers.
const maxKnown = 4096

// noticeTTL is how long the help text may wait to be sent.
const noticeTTL = 10 * time.Minute

type personKey struct{ chat, scope, user string }

// approved reports whether the sender was approved in this chat, and into which
// circle. Only a yes is remembered: approval may come from another process.
func (in *Ingress) approved(ctx context.Context, u adapters.Update) (spaces.CircleID, bool, error) {
	k := personKey{u.Chat.ID, u.From.Scope, u.From.ID}
	in.mu.Lock()
	circle, known := in.known[k]
	in.mu.Unlock()
	if known {
		return circle, true, nil
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
	in.known[k] = a.Circle
	return a.Circle, true, nil
}

// begin gives a stranger a code to be approved by. The code is shown once; asking
// with /start shows it again. Nothing the stranger wrote is echoed or kept.
func (in *Ingress) begin(ctx context.Context, u adapters.Update, at time.Time) error {
	code, err := newCode(in.options.Load().Random)
	if err != nil {
		return fmt.Errorf("draw pairing code: %w", err)
	}
	asked := Pairing{
		Code: code, Account: in.account.Key(), Chat: u.Chat.ID,
		User: u.From.ID, Scope: u.From.Scope, Name: cutText(u.From.Name, maxName),
	}
	if asked.User == "" {
		return nil
	}
	var pending Pairing
	var refusal error
	err = in.desk.Amend(ctx, func(d *Desk) { pending, refusal = d.Begin(asked, at) })
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
	if isCommand(u, "start") {
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

// answer replies to the commands that need no mind.
func (in *Ingress) answer(ctx context.Context, u adapters.Update, at time.Time) error {
	help := in.options.Load().Help
	if help == "" || !isCommand(u, "start", "help") {
		return nil
	}
	m, _ := u.Body.(adapters.Message)
	if u.Chat.Kind != adapters.Direct && !m.ToUs {
		return nil // another bot's command
	}
	return in.post(ctx, Notice{
		Key: source(in.account, u), Chat: u.Chat.ID, Thread: spaces.ThreadID(u.Thread.ID),
		Text: help, At: at, Expires: at.Add(noticeTTL),
	})
}

// isCommand reports whether u is a message that begins with one of the commands.
func isCommand(u adapters.Update, names ...string) bool {
	m, ok := u.Body.(adapters.Message)
	return ok && m.Command != nil && slices.Contains(names, m.Command.Name)
}

func (in *Ingress) post(ctx context.Context, n Notice) error {
	n.Account = in.account.Key()
	if err := in.notices.Post(ctx, n); err != nil {
		return fmt.Errorf("post notice: %w", err)
	}
	return nil
}

// An Approver lets people in by their code. It is what `trestle pair` calls, in
// any process that has the record open.
type Approver struct {
	Pairings Pairings
	Mapping  *SpaceMapping
	Notices  Notices
	Room     Room // form of the space, but for its circle
}

// Approve lets in the person in whose code this is and opens the space of their
// chat in the given circle; an empty circle is one of its own. It fails with
// [ErrNoPairing] or [ErrDeskLocked]. A crash in the middle costs nothing: the
// admission is durable first, and the chat is opened when the person next speaks.
func (p Approver) Approve(ctx context.Context, code string, circle spaces.CircleID, at time.Time) (Admission, error) {
	var a Admission
	var refusal error
	if err := p.Pairings.Amend(ctx, func(d *Desk) { a, refusal = d.Approve(code, circle, at) }); err != nil {
		return Admission{}, fmt.Errorf("approve pairing: %w", err)
	}
	if refusal != nil {
		return Admission{}, refusal
	}
	name := a.Name
	if name == "" {
		name = a.Chat
	}
	_, err := p.Mapping.Open(ctx, spaces.Opening{
		Name: name, Circle: circle, Wake: p.Room.Wake, Direct: true, Closed: true, Agents: p.Room.Agents,
		Chats: []spaces.Mapping{{Account: a.Account, Chat: a.Chat, Title: name, Live: true}},
		At:    at,
	})
	if err != nil {
		return a, err
	}
	return a, p.welcome(ctx, a)
}

// welcome tells the person who was let in.
func (p Approver) welcome(ctx context.Context, a Admission) error {
	err := p.Notices.Post(ctx, Notice{
		Key:     "admitted|" + a.Account + "|" + a.Chat + "|" + a.At.UTC().Format(time.RFC3339Nano),
		Account: a.Account, Chat: a.Chat, Text: "You are let in. Write to me whenever you like.",
		At: a.At, Expires: a.At.Add(noticeTTL),
	})
	if err != nil {
		return fmt.Errorf("post notice: %w", err)
	}
	return nil
}

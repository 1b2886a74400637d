package activity

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// explainRefusal tells a group that is not let in, once for ever, how it could be.
// After that the account is silent there, and nothing of the group is kept.
func (in *Ingress) explainRefusal(ctx context.Context, u adapters.Update, at time.Time) error {
	o := in.options.Load()
	if u.Chat.Kind == adapters.Direct || o.Admit != AdmitPairing || !calledIn(u) {
		return nil
	}
	return in.post(ctx, Notice{
		Key: "unadmitted|" + in.account.Key() + "|" + u.Chat.ID, Chat: u.Chat.ID, Thread: spaces.ThreadID(u.Thread.ID),
		Text: "I am not let in here, so I neither keep nor answer what is said. Whoever runs me can let this chat in with `trestle pair " + o.Name + ":" + u.Chat.ID + "`.",
		At:   at, Expires: at.Add(noticeTTL),
	})
}

// calledIn reports whether somebody wants the account in a chat: it was added, or
// a person spoke to it.
func calledIn(u adapters.Update) bool {
	switch b := u.Body.(type) {
	case adapters.ChatGained:
		return true
	case adapters.Message:
		return b.ToUs && u.From.Kind == adapters.Human && u.From.ID != ""
	case adapters.Edit, adapters.Delete, adapters.Reaction, adapters.ReactionsCleared, adapters.Joined, adapters.Left, adapters.Renamed, adapters.Pinned,
		adapters.Unpinned, adapters.Migrated, adapters.ChatLost, adapters.Gap, adapters.Unreadable:
	}
	return false
}

// invited reports whether an owner adds the account to a chat with their own
// hands, and lets the chat in then: their word is that of whoever runs it.
func (in *Ingress) invited(ctx context.Context, u adapters.Update, at time.Time) (bool, error) {
	o := in.options.Load()
	_, added := u.Body.(adapters.ChatGained)
	if !added || u.Chat.Kind == adapters.Direct || o.Attendant == nil || u.From.Kind != adapters.Human || u.From.ID == "" {
		return false, nil
	}
	role, err := o.Attendant.Roles.Role(ctx, identity(in.account, u.From))
	if err != nil {
		return false, fmt.Errorf("role of who added us: %w", err)
	}
	if role < spaces.OfOwner {
		return false, nil
	}
	a := Approval{PairingRequest: PairingRequest{Account: in.account.Key(), Chat: u.Chat.ID, Name: cutText(u.Chat.Title, maxName)}, At: at}
	if err := in.desk.Amend(ctx, func(d *PairingState) { d.AdmitChat(a) }); err != nil {
		return false, fmt.Errorf("admit chat %s: %w", u.Chat.ID, err)
	}
	in.logger.Info("an owner let a chat in", "chat", u.Chat.ID)
	return true, nil
}

package activity

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// runCommand does what a person asks of the program itself, and answers in the chat.
// It happens at the border, so that it waits behind nothing that an agent does
// (DELIVERY 2.2-7), and once, however often the platform delivers it.
func (in *Ingress) runCommand(ctx context.Context, u adapters.Update, places []spaces.Placement, at time.Time) error {
	o := in.options.Load()
	m, _ := u.Body.(adapters.Message)
	if o.Attendant == nil || m.Command == nil || !givesOrders(u) {
		return nil
	}
	everyBots := m.Command.Name == commandStart || m.Command.Name == commandHelp
	if everyBots && u.Chat.Kind != adapters.Direct && !m.ToUs {
		return nil // another bot's command
	}
	key := source(in.account, u)
	done, err := in.notices.Posted(ctx, key)
	if err != nil || done {
		return err
	}
	answers := in.paces.command(SenderID{u.From.Scope, u.From.ID}, at)
	if !answers && m.Command.Name != commandStop {
		return nil
	}
	var texts []string
	for _, p := range places {
		q := CommandRequest{
			Command: m.Command.Name, Args: m.Command.Args, Who: identity(in.account, u.From), Space: p.Space,
			Direct: u.Chat.Kind == adapters.Direct, Operators: slices.Contains(o.Operators, u.Chat.ID), At: at,
		}
		if m.ReplyTo != "" {
			q.About = spaces.Ref{Account: in.account.Key(), Chat: u.Chat.ID, Message: m.ReplyTo}
		}
		text, err := o.Attendant.Attend(ctx, q)
		if err != nil {
			in.logger.Error("command not done", "command", q.Command, "space", p.Space, "err", err)
			text = "I could not do that just now. Please try again in a moment."
		}
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if !answers || len(texts) == 0 {
		return nil
	}
	return in.post(ctx, Notice{
		Key: key, Chat: u.Chat.ID, Thread: spaces.ThreadID(u.Thread.ID), Text: strings.Join(texts, "\n\n"), At: at, Expires: at.Add(noticeTTL),
	})
}

// givesOrders reports whether a person wrote u, be it one who speaks as the group that
// they administer. A program gives no orders (SECURITY S19), and may be what posts as a
// channel.
func givesOrders(u adapters.Update) bool {
	itself := u.From.Kind == adapters.Service && u.From.ID == u.Chat.ID && u.Chat.Kind == adapters.Group
	return u.From.ID != "" && (u.From.Kind == adapters.Human || itself)
}

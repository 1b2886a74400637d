package commands

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// RunInSpaces runs a command in each of the spaces that its chat is mapped to, and
// returns what to answer, each text once; empty for a command that is not ours.
func (h *CommandHandler) RunInSpaces(ctx context.Context, q CommandRequest, places []spaces.ChatPlacement, lg *slog.Logger) string {
	if q.Command == CommandApprove || q.Command == CommandDeny || q.Command == CommandChoose { // a decision concerns one space, and counts once
		text, _ := h.decideGuarded(ctx, q, places, lg)
		return text
	}
	if q.Command == CommandLetIn || q.Command == CommandRefuse {
		text, _ := decidePairing(ctx, h, q, lg)
		return text
	}
	if q.Command == CommandLink { // it concerns the person, not the room
		places = places[:min(1, len(places))]
	}
	var texts []string
	for _, p := range places {
		q.Space = p.Space
		text, err := h.Run(ctx, q)
		if err != nil {
			lg.Error("command not done", "command", q.Command, "space", p.Space, "err", err)
			text = "I could not do that just now. Please try again in a moment."
		}
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// ForThisBot reports whether a command is to be obeyed by this account: a person wrote
// it, and where several bots may read /start and /help, it addresses this one. A
// program gives no commands, and may be what posts as a channel; an administrator
// who speaks as their group is a person.
func ForThisBot(u adapters.Update, m adapters.IncomingMessage) bool {
	asGroup := u.From.Kind == adapters.Service && u.From.ID == u.Chat.ID && u.Chat.Kind == adapters.Group
	person := u.From.ID != "" && (u.From.Kind == adapters.Human || asGroup)
	ofAllBots := m.Command.Name == CommandStart || m.Command.Name == CommandHelp
	return person && (!ofAllBots || u.Chat.Kind == adapters.Direct || m.ToUs)
}

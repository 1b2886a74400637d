package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// An AgentMode is what wakes an agent in a room.
type AgentMode struct {
	Wake  spaces.WakePolicy // the agent's own, or the room's
	Every bool              // so that every message of a person does there
}

// mode tells what wakes the agents of the room. It is set in the configuration alone.
func mode(ctx context.Context, a *CommandHandler, q CommandRequest) (string, error) {
	now, err := a.Rooms.Now(ctx, q.Space, q.At)
	if err != nil {
		return "", fmt.Errorf("agents of %s: %w", q.Space, err)
	}
	if len(now.Agents) == 0 || a.Modes == nil {
		return "No agent is in this room.", nil
	}
	var b strings.Builder
	for _, n := range now.Agents {
		m, err := a.Modes(ctx, n.Agent, q.Space)
		if err != nil {
			return "", fmt.Errorf("mode of %s: %w", n.Agent, err)
		}
		muted := ""
		if n.MutedUntil.After(q.At) {
			muted = ", once it is no longer muted,"
		}
		fmt.Fprintf(&b, "- **%s** looks%s %s (`wake: %s`).\n", a.name(n.Agent), muted, lookedAt(m), m.Wake)
	}
	b.WriteString("\nWhat it does not look at, it reads the next time. ")
	if q.Args != "" {
		b.WriteString("This cannot be changed from the chat: the operator sets `wake` in the configuration.")
	} else {
		b.WriteString("The operator sets `wake` in the configuration.")
	}
	return b.String(), nil
}

// lookedAt says at which messages an agent looks when they come.
func lookedAt(m AgentMode) string {
	switch {
	case m.Every:
		return "at every message when it comes"
	case m.Wake == spaces.WakeNone:
		return "when somebody mentions it or answers one of its messages, and at nothing else"
	}
	return "when somebody mentions it, answers one of its messages, or goes on in a thread in which it spoke last"
}

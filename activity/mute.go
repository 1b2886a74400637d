package activity

import (
	"context"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// onlyDeciders answers whoever may not decide for a room of several people.
const onlyDeciders = "In a room of several people only an admin or the owner may do that."

// decides reports whether somebody may decide for all who are in the room.
func (a *CommandHandler) decides(ctx context.Context, q CommandRequest) (bool, error) {
	if q.Direct {
		return true, nil
	}
	role, err := a.Roles.Role(ctx, q.Who)
	if err != nil {
		return false, fmt.Errorf("role of the asker: %w", err)
	}
	return role >= spaces.OfAdmin, nil
}

// named returns the agent of the room that is called so; empty when there is none.
func (a *CommandHandler) named(ctx context.Context, q CommandRequest) (spaces.AgentID, error) {
	wanted := strings.TrimPrefix(q.Args, "@")
	if wanted == "" {
		return "", nil
	}
	now, err := a.Insight.Now(ctx, q.Space, q.At)
	if err != nil {
		return "", fmt.Errorf("agents of %s: %w", q.Space, err)
	}
	for _, n := range now.Agents {
		if strings.EqualFold(wanted, string(n.Agent)) || strings.EqualFold(wanted, a.name(n.Agent)) {
			return n.Agent, nil
		}
	}
	return "", nil
}

// mute has agents follow the room in silence, all of them or the one that is named,
// until it is lifted: nothing wakes them there, and they do nothing there. What they
// have under way ends.
func (a *CommandHandler) mute(ctx context.Context, q CommandRequest) (string, error) {
	may, err := a.decides(ctx, q)
	if err != nil || !may {
		return onlyDeciders, err
	}
	agent, err := a.named(ctx, q)
	if err != nil {
		return "", err
	}
	if q.Args != "" && agent == "" {
		return "No agent of that name is in this room.", nil
	}
	m := spaces.MuteRequest{Space: q.Space, Agent: agent, Lifted: q.Command == commandUnmute}
	changed, err := a.Reins.Mute(ctx, m)
	if err != nil {
		return "", err
	}
	names := make([]string, len(changed))
	for i, id := range changed {
		names[i] = a.name(id)
	}
	switch {
	case m.Lifted && len(changed) == 0:
		return "Nobody is muted here.", nil
	case m.Lifted:
		return joined(names) + " may speak here again.", nil
	}
	if _, err := a.Reins.Halt(ctx, spaces.StopRequest{Space: q.Space, Agent: agent, Unsent: true, At: q.At}); err != nil {
		return "", err
	}
	if len(changed) == 0 {
		return "Muted already.", nil
	}
	return fmt.Sprintf("%s in silence until somebody writes `%s`. What is said is remembered.",
		listed(names, "follows this room", "follow this room"), called(q.Who.Platform, commandUnmute)), nil
}

package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// compact has the agents of the room, or the one that is named, shorten what they have in
// mind, and tells what that came to. In a room of several people it takes a person who may
// decide for them.
func compact(ctx context.Context, a *CommandHandler, q CommandRequest) (string, error) {
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
	now, err := a.Rooms.Now(ctx, q.Space, q.At)
	if err != nil {
		return "", fmt.Errorf("agents of %s: %w", q.Space, err)
	}
	var lines []string
	for _, n := range now.Agents {
		if agent != "" && n.Agent != agent {
			continue
		}
		done, err := a.Runs.Compact(ctx, n.Agent, q.Space)
		if err != nil && !errors.Is(err, ErrBusy) {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("- **%s** %s", a.name(n.Agent), compacted(done, err != nil)))
	}
	if len(lines) == 0 {
		return "No agent is in this room.", nil
	}
	return strings.Join(lines, "\n"), nil
}

// compacted says what a compaction came to.
func compacted(done spaces.ContextCompacted, busy bool) string {
	switch {
	case busy:
		return "is at work in another process. Try again once it rests."
	case done.Cycles == 0:
		return "has nothing to shorten: its newest runs stay as they are."
	}
	return fmt.Sprintf("shortened %s: %s tokens of conversation in mind before, %s now. Nothing is deleted, and the newest runs stay as they are.",
		counted(done.Cycles, "old run", "old runs"), textformat.Thousands(done.TokensBefore), textformat.Thousands(done.TokensAfter))
}

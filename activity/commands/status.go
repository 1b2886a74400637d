package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// status tells what the agents of the room are doing, and how they did today.
func (a *CommandHandler) status(ctx context.Context, q CommandRequest) (string, error) {
	now, err := a.Rooms.Now(ctx, q.Space, q.At)
	if err != nil {
		return "", fmt.Errorf("agents of %s: %w", q.Space, err)
	}
	if len(now.Agents) == 0 {
		return "No agent is in this room.", nil
	}
	var b strings.Builder
	for _, n := range now.Agents {
		fmt.Fprintf(&b, "- **%s** %s. %s\n", a.name(n.Agent), doing(n, q.At), today(n))
	}
	if now.Waiting > 0 {
		fmt.Fprintf(&b, "- %s for an agent's attention.\n", counted(now.Waiting, "message waits", "messages wait"))
	}
	if now.Unsent > 0 {
		fmt.Fprintf(&b, "- %s to be sent.\n", counted(now.Unsent, "message waits", "messages wait"))
	}
	return strings.TrimSpace(b.String()), nil
}

// doing says what an agent is at.
func doing(n AgentStatus, at time.Time) string {
	switch {
	case !n.Since.IsZero():
		return "has been at it for " + lasting(at.Sub(n.Since))
	case n.MutedUntil.Equal(spaces.MutedForGood):
		return "is muted here"
	case n.MutedUntil.After(at):
		return "is muted here for another " + lasting(n.MutedUntil.Sub(at))
	case n.Asleep.After(at):
		return "sleeps for another " + lasting(n.Asleep.Sub(at))
	}
	return "rests"
}

// today says how an agent did since the day began.
func today(n AgentStatus) string {
	if n.Runs == 0 {
		return "Nothing to do here today"
	}
	done := n.Runs - n.Cancelled - n.Failed
	parts := []string{
		"Today: " + counted(n.Runs, "run", "runs"), fmt.Sprintf("%d %% without trouble", done*100/n.Runs),
	}
	if n.Cancelled > 0 {
		parts = append(parts, counted(n.Cancelled, "stopped by a person", "stopped by people"))
	}
	if n.Denials > 0 {
		parts = append(parts, counted(n.Denials, "act refused", "acts refused"))
	}
	return strings.Join(append(parts, counted(n.Usage.Prompt+n.Usage.Output, "token", "tokens")), ", ")
}

// cost tells what the room used today, in tokens and, where the price is known,
// in money.
func (a *CommandHandler) cost(ctx context.Context, q CommandRequest) (string, error) {
	now, err := a.Rooms.Now(ctx, q.Space, q.At)
	if err != nil {
		return "", fmt.Errorf("agents of %s: %w", q.Space, err)
	}
	var lines []string
	var sum spaces.TokenUsage
	paid := 0 // agents with a known cost
	for _, n := range now.Agents {
		u := n.Usage
		if sum = sum.Add(u); u.Cost > 0 {
			paid++
		}
		line := fmt.Sprintf("- **%s**: %s in %s (%s read, of which %s cached; %s written)", a.name(n.Agent),
			counted(u.Prompt+u.Output, "token", "tokens"), counted(u.Calls, "model call", "model calls"),
			textformat.Thousands(u.Prompt), textformat.Thousands(u.Cached), textformat.Thousands(u.Output))
		lines = append(lines, line+a.money(u))
	}
	if len(lines) == 0 {
		return "No agent is in this room, so nothing was used.", nil
	}
	if paid > 1 {
		lines = append(lines, "- Together"+a.money(sum))
	}
	return "Used in this room today (UTC):\n" + strings.Join(lines, "\n"), nil
}

// context tells how full the context of each agent was in its last run here, and of what.
func (a *CommandHandler) context(ctx context.Context, q CommandRequest) (string, error) {
	all, err := a.Rooms.Contexts(ctx, q.Space)
	if err != nil {
		return "", fmt.Errorf("contexts of agents in %s: %w", q.Space, err)
	}
	if len(all) == 0 {
		return "No agent has thought about anything here yet.", nil
	}
	var lines []string
	for _, c := range all {
		var parts []string
		for _, p := range []struct {
			tokens int
			of     string
		}{
			{c.Fixed, "my rules and tools"},
			{c.Rooms, "what I keep of rooms, notes and memories"},
			{c.Runs, "my last runs"},
			{c.Now, "what was new"},
			{c.Old, "old messages that I looked up"},
		} {
			if p.tokens > 0 {
				parts = append(parts, textformat.Thousands(p.tokens)+" for "+p.of)
			}
		}
		line := fmt.Sprintf("- **%s** %s ago: %s of %s tokens, about %s.", a.name(c.Agent), lasting(q.At.Sub(c.At)),
			textformat.Thousands(c.Tokens), textformat.Thousands(c.Budget), joined(parts))
		if c.Freed > 0 {
			line += fmt.Sprintf(" %s more had no room.", textformat.Thousands(c.Freed))
		}
		lines = append(lines, line)
	}
	return "In mind during the last run here:\n" + strings.Join(lines, "\n") + "\n\nI make room by myself. `" +
		adapters.TypedCommand(q.Who.Platform, CommandCompact) + "` does it now, `" + adapters.TypedCommand(q.Who.Platform, CommandNew) + "` begins afresh.", nil
}

// money says what tokens cost.
func (a *CommandHandler) money(u spaces.TokenUsage) string {
	if a.Currency == nil || u.Cost == 0 {
		return ""
	}
	return ", about " + money.Amount{Micros: u.Cost, Currency: a.Currency()}.String()
}

// lasting writes a length of time as people say it.
func lasting(d time.Duration) string {
	switch {
	case d < time.Minute:
		return counted(max(int(d.Seconds()), 1), "second", "seconds")
	case d < time.Hour:
		return counted(int(d.Minutes()), "minute", "minutes")
	}
	return counted(int(d.Hours()), "hour", "hours")
}

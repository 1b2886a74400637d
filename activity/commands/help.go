package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// help tells what people can get done here, by what they want and not by how it
// is made.
func (a *CommandHandler) help(ctx context.Context, q CommandRequest) (string, error) {
	now, err := a.Rooms.Now(ctx, q.Space, q.At)
	if err != nil {
		return "", fmt.Errorf("agents of %s: %w", q.Space, err)
	}
	var names []string
	for _, n := range now.Agents {
		names = append(names, a.name(n.Agent))
	}
	var b strings.Builder
	if word, more, _ := strings.Cut(q.Args, " "); word != "" && more == "" && !isCommand(strings.ToLower(strings.TrimLeft(word, "/!"))) {
		fmt.Fprintf(&b, "There is no command \"%s\".\n\n", spaces.PlainText(textformat.ClipBytes(word, 40)))
	}
	if len(names) > 0 {
		fmt.Fprintf(&b, "%s in this chat.\n\n", listed(names, "lives", "live"))
	}
	where := "the apps I am connected to"
	if a.Platforms != nil {
		if on := a.Platforms(); len(on) > 0 {
			where = joined(on)
		}
	}
	call := "mention me or answer one of my messages"
	if q.Direct {
		call = "just write"
	}
	fmt.Fprintf(&b, "**Talk with me**: %s. I read what you say, and I may also decide to stay silent.\n\n", call)
	fmt.Fprintf(&b, "**Follow a conversation across apps**: I live on %s, and in spaces that belong together I remember in one what was said in the other.\n\n", where)
	b.WriteString("**Be reminded, follow a plan**: \"remind me in an hour\", \"look at this again tomorrow\".\n\n")
	b.WriteString("**Keep something in mind**: \"remember that …\", \"what did we decide?\", \"forget that\".\n\n")
	b.WriteString("**Hand work to another agent**: mention it by name, or ask me to bring it in.\n\n")
	b.WriteString("**New here?** Just say \"set up this room\".\n\n")
	b.WriteString("**And at any time, without asking the model**:\n")
	for _, c := range CommandMenu() {
		fmt.Fprintf(&b, "- `%s`: %s\n", adapters.TypedCommand(q.Who.Platform, c.Name), c.Help)
	}
	if q.Who.Platform == "slack" {
		fmt.Fprintf(&b, "\n`/trestle %s` does the same as `%s`, and so with the others, everywhere but in threads.\n", CommandStop, adapters.TypedCommand("slack", CommandStop))
	}
	return strings.TrimSpace(b.String()), nil
}

// joined writes a list as people say it.
func joined(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// listed writes who does something.
func listed(who []string, one, many string) string {
	verb := many
	if len(who) == 1 {
		verb = one
	}
	return joined(who) + " " + verb
}

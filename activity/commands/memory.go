package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// CommandMemory asks what agents know of a person, and changes it.
const CommandMemory = "memory"

// KeptThings are what an agent keeps of its own and may tell a person, oldest first.
type KeptThings struct {
	Memories  []KeptMemory
	Reminders []KeptReminder
}

// A KeptMemory is one fact.
type KeptMemory struct {
	ID        string // short, as agents name it
	Fact      string
	At        time.Time // when it was kept
	Corrected bool      // by a person
	Who, Said string    // the message that it was made of last; empty without one
}

// A KeptReminder is something that the agent means to do at a time.
type KeptReminder struct {
	ID, Note string
	Due      time.Time // by the clock that it goes by
	Recurs   bool
}

// MemoryDesk reads and changes what agents keep of their own.
type MemoryDesk interface {
	// Kept returns what an agent keeps in the circle of a space and may tell a person.
	Kept(ctx context.Context, agent spaces.AgentID, q CommandRequest) (KeptThings, error)
	// Forget takes away a memory or reminder of those, and reports whether there was one.
	Forget(ctx context.Context, agent spaces.AgentID, q CommandRequest, id string) (bool, error)
	// Correct puts a fact in place of that of a memory of those, and reports whether there was
	// one. A fact that cannot be kept is refused in words, and nothing changes.
	Correct(ctx context.Context, agent spaces.AgentID, q CommandRequest, id, fact string) (had bool, refusal string, err error)
}

// KeptShown is how many memories an answer has, the newest. Of older ones no source is needed.
const KeptShown = 30

// What people are told who ask what agents know of them.
const (
	memoryHere = "Ask me that in your own chat with me."
	noMemory   = "I have nothing of that name. "
)

// memory tells a person what the agents of their direct chat know of them, takes something
// away, or corrects it. No model is asked.
func memory(ctx context.Context, a *CommandHandler, q CommandRequest) (string, error) {
	typed := adapters.TypedCommand(q.Who.Platform, CommandMemory)
	if !q.Direct || a.Memories == nil || q.Who.Kind != spaces.Human {
		return memoryHere, nil
	}
	now, err := a.Rooms.Now(ctx, q.Space, q.At)
	if err != nil {
		return "", fmt.Errorf("agents of %s: %w", q.Space, err)
	}
	verb, rest, _ := strings.Cut(q.Args, " ")
	id, fact, _ := strings.Cut(strings.TrimSpace(rest), " ")
	id, fact = strings.Trim(strings.ToLower(id), "~`:,"), strings.TrimSpace(fact)
	usage := fmt.Sprintf("`%[1]s forget ID` takes one away, `%[1]s correct ID the right words` changes one.", typed)
	switch verb = strings.ToLower(verb); {
	case verb == "":
		return tellKept(ctx, a, q, now.Agents, usage)
	case verb != "forget" && verb != "correct", id == "", verb == "correct" && fact == "":
		return fmt.Sprintf("`%s` lists what I know of you. %s", typed, usage), nil
	}
	for _, n := range now.Agents {
		var had bool
		var refusal string
		if verb == "forget" {
			had, err = a.Memories.Forget(ctx, n.Agent, q, id)
		} else {
			had, refusal, err = a.Memories.Correct(ctx, n.Agent, q, id, fact)
		}
		switch {
		case err != nil:
			return "", fmt.Errorf("%s a memory of %s: %w", verb, n.Agent, err)
		case refusal != "":
			return refusal, nil
		case had && verb == "forget":
			return "Forgotten. The messages it came from stay in the chat and can be recalled: delete them to have them forgotten too.", nil
		case had:
			return "Corrected.", nil
		}
	}
	return noMemory + fmt.Sprintf("`%s` lists what I know of you.", typed), nil
}

// tellKept lists what agents keep.
func tellKept(ctx context.Context, a *CommandHandler, q CommandRequest, agents []AgentStatus, usage string) (string, error) {
	var b strings.Builder
	for _, n := range agents {
		kept, err := a.Memories.Kept(ctx, n.Agent, q)
		if err != nil {
			return "", fmt.Errorf("read what %s keeps: %w", n.Agent, err)
		}
		name := a.name(n.Agent)
		left := max(0, len(kept.Memories)-KeptShown)
		fmt.Fprintf(&b, "**%s** keeps %s of this chat.\n", name, counted(len(kept.Memories), "memory", "memories"))
		for _, m := range kept.Memories[left:] {
			b.WriteString("- " + m.line() + "\n")
		}
		if left > 0 {
			fmt.Fprintf(&b, "- and %s\n", counted(left, "older one", "older ones"))
		}
		for i, r := range kept.Reminders {
			if i == 0 {
				fmt.Fprintf(&b, "\n**%s** means to do:\n", name)
			}
			again := ""
			if r.Recurs {
				again = ", again and again"
			}
			fmt.Fprintf(&b, "- `%s` %s%s: %s\n", r.ID, r.Due.Format("Mon 2 Jan 15:04 MST"), again, quoted(r.Note))
		}
		b.WriteString("\n")
	}
	b.WriteString(usage + " What was said here is kept as well and can be recalled; a message that you delete is not.")
	return b.String(), nil
}

// line tells of a memory with where it came from.
func (m KeptMemory) line() string {
	from := ""
	switch {
	case m.Corrected:
		from = ", corrected"
	case m.Said != "":
		from = ", from " + spaces.PlainText(m.Who) + ": " + quoted(m.Said)
	}
	return fmt.Sprintf("`%s` %s (%s%s)", m.ID, spaces.PlainText(m.Fact), m.At.UTC().Format("2 Jan 2006"), from)
}

// quoted returns words in one line, with nothing in them that Markdown gives a meaning.
func quoted(words string) string {
	return "“" + spaces.PlainText(textformat.ClipRunes(strings.Join(strings.Fields(words), " "), 80)) + "”"
}

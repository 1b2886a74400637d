package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// why tells in plain words how each agent of the room came to answer, or not.
// It draws on the record that `trestle explain` shows, and on this room alone.
func (a *CommandHandler) why(ctx context.Context, q CommandRequest) (string, error) {
	all, err := a.Rooms.Last(ctx, q.Space, q.About)
	if err != nil {
		return "", fmt.Errorf("last answers in %s: %w", q.Space, err)
	}
	if len(all) == 0 {
		return "Nobody has said anything to an agent here yet.", nil
	}
	var texts []string
	for _, x := range all {
		texts = append(texts, a.explain(x))
	}
	return strings.Join(texts, "\n\n"), nil
}

// explain tells the story of one agent and one message.
func (a *CommandHandler) explain(x MessageOutcome) string {
	who := "**" + a.name(x.Agent) + "**"
	switch {
	case x.GaveUp:
		return fmt.Sprintf("%s could not answer: %s. It tried %s and has given up.", who, stopWords(x.Stop), counted(x.Tries, "time", "times"))
	case x.Reason == "" && x.Tries > 0:
		return fmt.Sprintf("%s could not answer yet. It tried %s and tries again by itself.", who, counted(x.Tries, "time", "times"))
	case x.Reason == "":
		return who + " has not looked at it yet."
	case !x.Woke:
		return who + " read it and did not answer: " + ReasonWords(x.Reason) + "."
	}
	var b strings.Builder
	verb := "said nothing"
	if x.Spoke > 0 {
		verb = "answered"
	}
	if x.Stop == "" {
		verb = "is thinking"
	}
	fmt.Fprintf(&b, "%s %s. It woke because %s.", who, verb, ReasonWords(x.Reason))
	if len(x.Acts) > 0 {
		fmt.Fprintf(&b, " It used %s.", spaces.PlainText(joined(x.usedWords())))
	}
	for _, code := range x.Denied {
		fmt.Fprintf(&b, " Something was refused to it: %s.", denialWords(code))
	}
	if x.Model != "" {
		fmt.Fprintf(&b, " The model %s answered in place of its own, which could not.", spaces.PlainText(x.Model))
	}
	if x.InWords {
		b.WriteString(" Its model often answers in words in place of calling a tool, so they are sent as its answer where a person waits for one.")
	}
	if x.Stop != "" {
		fmt.Fprintf(&b, " It ended because %s, after %s and %s.", stopWords(x.Stop),
			counted(x.Usage.Calls, "model call", "model calls"), counted(x.Usage.Prompt+x.Usage.Output, "token", "tokens"))
	}
	return b.String()
}

// usedWords names what the agent asked for, tools from outside with the time they took.
func (x *MessageOutcome) usedWords() []string {
	var words []string
	for _, name := range x.Acts {
		word := strings.ReplaceAll(name, "_", " ")
		if took, outside := x.Took[name]; outside {
			word += fmt.Sprintf(" for %.1f s", took.Seconds())
		}
		words = append(words, word)
	}
	return words
}

// ReasonWords returns the gate's word on a message as a part of a sentence.
func ReasonWords(reason string) string {
	if words, ok := reasons[reason]; ok {
		return words
	}
	return "its rules say so (" + spaces.PlainText(strings.ReplaceAll(reason, "_", " ")) + ")"
}

// reasons are the gate's words.
var reasons = map[string]string{
	"own":           "it was its own",
	"stopped":       "a person had stopped this conversation",
	"depth":         "agents had passed it on too often without a person",
	"agent_run":     "agents had spoken too often in a row, and a person must speak first",
	"root_budget":   "the tokens for this conversation were used up",
	"sender_budget": "the sender has used their budget for today",
	"rate":          "its sender wrote more in a minute than is looked at",
	"wait_resolved": "what it had waited for has come to its end",
	"waiting":       "it waits for others whom it asked as well",
	"muted":         "the agent is muted here",
	"command":       "it was a command to the program",
	"direct":        "this is a direct chat, where everything is meant for it",
	"thread":        "it had spoken last in this thread, and the message named nobody else",
	"two_entity":    "only two are in this room, so it was meant for it",
	"mention":       "it was mentioned",
	"reply":         "one of its messages was answered",
	"wake_all":      "it looks at everything in this room",
	"wake_none":     "it only answers in this room when it is named or answered",
	"ambient":       "nobody mentioned it or answered it, so it only listened",
	"seen":          "it addressed no agent, and this one read it in an earlier run",
	"sampled":       "it addressed no agent, and only some of those messages wake one here",
	"bot":           "another program wrote it, and did not mention or answer it",
	"past":          "it was read in later, so that nobody waited for an answer any more",
	"observed":      "it was an edit, a deletion or a reaction, and no new message",
}

// stopWords says how a run ended.
func stopWords(stop spaces.StopReason) string {
	switch stop {
	case spaces.StopCompleted:
		return "it was done"
	case spaces.StopSilent:
		return "it decided to stay silent"
	case spaces.StopSkipped, spaces.StopSuperseded:
		return "something newer took its place"
	case spaces.StopSleeping:
		return "it went to sleep"
	case spaces.StopWaitingReply:
		return "it waits for an answer"
	case spaces.StopWaitingTool:
		return "it waits for the result of a tool"
	case spaces.StopBudget:
		return "a budget was used up"
	case spaces.StopMaxRetries, spaces.StopTimeout:
		return "the model could not be reached"
	case spaces.StopMaxSteps:
		return "it had taken as many steps as it may"
	case spaces.StopModelError:
		return "the model gave no usable answer"
	case spaces.StopCancelled:
		return "a person stopped it"
	case spaces.StopCoordinator:
		return "the program had a fault"
	case spaces.StopNoCapableAgent, spaces.StopDependencyFailed:
		return "what it needed was not there"
	}
	return "it ended"
}

// denialWords says why an act was refused, without what it was about: that may
// belong to another room.
func denialWords(code string) string {
	switch code {
	case "no_active_space", "not_a_member", "ambiguous_space":
		return "it may not act in that place"
	case "tier_policy", "authority":
		return "it may not do that here, or not for the people who asked"
	case "not_yours":
		return "it can change only its own messages"
	case "internal_text":
		return "it would have repeated its own instructions"
	case "agent_run":
		return "agents had said enough until a person speaks"
	}
	return "it asked for something that cannot be done"
}

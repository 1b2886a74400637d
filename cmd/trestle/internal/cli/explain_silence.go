package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// silenceAnswer has the reason for each mind why no agent answered an event.
type silenceAnswer struct {
	Space  spaces.SpaceID `json:"space"`
	Seq    int64          `json:"seq"`
	Event  spaces.EventID `json:"event"`
	Actor  string         `json:"actor,omitempty"`
	Text   string         `json:"text,omitempty"`
	Minds  []silentMind   `json:"minds"`  // those connected to the space then; empty when none was
	Answer string         `json:"answer"` // the whole in one sentence
}

// silentMind is how one mind handled the event.
type silentMind struct {
	Mind   string               `json:"mind"`
	State  spaces.InboxRowState `json:"state"`
	Reason string               `json:"reason"`                // the gate's word
	Run    spaces.CycleID       `json:"run,omitempty"`         // that was shown it
	Stop   spaces.StopReason    `json:"stop_reason,omitempty"` // how that run ended
	Says   string               `json:"says"`                  // why, in words, and what to do
}

// explainSilence explains why no agent answered an event.
func (cmd explainCommand) explainSilence(ctx context.Context, space, event string) error {
	seq, err := strconv.ParseInt(strings.TrimPrefix(event, "#"), 10, 64)
	if err != nil || seq < 1 {
		return &apperr.Error{What: fmt.Sprintf("%q is no number of an event", event), Where: "explain --silence", Remedy: "write its number in the space, such as 41; see trestle spaces show " + space, Code: apperr.Usage}
	}
	log, err := spacesCommand(cmd).log(ctx, space, seq+1, 1)
	if err != nil {
		return err
	}
	if len(log.Log) == 0 || log.Log[0].Seq != seq {
		return &apperr.Error{What: fmt.Sprintf("there is no event #%d", seq), Where: "explain --silence " + space, Remedy: "see trestle spaces show " + space, Code: apperr.Failed}
	}
	l := log.Log[0]
	names := map[spaces.EntityID]string{}
	for _, m := range log.People {
		names[m.ID] = m.Name
	}
	a := silenceAnswer{Space: log.Space, Seq: seq, Event: l.Event, Actor: cmp.Or(names[l.Actor], string(l.Actor)), Text: l.Body.Text, Minds: []silentMind{}}
	for _, m := range l.Marks {
		mind, err := cmd.silent(ctx, m)
		if err != nil {
			return err
		}
		a.Minds = append(a.Minds, mind)
	}
	a.Answer = a.sum()
	return cmd.answer(a, func(w io.Writer) { a.print(w, cmp.Or(log.Name, string(log.Space))) })
}

// silent returns how one mind handled an event.
func (cmd explainCommand) silent(ctx context.Context, m shownMark) (silentMind, error) {
	s := silentMind{Mind: m.Mind, State: m.State, Reason: m.Reason, Run: m.Run, Says: whyNot(m)}
	if _, asleep := verdicts[m.Reason]; asleep || m.Run == "" {
		return s, nil // a run that saw it later was not woken by it
	}
	run, err := cmd.readRun(ctx, string(m.Run))
	if err != nil {
		return s, err
	}
	s.Stop = run.Stop
	sent, said := 0, 0
	for _, d := range run.Deliveries {
		if d.Kind == spaces.ActSend {
			said++
			if d.State == spaces.ActionSent {
				sent++
			}
		}
	}
	switch {
	case sent > 0:
		s.Says = "it was shown this and spoke; see trestle explain " + string(m.Run)
	case said > 0:
		s.Says = "it spoke, and what it said has not arrived; see trestle explain " + string(m.Run)
	case run.Detail == shell.Unheard:
		s.Says = "the model wrote words in place of an act, which nobody sees (TRS-M07); see trestle explain " + string(m.Run)
	case run.Stop == spaces.StopSilent || run.Stop == spaces.StopCompleted:
		s.Says = "it was shown this and chose to say nothing; see trestle explain " + string(m.Run)
	case run.Stop == "":
		s.Says = "its run is under way"
	default:
		s.Says = fmt.Sprintf("its run ended as %s before it spoke; see trestle explain %s", run.Stop, m.Run)
	}
	return s, nil
}

// verdicts has texts for why the gate did not wake a mind, and what would wake it.
var verdicts = map[string]string{
	shell.GateOwn:      "it said this itself",
	shell.GateStopped:  "a person stopped this chain of messages; a new message starts a new one",
	shell.GateDepth:    "too many agents' messages led here since a person spoke; a person's message starts anew",
	shell.GateRun:      "agents had spoken too often in a row here; they go on when a person speaks",
	shell.GateBudget:   "this chain of messages has used up its budget (budget.per_root)",
	shell.GateSender:   "who wrote it has used up their budget for today (budget.sender_per_day)",
	"rate":             "who wrote it wrote more in that minute than is looked at (limits.sender_per_minute)",
	shell.GateWaiting:  "it waits for others whom it asked as well; the last answer wakes it",
	shell.GateMuted:    "it is muted here",
	shell.GateCommand:  "it is a command of the chat, which agents never see as a request",
	shell.GateNone:     "wake is none for it here: mention it, or reply to it",
	shell.GateSeen:     "it addressed no agent, and a run that a message to this one began has read it",
	shell.GateSampled:  "it addressed no agent, and ambient.sample lets only some of those wake one; the next run reads it",
	shell.GateAmbient:  "nobody addressed it: mention it, reply to it, or set wake: all for this space",
	shell.GateBot:      "another program said it and did not address it: let that program mention it, or set wake: all for this space",
	"past":             "it was read in later, from history or after a restore, so that nobody waited for an answer any more",
	shell.GateObserved: "it is no message: edits, reactions and the like are seen and wake nobody",
}

// whyNot returns why an event did not lead to a run.
func whyNot(m shownMark) string {
	if says, ok := verdicts[m.Reason]; ok {
		return says
	}
	switch m.State {
	case spaces.RowReady:
		return "it is still to be looked at: the mind is busy, asleep, or no process runs"
	case spaces.RowDead:
		return "it was given up: " + textout.OrDash(m.Reason)
	case spaces.RowClaimed, spaces.RowConsumed, spaces.RowIgnored:
	}
	return textout.OrDash(m.Reason)
}

// sum is the answer in one sentence.
func (a silenceAnswer) sum() string {
	if len(a.Minds) == 0 {
		return "no agent was connected to this space then, or the event is none that agents are shown"
	}
	for _, m := range a.Minds {
		if strings.Contains(m.Says, "and spoke") {
			return "somebody did answer: " + m.Mind
		}
	}
	return "nobody answered: see why for each"
}

func (a silenceAnswer) print(w io.Writer, room string) {
	what := "an event"
	if a.Text != "" {
		what = strconv.Quote(a.Text)
	}
	fmt.Fprintf(w, "#%d in %s, %s: %s\n%s\n", a.Seq, room, textout.OrDash(a.Actor), what, a.Answer)
	for _, m := range a.Minds {
		fmt.Fprintf(w, "  %s   %s   %s\n", m.Mind, textout.OrDash(m.Reason), m.Says)
	}
}

package activity_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// lately tells one answer, whatever is asked.
type lately struct {
	commands.RoomInspector
	x commands.MessageOutcome
}

func (l lately) Last(_ context.Context, _ spaces.SpaceID, _ spaces.MessageRef) ([]commands.MessageOutcome, error) {
	return []commands.MessageOutcome{l.x}, nil
}

// PRD-10-9: the gate has no word that people cannot be told.
func TestEveryWordOfTheGateHasPlainWords(t *testing.T) {
	for _, reason := range []string{
		shell.GateOwn, shell.GateStopped, shell.GateDepth, shell.GateRun, shell.GateBudget, shell.GateSender, shell.GateMuted, shell.GateCommand,
		shell.GateDirect, shell.GatePair, shell.GateMention, shell.GateReply, shell.GateAll, shell.GateNone, shell.GateAmbient,
		shell.GateBot, shell.GateObserved, "past",
	} {
		a := commands.CommandHandler{Rooms: lately{x: commands.MessageOutcome{Agent: "ada", Reason: reason}}}
		text, err := a.Run(t.Context(), commands.CommandRequest{Command: "why"})
		if err != nil || strings.Contains(text, "its rules say so") {
			t.Errorf("%s is told as %q, %v", reason, text, err)
		}
	}
}

// Tools from outside are named with the time that their calls took.
func TestWhyTellsHowLongToolsTook(t *testing.T) {
	x := commands.MessageOutcome{Agent: "ada", Reason: "mention", Woke: true, Spoke: 1, Acts: []string{"web_fetch", "send_message"}, Took: map[string]time.Duration{"web_fetch": 1240 * time.Millisecond}}
	a := commands.CommandHandler{Rooms: lately{x: x}}
	text, err := a.Run(t.Context(), commands.CommandRequest{Command: "why"})
	if err != nil || !strings.Contains(text, "It used web fetch for 1.2 s and send message.") {
		t.Errorf("it tells %q, %v", text, err)
	}
}

// The commands that the gate keeps from the model are those that people have.
func TestTheGateKnowsEveryCommand(t *testing.T) {
	// An operator's answer to an alarm and an owner's to a person who asks to be let in are in no menu.
	have := map[string]bool{commands.CommandAck: true, commands.CommandLetIn: true, commands.CommandRefuse: true}
	for _, c := range commands.CommandMenu() {
		have[c.Name] = true
	}
	for _, name := range shell.Commands {
		if !have[name] {
			t.Errorf("the gate keeps /%s, which nobody does", name)
		}
		delete(have, name)
	}
	for name := range have {
		t.Errorf("the gate lets /%s through to the model", name)
	}
}

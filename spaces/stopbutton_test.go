package spaces

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

func TestValueOfAStopButtonIsReadBack(t *testing.T) {
	const message = EventID("01a21968-6843-71ad-8868-ed64b0bea022")
	for button, want := range map[ChoiceButton]StopRequest{
		StopButton("run-1"):                                          {Run: "run-1"},
		StopMessageButton(message, "ada"):                            {Event: message, Agent: "ada"},
		StopMessageButton(message, AgentID(strings.Repeat("a", 23))): {Event: message},
	} {
		h, ok := ParseStop(button.Value)
		if !ok || len(button.Value) > maxStopValue {
			t.Errorf("%q is no value of a button that stops", button.Value)
		}
		testutil.Same(t, button.Value, want, h)
	}
	for _, other := range []string{"", "stop", "stop ", "approve K7QDX", "stop a b c", "stops a"} {
		if h, ok := ParseStop(other); ok {
			t.Errorf("%q stops %+v", other, h)
		}
	}
}

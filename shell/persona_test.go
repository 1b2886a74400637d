package shell_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/shell"
)

// CON-04, CON-16, CON-37: the system text is the first message and no other; an agent
// that is given another name or persona begins its next frame with it, and everything
// behind stays, byte for byte.
func TestAnotherPersonaChangesTheFirstMessageAlone(t *testing.T) {
	k := &keeper{ChatModel: replier("noted")}
	play(t, k, func(w *world) {
		room := w.room("kai", direct)
		w.agents[0].Persona = "You like ships."
		w.start()
		w.says(room, "Kai", "hello")
		w.settle()
		before := k.asked[len(k.asked)-1]
		ada := w.agents[0]
		ada.Persona = "You like trains."
		w.shell.SetAgents([]shell.Agent{ada})
		w.says(room, "Kai", "what do you like?")
		w.settle()
		after := k.asked[len(k.asked)-1]
		if !strings.Contains(before.Messages[0].Text, "ships") || before.Messages[0].Role != "system" {
			t.Fatalf("the first frame begins with %+v", before.Messages[0])
		}
		if want := strings.Replace(before.Messages[0].Text, "ships", "trains", 1); after.Messages[0].Text != want {
			t.Errorf("the first message (-want +got):\n%s", cmp.Diff(want, after.Messages[0].Text))
		}
		kept := len(before.Messages) - 1 // all but its tail
		if diff := cmp.Diff(before.Messages[1:kept], after.Messages[1:kept]); diff != "" {
			t.Errorf("behind it (-want +got):\n%s", diff)
		}
		for i, m := range after.Messages[1:] {
			if m.Role == "system" {
				t.Errorf("message %d is another system message", i+1)
			}
		}
	})
}

// BLU-04, BLU-46, BLU-51: no agent is more than another: in one room each is told the
// same but for who it is, and offered the same acts, whoever came first.
func TestAllAgentsOfARoomAreToldTheSame(t *testing.T) {
	k := &keeper{ChatModel: replier("noted")}
	play(t, k, func(w *world) {
		room := w.room("hall")
		w.start()
		w.says(room, "Kai", "@Ada hello")
		w.settle()
		first := k.asked[0]
		k.asked = nil
		w.says(room, "Kai", "@Max hello")
		w.settle()
		second := k.asked[0]
		if !strings.Contains(second.Messages[0].Text, "You are Max (entity agent:max)") {
			t.Fatalf("the second frame begins with %q", second.Messages[0].Text)
		}
		same := strings.NewReplacer("Max", "Ada", "agent:max", "agent:ada").Replace(second.Messages[0].Text)
		if diff := cmp.Diff(first.Messages[0].Text, same); diff != "" {
			t.Errorf("system texts (-Ada +Max):\n%s", diff)
		}
		if diff := cmp.Diff(first.Tools, second.Tools); diff != "" {
			t.Errorf("acts (-Ada +Max):\n%s", diff)
		}
	}, "Ada", "Max")
}

package shell_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// SECURITY S5, DESIGN 2: what was deleted in a room while the configuration had an agent
// out of it is shown to the agent by no later frame and kept nowhere, whether or not the
// agent thought of something else meanwhile, or was restarted.
func TestWhatWasDeletedWhileAnAgentWasAwayIsErased(t *testing.T) {
	const words = "the safe opens with 8-19-47"
	for n := range 8 {
		before, thought, after := n&1 != 0, n&2 != 0, n&4 != 0
		t.Run(fmt.Sprintf("restart before %v, thought meanwhile %v, restart after %v", before, thought, after), func(t *testing.T) {
			k := &keeper{ChatModel: replier("noted")}
			play(t, k, func(w *world) {
				restart := func(really bool) {
					if really {
						w.crash()
						w.start()
					}
				}
				room, other := w.room("family", direct), w.room("work", direct)
				w.start()
				ref := w.says(room, "Kai", words)
				w.settle()
				w.ok(w.store.Border().Dismiss(w.t.Context(), spaces.AgentRemoval{Space: room, Agents: []spaces.AgentID{agentID("Ada")}, At: time.Now()}))
				restart(before)
				w.does(room, "Kai", spaces.MessageDeleted{Ref: ref})
				w.settle()
				if thought {
					w.says(other, "Kai", "how is the roof?")
					w.settle()
				}
				restart(after)
				w.room("family", direct)
				asked := k.times()
				w.says(room, "Kai", "what do you know of the safe?")
				w.settle()
				<-time.After(time.Hour)
				w.settle()
				if k.times() == asked {
					t.Fatal("nobody was asked")
				}
				for _, r := range k.asked[asked:] {
					if strings.Contains(fmt.Sprint(r.Messages), "8-19-47") {
						t.Errorf("a frame has the words:\n%v", r.Messages)
					}
				}
				w.keptNowhere("8-19-47")
			}, "Ada")
		})
	}
}

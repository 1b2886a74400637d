package shell_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-5.1-5, SEQ-99: what turns out to have failed while a cycle asks the model is
// told in the next one, as it is in the first one after it otherwise, also where other
// processes run these.
func TestWhatFailsDuringACallIsToldLater(t *testing.T) {
	for _, during := range []struct {
		name    string
		noCalls bool
		restart bool
	}{{"contemplation", true, false}, {"engagement", false, false}, {"engagement and restarts", false, true}} {
		t.Run(during.name, func(t *testing.T) {
			var w *world
			var claimed []spaces.Action
			told := 0
			m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				<-time.After(time.Second)
				if strings.Contains(r.Messages[len(r.Messages)-1].Text, "NOT DELIVERED") {
					told++
				}
				if r.NoCalls == during.noCalls && claimed != nil {
					w.ok(w.store.Border().Settle(w.t.Context(), time.Now(), []activity.SendResult{{
						Action: claimed[0].ID, State: spaces.ActionFailed, Code: "blocked", Reason: "They blocked us.",
					}}))
					claimed = nil
					<-time.After(time.Second)
				}
				if r.NoCalls {
					return telling("hm"), nil
				}
				answer := calling(len(r.Messages), "send_message", `{"text":"Sure."}`)
				answer.Text = "Responded to Kai. Agreed."
				return answer, nil
			})
			play(t, m, func(got *world) {
				w = got
				restart := func() {
					if during.restart {
						w.crash()
						w.start()
					}
				}
				w.start()
				room := w.room("kai", direct)
				w.says(room, "Kai", "one")
				w.settle()
				due, err := w.store.Border().Claim(w.t.Context(), account, time.Now(), 1)
				w.ok(err)
				claimed = due
				pass(time.Second)

				w.says(room, "Kai", "two")
				w.settle()
				if told > 0 {
					t.Error("told within the cycle: this test proves nothing")
				}
				pass(time.Second)
				restart()
				w.says(room, "Kai", "three")
				w.settle()
				if told != 2 {
					t.Errorf("the next cycle was told in %d frames of 2", told)
				}
				pass(time.Second)
				restart()
				w.says(room, "Kai", "four")
				w.settle()
				if told != 2 {
					t.Errorf("the cycle after it was told again, in %d frames", told-2)
				}
			})
		})
	}
}

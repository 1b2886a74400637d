package shell_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// DESIGN 2, F24: what the agent said goes as well where a person deleted it before the
// platform had confirmed it, so that only the receipt tells what was deleted.
func TestWhatWasDeletedBeforeItsReceiptIsErased(t *testing.T) {
	const words = "the safe opens with 8-19-47"
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %v", restart), func(t *testing.T) {
			k := &keeper{ChatModel: mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				switch {
				case r.NoCalls:
					return telling("hm"), nil
				case len(r.Messages) > 6 || acts(r) > 0:
					return telling("Responded to Kai. Done."), nil
				}
				return calling(len(r.Messages), "send_message", `{"text":"`+words+`"}`), nil
			})}
			play(t, k, func(w *world) {
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "hello")
				w.settle()
				due, err := w.store.Border().Claim(w.t.Context(), account, time.Now(), 100)
				w.ok(err)
				ref := spaces.MessageRef{Account: account, Chat: due[0].Chat, Message: strconv.Itoa(w.updates + 2)}
				w.does(room, "Kai", spaces.MessageDeleted{Ref: ref})
				w.settle()
				w.settleAll(due)
				if restart {
					w.crash()
					w.start()
				}
				before := len(k.asked)
				w.says(room, "Kai", "what did you say?")
				w.settle()
				for i, r := range k.asked[before:] {
					if strings.Contains(whole(r), words) {
						t.Errorf("frame %d after the delete has the words:\n%s", i, whole(r))
					}
				}
				w.keptNowhere(words)
			})
		})
	}
}

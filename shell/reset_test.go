package shell_test

import (
	"strings"
	"testing"
	"time"
)

// /new: what was said before a person began afresh is not shown as news afterwards
// either, where the agent had not been woken by it. What comes then is, whole.
func TestAFreshStartLeavesUnreadLinesBehind(t *testing.T) {
	k := &keeper{ChatModel: replier("hi")}
	play(t, k, func(w *world) {
		hall := w.room("hall")
		w.start()
		w.says(hall, "Zoe", "the key lies under the third stone")
		w.settle()
		pass(time.Minute)
		w.ok(w.store.Shell().Renew(w.t.Context(), hall, time.Now()))
		pass(time.Minute)
		w.says(hall, "Zoe", "we meet at nine")
		w.says(hall, "Kai", "@Ada are you there?")
		w.settle()
		last := k.frame()
		if strings.Contains(last, "third stone") {
			t.Errorf("the frame has what was left behind:\n%s", last)
		}
		if !strings.Contains(last, "INBOX (2 events),") || !strings.Contains(last, "we meet at nine") {
			t.Errorf("the frame has not what came since:\n%s", last)
		}
	})
}

package shell_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// actionsDue returns and settles what is to be done on platforms.
func (w *world) actionsDue() []spaces.Action {
	w.t.Helper()
	due, err := w.store.Border().Claim(w.t.Context(), account, time.Now(), 100)
	w.ok(err)
	w.settleAll(due)
	return due
}

// A request has buttons. However it ends, by one of fifty decisions at once, by time or by a
// stop, it is edited once: it says how it ended in place of how to decide.
func TestARequestIsClosedOnce(t *testing.T) {
	ends := map[string]struct {
		end  func(w *world, room spaces.SpaceID, code string)
		want string
	}{
		"fifty at once": {func(w *world, _ spaces.SpaceID, code string) {
			var all sync.WaitGroup
			var counted atomic.Int32
			for range 50 {
				all.Go(func() {
					d := spaces.ToolDecision{Code: code, By: "person", Allow: true, Outcome: "Allowed once.", At: time.Now()}
					_, decided, err := w.store.Shell().DecideRun(w.t.Context(), d)
					w.ok(err)
					if decided {
						counted.Add(1)
					}
				})
			}
			all.Wait()
			if n := counted.Load(); n != 1 {
				w.t.Errorf("%d decisions counted", n)
			}
		}, "Allowed once."},
		"expiry": {func(_ *world, _ spaces.SpaceID, _ string) { pass(24*time.Hour + time.Minute) }, "Not called: no one decided in time."},
		"stop": {func(w *world, room spaces.SpaceID, _ string) {
			_, err := w.shell.Cancel(w.t.Context(), spaces.StopRequest{Space: room, At: time.Now()})
			w.ok(err)
		}, "Not called: it was cancelled."},
	}
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			box := weather(func(context.Context, shell.ToolUse) (shell.ToolAnswer, error) {
				return shell.ToolAnswer{Text: "ticket 7"}, nil
			})
			play(t, asking(t, "tickets_create", `{"title":"Tap drips"}`), func(w *world) {
				w.settings, w.tools = onePhase, box
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "file a ticket: tap drips")
				w.settle()
				asked := w.actionsDue()
				if len(asked) != 1 || len(asked[0].Choices) != 3 {
					t.Fatalf("asked %+v", asked)
				}
				code := strings.TrimPrefix(asked[0].Choices[0].Value, "approve ")
				c.end(w, room, code)
				w.settle()
				var edits []string
				for _, a := range w.actionsDue() {
					if a.Kind == spaces.ActEdit {
						edits = append(edits, string(a.Target)+"\n"+a.Text)
					}
				}
				request := asked[0].Text[:strings.LastIndexByte(asked[0].Text, '\n')]
				testutil.Same(t, "edits", []string{string(asked[0].ID) + "\n" + request + "\n" + c.want}, edits)
			})
		})
	}
}

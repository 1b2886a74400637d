package server

import (
	"testing"
	"testing/synctest"
	"time"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// ECOSYSTEM 6: full requests are kept as long as the configuration says.
func TestFramesAreKeptAsLongAsConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: open\nagents: {ada: {name: Ada, phases: one}}\nretention: {frames: 30m}\n", script(t, "ada acts: send_message {\"text\":\"Hello.\"}\nada rests: Responded to Kai. Greeted.\n")...)
		w.addChat("home", "group", []string{"Kai"})
		w.settle()
		w.chats["home"].Says(w.people["Kai"], "@ada_bot hello", faketelegram.PostOptions{})
		w.settle()
		expired := func() bool {
			t.Helper()
			view := w.process.Store.Console()
			runs, err := view.Runs(t.Context(), console.Filter{})
			if err != nil || len(runs) != 1 {
				t.Fatal(runs, err)
			}
			f, err := view.Frame(t.Context(), runs[0].ID, 0)
			testutil.OK(t, err)
			return f.Step.Expired
		}
		if w.restart(); expired() {
			t.Error("the frame is let go within its time")
		}
		pass(40 * time.Minute)
		w.restart()
		if w.settle(); !expired() {
			t.Error("the frame is kept beyond its time")
		}
		w.stop()
	})
}

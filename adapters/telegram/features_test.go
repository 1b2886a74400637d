package telegram_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Issue 31: what a server knows is asked once; what it does not know keeps nothing else from
// coming.
func TestUpdatesComeFromServersOldAndNew(t *testing.T) {
	for name, c := range map[string]struct {
		on    faketelegram.Options
		stops bool
		polls int // refused before one was taken
	}{
		"new":              {faketelegram.Options{}, true, 0},
		"old":              {faketelegram.Options{Old: true}, false, 0},
		"new of others":    {faketelegram.Options{Strict: true}, true, 0},
		"old that refuses": {faketelegram.Options{Old: true, Strict: true}, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openOn(t, c.on)
				group := w.NewSupergroup("Family", w.kai)
				group.Adds(w.kai, w.bot)
				group.Promotes(w.kai, w.bot)
				said := group.Says(w.kai, "hello", faketelegram.PostOptions{})
				group.Reacts(w.kai, said, "👍")
				<-time.After(3 * time.Minute) // some polls
				words, reactions := 0, 0
				for _, u := range w.inbox.take() {
					switch u.Body.(type) {
					case adapters.IncomingMessage:
						words++
					case adapters.ReactionChange:
						reactions++
					}
				}
				asked, refused := 0, 0
				for _, call := range w.Ledger().Calls {
					switch {
					case call.Method == "getWebhookInfo":
						asked++
					case call.Method == "getUpdates" && call.Status == 400:
						refused++
					}
				}
				testutil.Same(t, "messages", 1, words)
				testutil.Same(t, "reactions", 1, reactions)
				testutil.Same(t, "drafts can be stopped", c.stops, w.client.Stoppable())
				testutil.Same(t, "times the server was asked what it knows", 1, asked)
				testutil.Same(t, "polls refused", c.polls, refused)
			})
		})
	}
}

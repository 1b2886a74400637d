package telegram_test

import (
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/trestle-bridge/trestle/adapters"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// NEWS: a server that does not know ephemeral messages shows one to everybody, and the
// receipt names it; in a direct chat there is none.
func TestPrivateMessagesOnServersOldAndNew(t *testing.T) {
	for name, old := range map[string]bool{"new": false, "old": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := openOn(t, faketelegram.Options{Old: old})
				group := w.NewSupergroup("Family", w.kai)
				group.Adds(w.kai, w.bot)
				chat, kai := strconv.FormatInt(group.ID(), 10), strconv.FormatInt(w.kai.ID, 10)
				receipt, err := w.client.SendPrivate(t.Context(), kai, adapters.OutgoingMessage{Chat: chat, Text: "You may not."})
				if err != nil {
					t.Fatal(err)
				}
				alone, all := len(faketelegram.EphemeralIn(group)), len(group.Sent())
				if old && (alone != 0 || all != 1 || receipt.Message == "") || !old && (alone != 1 || all != 0 || receipt.Message != "") {
					t.Errorf("%d read it alone, %d messages are for all, the receipt is %+v", alone, all, receipt)
				}
				for _, who := range []string{kai, "the id of no person"} {
					_, err = w.client.SendPrivate(t.Context(), who, adapters.OutgoingMessage{Chat: kai, Text: "You may not."})
					if !old && !adapters.KindOf(err).Permanent() {
						t.Errorf("to %s in a direct chat: %v, want a definite no", who, err)
					}
				}
			})
		})
	}
}

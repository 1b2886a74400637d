package server

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/console"
)

// What cannot be a chat is refused before anything is opened for it.
func TestWhatCannotBeAChatIsNotLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: pairing\n")
		defer w.stop()
		w.settle()
		for _, chat := range []string{"telegram:nochat", "telegram:@family", "telegram:-100x"} {
			a, err := w.process.pair(w.t.Context(), console.PairRequest{Chat: chat})
			if f, ok := errors.AsType[*apperr.Error](err); !ok || f.Code != apperr.Usage || f.Remedy == "" {
				t.Errorf("%s lets in %+v, and is answered %v", chat, a, err)
			}
		}
		all, err := w.process.pairings(w.t.Context())
		if err != nil || len(all.Admitted) > 0 {
			t.Errorf("let in are %+v, %v", all.Admitted, err)
		}
	})
}

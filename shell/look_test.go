package shell_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// DESIGN 8: what another process has recorded is found as soon as a person says
// that there is something, and not only by the next poll.
func TestShellLooksWhenItIsTold(t *testing.T) {
	play(t, replier("noted"), func(w *world) {
		w.poll = time.Hour
		room := w.room("kai", direct)
		w.start()
		synctest.Wait()
		in := spaces.IngestBatch{Account: account, Items: []spaces.IngestItem{w.update(room, "Kai", spaces.MessagePosted{Text: "hello"})}, At: time.Now()}
		_, err := w.store.Border().Record(w.t.Context(), in)
		w.ok(err)
		synctest.Wait()
		if n := len(w.spoken(room)); n != 0 {
			w.t.Fatalf("%d answers before anybody rang", n)
		}
		began := time.Now()
		w.shell.Look()
		w.settle()
		if got := w.spoken(room); len(got) != 1 || time.Since(began) >= time.Hour {
			w.t.Errorf("after %s: %q", time.Since(began), got)
		}
	})
}

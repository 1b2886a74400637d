package shell_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// DESIGN 2, 5: a message that finds its mind free is claimed with the commit that
// records it; one whose mind is busy, or has as many cycles as it may, waits.
func TestAMessageIsClaimedWithItsCommitWhereTheMindIsFree(t *testing.T) {
	play(t, slow(time.Minute, llmtest.LeakyModel{Brief: true}), func(w *world) {
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
			s := twoPhases()
			s.Parallel = 1
			return s
		}
		one, two := w.room("one"), w.room("two")
		w.start()
		for _, c := range []struct {
			room spaces.SpaceID
			text string
			want int64
		}{{one, "@Ada hello", 1}, {one, "@Ada are you there?", 0}, {two, "@Ada and here?", 0}} {
			w.says(c.room, "Kai", c.text)
			synctest.Wait()
			if n := w.claims.Load(); n != c.want {
				t.Errorf("%q made %d claims, want %d", c.text, n, c.want)
			}
		}
		w.settle()
		if got := w.spoken(two); len(got) != 1 {
			t.Errorf("said %q in the other room", got)
		}
		if w.says(one, "Kai", "@Ada again"); w.claims.Load() != 1 {
			t.Errorf("%d claims after the mind has rested", w.claims.Load())
		}
		w.settle()
		testutil.Same(t, "said", []string{"@Ada are you there?", "@Ada again"}, w.spoken(one))
	})
}

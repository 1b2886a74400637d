package activity

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// DELIVERY F42, I6: what waits in hand for its turn does not leave once the account may
// be another process's, which sends it. It goes back, and leaves when all was well.
func TestNothingLeavesWhileTheAccountMayBeAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stale atomic.Bool
		p := &platform{every: adapters.RateLimit{Every: 900 * time.Millisecond, Burst: 1}}
		r := newRecord()
		r.put(spaces.Action{ID: "one", Chat: "c", Text: "one"})
		r.put(spaces.Action{ID: "two", Chat: "c", Text: "two"})
		send(t, p, r, EgressOptions{OwnsAccount: func() bool { return !stale.Load() }})
		after(500 * time.Millisecond)
		testutil.Same(t, "in hand", spaces.ActionSending, r.action("two").State)
		stale.Store(true)
		after(time.Minute)
		testutil.Same(t, "while it may be another's", []string{"one"}, p.texts("c"))
		testutil.Same(t, "put back", spaces.ActionReady, r.action("two").State)
		stale.Store(false)
		after(2 * time.Second)
		testutil.Same(t, "once it is known to be ours", []string{"one", "two"}, p.texts("c"))
	})
}

// DELIVERY F42, K22: what is shown of an answer does not grow meanwhile, either: the
// answer may stand whole by then.
func TestNoDraftGrowsWhileTheAccountMayBeAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stale atomic.Bool
		p := &platform{}
		e := on(t, screen{platform: p}, newRecord(), EgressOptions{OwnsAccount: func() bool { return !stale.Load() }})
		d := spaces.MessageDraft{ID: "d", Chat: "private", Text: "It", Show: spaces.StreamDrafts}
		e.ShowDraft(d)
		after(time.Second)
		shown := len(p.attempted())
		stale.Store(true)
		d.Text = "It grows"
		e.ShowDraft(d)
		after(time.Minute)
		if n := len(p.attempted()); shown != 1 || n != shown {
			t.Errorf("it was shown %d times, and %d in the end; want once", shown, n)
		}
		e.EndDraft(d.ID)
	})
}

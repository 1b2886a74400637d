package activity

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// DESIGN 2, DELIVERY K15: what its commit hands over is sent without a claim.
func TestWhatIsHandedOverIsSentAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := &platform{}, newRecord()
		s := send(t, p, r, EgressOptions{MaxInFlight: 1})
		synctest.Wait()
		if !s.Reserve("a") || s.Reserve("b") {
			t.Fatal("one hand takes one offer")
		}
		r.put(spaces.Action{ID: "a", Chat: "c", Text: "a", State: spaces.ActionSending})
		s.SendReserved(r.action("a"))
		synctest.Wait()
		if got := r.action("a").State; got != spaces.ActionSent || len(p.accepted()) != 1 {
			t.Errorf("it is %s after %d sends", got, len(p.accepted()))
		}
		if !s.Reserve("b") {
			t.Error("the hand is not free again")
		}
		s.Release("b", false)
		s.stop()
		if s.Reserve("c") {
			t.Error("an egress that has ended takes offers")
		}
	})
}

// What is handed over leaves nothing behind: the outbox is not read for it. What has
// joined it in its lane meanwhile leaves right after it.
func TestWhatWaitsBehindAHandedOverActionLeavesNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := &platform{takes: time.Millisecond}, newRecord()
		s := send(t, p, r, EgressOptions{})
		synctest.Wait()
		hand := func(id spaces.ActionID) {
			s.Reserve(id)
			r.put(spaces.Action{ID: id, Chat: "c", Text: string(id), State: spaces.ActionSending})
			s.SendReserved(r.action(id))
		}
		began, read := time.Now(), r.nexts
		hand("one")
		after(10 * time.Millisecond)
		testutil.Same(t, "looks into an outbox in which nothing waits", 0, r.nexts-read)
		hand("two")
		r.put(spaces.Action{ID: "three", Chat: "c", Text: "three"})
		s.Ring()
		after(10 * time.Millisecond)
		testutil.Same(t, "sent", []string{"one", "two", "three"}, p.texts("c"))
		if took := time.Since(began); took > poll/2 {
			t.Errorf("it took %s", took)
		}
	})
}

// DELIVERY 2.4: a commit that gave no answer may have happened. What it stored as
// being sent does not stay so for ever, and what is under way is not sent twice.
func TestWhatWasMislaidIsFoundAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := &platform{takes: time.Minute}, newRecord()
		s := send(t, p, r, EgressOptions{SendLimit: time.Hour})
		synctest.Wait()
		s.Reserve("under way")
		r.put(spaces.Action{ID: "under way", Chat: "a", Text: "under way", State: spaces.ActionSending})
		s.SendReserved(r.action("under way"))
		synctest.Wait()
		s.Reserve("lost")
		r.put(spaces.Action{ID: "lost", Chat: "b", Text: "lost", State: spaces.ActionSending})
		s.Release("lost", true)
		after(3 * time.Minute)
		for _, id := range []spaces.ActionID{"under way", "lost"} {
			if got := r.action(id).State; got != spaces.ActionSent {
				t.Errorf("%s is %s", id, got)
			}
		}
		if n := len(p.attempted()); n != 2 {
			t.Errorf("%d sends, want one of each", n)
		}
	})
}

// DELIVERY 2.2: a commit that is before the recovery in the record's queue hands over
// what it stores as being sent. That is not taken for left behind, and is sent once.
func TestWhatIsHandedOverBeforeARecoveryIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := &platform{takes: time.Minute}, newRecord()
		s := send(t, p, r, EgressOptions{SendLimit: time.Hour})
		synctest.Wait()
		r.before = func() {
			r.before = nil
			if !s.Reserve("a") {
				t.Error("the egress has no hand free")
			}
			r.put(spaces.Action{ID: "a", Chat: "c", Text: "a", Policy: spaces.ResendOnce, State: spaces.ActionSending})
			s.SendReserved(r.action("a"))
		}
		s.Release("lost", true)
		after(5 * time.Minute)
		if got, n := r.action("a").State, len(p.attempted()); got != spaces.ActionSent || n != 1 {
			t.Errorf("it is %s after %d sends, want one", got, n)
		}
	})
}

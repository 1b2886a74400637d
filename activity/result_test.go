package activity

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// DELIVERY 2.4, K17: what may have arrived is looked for once the platform can show it,
// and is not said twice.
func TestAnUnknownSendIsLookedForAfterAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &searchable{platform: &platform{}, shows: resendAfter - time.Millisecond}
		p.script = took(p.platform)
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "hello"})
		sendWith(t, p, r)
		after(time.Minute)
		if n := len(p.attempted()); n != 1 {
			t.Errorf("sent %d times, want once", n)
		}
	})
}

// F46: a chat that goes on where it was is not asked for ever.
func TestAChatThatMovedToItselfIsOutOfReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		moved := refusal(adapters.Moved)
		moved.MovedTo = "c"
		p := &platform{script: func(call) error { return moved }}
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "hello"})
		send(t, p, r, EgressOptions{})
		after(time.Minute)
		if a := r.action("x"); a.State != spaces.ActionFailed || len(p.attempted()) != 1 {
			t.Errorf("%s after %d attempts, want failed after one", a.State, len(p.attempted()))
		}
	})
}

// I13: what is refused at once, of many chats, pauses sending once: credentials that are
// good again a moment later are used again soon.
func TestManyRefusalsAtOnceAreOnePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const chats = 20
		began := time.Now()
		p := &platform{takes: 100 * time.Millisecond, script: func(call) error {
			if time.Since(began) < firstPause/2 {
				return refusal(adapters.Unauthorized)
			}
			return nil
		}}
		r := newRecord()
		for i := range chats {
			r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprint("x", i)), Chat: fmt.Sprint("c", i), Text: "hello"})
		}
		send(t, p, r, EgressOptions{Unpaced: true})
		after(2 * firstPause)
		if sent := len(p.accepted()); sent != chats || len(p.attempted()) != 2*chats {
			t.Errorf("%d of %d sent after %d attempts, want each after one pause", sent, chats, len(p.attempted()))
		}
	})
}

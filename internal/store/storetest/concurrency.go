package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/spaces"
)

var edgeTests = map[string]func(*testing.T, *world){
	"WhoActsInALargeRoomIsShownToTheGate": actsInACrowd,
	"LeaseEndsInTheInstantItNames":        leaseEnds,
	"GateSpeaksInTheThreadItJudges":       spokenByTheGate,
	"HaltOfARunLeavesWhatItHasDecided":    haltedKeepsItsWord,
	"WhoWokeACyclePaysOnce":               paidOnce,
}

// BLU-03: of a large room the gate is given the members who have been there longest,
// and the author of the message, each once.
func actsInACrowd(t *testing.T, w *world) {
	room := w.family()
	come := w.fact(room, "", spaces.MemberJoined{})
	come.From = spaces.PlatformIdentity{}
	for n := range 300 {
		come.Who = append(come.Who, person(fmt.Sprintf("p%03d", n)))
	}
	w.record(come)
	w.say(room, "p001", "here from the start")
	first := w.last(room).Actor
	var late spaces.EntityID
	for range 2 {
		late = w.say(room, "p299", "who came last").Actor
	}
	var shown []spaces.SpaceMember
	wake := w.claimAs(holder, ada, room, func(j spaces.GateInput) []spaces.GateDecision {
		shown = slices.Clone(j.Members)
		return wakeAll(j)
	})
	count := func(who spaces.EntityID) (n int) {
		for _, m := range shown {
			if m.ID == who {
				n++
			}
		}
		return n
	}
	if len(shown) != 257 || count(first) != 1 || count(late) != 1 {
		t.Errorf("%d members are shown, the first speaker %d times and the last %d times", len(shown), count(first), count(late))
	}
	w.rest(wake, 0)
}

// DELIVERY K7, I8: a lease is over in the very instant that it names, and no sooner.
func leaseEnds(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "one")
	first := w.woken(ada, room)
	ends := w.now.Add(ttl)
	w.now = ends.Add(-time.Millisecond)
	if early := w.claimAs("process-2", ada, room, wakeAll); early != nil {
		t.Fatal("the lease was taken a millisecond before its end")
	}
	w.now = ends
	second := w.claimAs("process-2", ada, room, wakeAll)
	if second == nil || !second.Resumed || second.Lease.Epoch != first.Lease.Epoch+1 {
		t.Fatalf("taken over as %+v", second)
	}
	w.rest(second, 0)
}

// CON-50: what the gate says about a message it says in the thread of the message.
func spokenByTheGate(t *testing.T, w *world) {
	room := w.family()
	w.hears(room, "zoe", "write a book", chat, "7")
	w.claimAs(holder, ada, room, func(j spaces.GateInput) []spaces.GateDecision {
		all := wakeNone(j)
		all[0].Say, all[0].Once = "Not today.", "today"
		return all
	})
	if got := w.deliver(); !cmp.Equal(got, []string{"send " + chat + "/7/ Not today."}) {
		t.Errorf("sent %q", got)
	}
}

// PRD-5.2-A5: a run that is stopped, and not what it has said, is tried again where it
// was on the wire.
func haltedKeepsItsWord(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "hello")}
	w.commit(c)
	due := w.due()
	w.halt(spaces.StopRequest{Run: wake.Cycle.ID})
	w.settle(activity.SendResult{Action: due[0].ID, State: spaces.ActionReady, NotBefore: w.now, Code: "not_sent"})
	again := w.due()
	if len(again) != 1 || again[0].ID != due[0].ID {
		t.Errorf("to be sent: %+v, want what was said", again)
	}
	w.settleAll(again)
	w.stopped(wake, 1)
}

// SECURITY S11: a cycle is counted once for each person whose words woke it, however
// many they were, and for no agent.
func paidOnce(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	zoe, tom := w.say(room, "zoe", "one").Actor, w.say(room, "tom", "two").Actor
	w.say(room, "zoe", "three")
	w.answer(bea, room, "four")
	w.rest(w.woken(ada, room), 0)
	for _, from := range []string{"zoe", "tom"} {
		w.say(room, from, "and now?")
	}
	var spent map[spaces.EntityID]money.UsedTokens
	wake := w.claimAs(holder, ada, room, func(j spaces.GateInput) []spaces.GateDecision {
		spent = j.Senders
		return wakeAll(j)
	})
	// The answer took two steps of 120 tokens, and the rest one.
	if want := (map[spaces.EntityID]money.UsedTokens{zoe: {Tokens: 360, Cost: 3 * stepCost}, tom: {Tokens: 360, Cost: 3 * stepCost}}); !cmp.Equal(spent, want) {
		t.Errorf("spent %v, want %v", spent, want)
	}
	w.rest(wake, 0)
	w.rest(w.woken(bea, room), 0)
}

package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/spaces"
)

// idle returns what could have begun two minutes ago and has not.
func (w *world) idle() alerts.UnclaimedWork {
	w.t.Helper()
	found, err := w.s.Problems.Idle(w.t.Context(), w.now.Add(-2*time.Minute), w.now)
	w.ok(err)
	return found
}

// wantMinds ends the test unless these minds have work that no process has claimed.
func (w *world) wantMinds(why string, want ...alerts.UnclaimedMind) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.idle().Minds, cmpopts.EquateEmpty()); diff != "" {
		w.t.Fatalf("%s: idle minds (-want +got):\n%s", why, diff)
	}
}

// DELIVERY 2.2.8, PRD-12-4: work of a mind that could begin and does not is seen, and
// nothing is that a lease or a time to wait for holds back.
func idleMinds(t *testing.T, w *world) {
	room, began := w.family(), w.now
	club := w.open(spaces.OpenRequest{Key: "club", Name: "Club", Circle: "home", Agents: []spaces.AgentID{"ada"}, At: w.now})
	w.say(room, "zoe", "hello")
	w.say(club, "zoe", "hello")
	w.now = began.Add(2*time.Minute - time.Second)
	w.wantMinds("it is new")
	w.now = began.Add(2 * time.Minute)
	of := alerts.UnclaimedMind{Agent: "ada", Circle: "home", Rooms: 2, Since: began}
	w.wantMinds("two rooms", of)

	wake := w.woken(ada, room)
	of.Rooms, of.Runs = 1, 1
	w.wantMinds("one is taken up", of)
	w.rest(w.woken(ada, club), 0)
	w.wantMinds("both are")

	w.say(room, "zoe", "and tea")
	w.now = w.now.Add(2*time.Minute - time.Second)
	w.commit(w.step(wake, 0))
	w.now = w.now.Add(time.Second)
	w.wantMinds("its run goes on")
	c := w.step(wake, 1)
	c.Judge = wakeAll
	w.commit(c)
	wake.Lease.Expires = w.now.Add(ttl)

	w.now = wake.Lease.Expires.Add(2*time.Minute - time.Second)
	w.wantMinds("a lease has just run out")
	w.now = w.now.Add(time.Second)
	w.wantMinds("a run that nobody goes on with", alerts.UnclaimedMind{Agent: "ada", Circle: "home", Rooms: 1, Since: wake.Lease.Expires})
	wake = w.woken(ada, room)

	back, retry := w.step(wake, 2), w.now.Add(10*time.Minute)
	back.Close = &spaces.CycleClose{Stop: spaces.StopModelError, Back: true, RetryAt: retry}
	w.commit(back)
	w.now = retry.Add(time.Minute)
	w.wantMinds("it is tried again later")
	w.now = retry.Add(3 * time.Minute)
	w.wantMinds("it is not tried again", alerts.UnclaimedMind{Agent: "ada", Circle: "home", Rooms: 1, Since: retry})
}

// The same of timers and waits, and nothing is that a sleep or the gate holds back.
func idleTimes(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	nap, due := w.step(wake, 0), w.now.Add(time.Hour)
	nap.Timers = []spaces.WakeTimer{{ID: "nap", Mind: ada, Kind: spaces.TimerSleep, Due: due, Cycle: wake.Cycle.ID}}
	w.commit(nap)
	w.rest(wake, 1)
	w.say(room, "zoe", "are you there?")
	w.now = due.Add(time.Minute)
	w.wantMinds("it sleeps")
	if w.claim(ada, room) != nil {
		t.Error("it is woken in its sleep")
	}
	w.now = due.Add(2 * time.Minute)
	w.wantMinds("a timer that does not fire", alerts.UnclaimedMind{Agent: "ada", Circle: "home", Rooms: 1, Since: due})
	for _, woken := range w.fire() {
		w.endTimer(&woken)
	}
	w.claimAs(holder, ada, room, wakeNone)
	w.wantMinds("the gate lets nothing pass")

	w.say(room, "zoe", "ask them")
	w.ask(ada, room, "tea?", spaces.WaitSpec{People: true})
	due = w.now.Add(5 * time.Minute)
	w.now = due.Add(time.Minute)
	w.wantMinds("a wait has just ended")
	w.now = due.Add(2 * time.Minute)
	w.wantMinds("a wait whose end nobody is told", alerts.UnclaimedMind{Agent: "ada", Circle: "home", Rooms: 1, Since: due})
}

// DELIVERY 2.2.5, 2.2.8: what is due at the head of its lane and stays there is seen;
// what waits for its time, for what is before it or for its receipt is not.
func idleQueues(t *testing.T, w *world) {
	room, began := w.family(), w.now
	w.speak(room, spaces.RoomEffect{Text: "one"}, spaces.RoomEffect{Text: "two"})
	want := func(why string, queues ...alerts.UnclaimedQueue) {
		t.Helper()
		if diff := cmp.Diff(queues, w.idle().Queues, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(alerts.UnclaimedQueue{}, "First")); diff != "" {
			t.Fatalf("%s: idle queues (-want +got):\n%s", why, diff)
		}
	}
	w.now = began.Add(2*time.Minute - time.Second)
	want("it is new")
	w.now = began.Add(2 * time.Minute)
	want("two wait, one of them for the other", alerts.UnclaimedQueue{Account: account, Waiting: 1, Since: began})
	first := w.idle().Queues[0].First
	claimed := w.due()
	want("it is being sent")
	later := w.now.Add(10 * time.Minute)
	w.settle(activity.SendResult{Action: claimed[0].ID, State: spaces.ActionReady, Code: "limited", NotBefore: later})
	w.now = later.Add(time.Minute)
	want("the platform asked to wait")
	w.now = later.Add(2 * time.Minute)
	want("the time is over", alerts.UnclaimedQueue{Account: account, Waiting: 1, Since: later})
	w.settleAll(w.due())
	want("the next one is the head", alerts.UnclaimedQueue{Account: account, Waiting: 1, Since: began})
	if next := w.idle().Queues[0].First; next <= first {
		t.Errorf("the second action is number %d, the first was %d", next, first)
	}
	w.settleAll(w.due())
	want("nothing is left")
}

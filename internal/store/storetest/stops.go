package storetest

import (
	"testing"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var haltTests = map[string]func(*testing.T, *world){
	"HaltedRunIsOnlyClosed":               haltedRun,
	"HaltTakesBackWhatIsNotSent":          haltUnsent,
	"WhatComesBackFromTheWireIsCancelled": haltOnTheWire,
	"HaltOfNothingMeetsNothing":           haltNothing,
}

func (w *world) halt(h spaces.StopRequest) spaces.StopResult {
	w.t.Helper()
	h.At = w.now
	done, err := w.s.Shell.Halt(w.t.Context(), h)
	w.ok(err)
	return done
}

// stopped closes a wake as its person wanted it.
func (w *world) stopped(wake *spaces.Wake, n int) {
	w.t.Helper()
	c := w.step(wake, n)
	c.Close = &spaces.CycleClose{Stop: spaces.StopCancelled, Rest: "Stopped."}
	w.commit(c)
}

// PRD-5.2-A5, I5: from the halt on every step is refused whole; only the closing
// as cancelled is taken, and it consumes the rows.
func haltedRun(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "write me a book")
	wake := w.woken(ada, room)
	want := []spaces.StoppedRun{{Run: wake.Cycle.ID, Mind: ada, Space: room}}
	testutil.Same(t, "halted", want, w.halt(spaces.StopRequest{Run: wake.Cycle.ID}).Runs)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "chapter one")}
	before := len(w.log(room))
	_, err := w.s.Shell.Commit(t.Context(), c)
	w.is(err, spaces.ErrHalted)
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Wrote a book."}
	_, err = w.s.Shell.Commit(t.Context(), c)
	w.is(err, spaces.ErrHalted)
	if n := len(w.log(room)); n != before {
		t.Errorf("a refused step wrote %d events", n-before)
	}
	w.stopped(wake, 0)
	if more := w.claim(ada, room); more != nil {
		t.Errorf("the stopped message woke again: %+v", more.Rows)
	}
}

// DELIVERY 2.2-7: what is in the outbox of the room is cancelled visibly, and
// the room is told once.
func haltUnsent(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "hello")}
	w.commit(c)
	h := spaces.StopRequest{Space: room, Unsent: true, Say: "Stopped."}
	if done := w.halt(h); done.Unsent != 1 || len(done.Runs) != 1 {
		t.Errorf("halted %+v, want one run and one message", done)
	}
	w.halt(h)
	if f, ok := w.last(room).Body.(spaces.SendFailed); !ok || f.State != spaces.ActionCancelled {
		t.Errorf("the room was told %+v", w.last(room).Body)
	}
	due, err := w.s.Border.Claim(t.Context(), account, w.now, 10)
	w.ok(err)
	if len(due) != 1 || due[0].Text != "Stopped." {
		t.Errorf("to be sent: %+v, want the notice alone", due)
	}
	w.stopped(wake, 1)
}

// A send under way cannot be called back; one that the platform did not take is
// not tried again.
func haltOnTheWire(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "hello")}
	w.commit(c)
	due, err := w.s.Border.Claim(t.Context(), account, w.now, 10)
	w.ok(err)
	if done := w.halt(spaces.StopRequest{Space: room, Unsent: true}); done.Unsent != 0 {
		t.Errorf("%d actions were cancelled on the wire", done.Unsent)
	}
	back := activity.SendResult{Action: due[0].ID, State: spaces.ActionReady, NotBefore: w.now, Code: "not_sent"}
	w.ok(w.s.Border.Settle(t.Context(), w.now, []activity.SendResult{back}))
	if f, ok := w.last(room).Body.(spaces.SendFailed); !ok || f.State != spaces.ActionCancelled {
		t.Errorf("the room was told %+v", w.last(room).Body)
	}
	w.stopped(wake, 1)
}

func haltNothing(t *testing.T, w *world) {
	room := w.family()
	for _, h := range []spaces.StopRequest{{}, {Run: "nobody"}, {Space: room, Unsent: true, Say: "Stopped."}, {Space: "nowhere"}} {
		testutil.Same(t, "halted", spaces.StopResult{}, w.halt(h))
	}
}

package storetest

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// CON-23, CON-30, CON-40, SEQ-16, R-13: the cursor is all that tells what was handled
func closing(t *testing.T, w *world) {
	room := w.family()
	for n := int64(1); n <= 3; n++ {
		e := w.say(room, "zoe", "hello")
		wake := w.woken(ada, room)
		if wake.Cycle.Base != n-1 || wake.Cycle.Epoch != n {
			t.Errorf("cycle %d has base %d and epoch %d", n, wake.Cycle.Base, wake.Cycle.Epoch)
		}
		if done := w.rest(wake, 0); done.N != n {
			t.Errorf("cycle got number %d, want %d", done.N, n)
		}
		ups, err := w.s.Shell.Uplinks(t.Context(), ada)
		w.ok(err)
		if ups[0].Cursor != e.Seq || ups[0].CursorID != e.ID {
			t.Errorf("cursor %d %s, want %d %s", ups[0].Cursor, ups[0].CursorID, e.Seq, e.ID)
		}
		inner := w.inner(ada)
		tail := inner[len(inner)-2:]
		want := []spaces.EventBody{
			spaces.CycleSummarised{Cycle: wake.Cycle.ID, N: n, Text: "Responded."},
			spaces.CycleStopped{Cycle: wake.Cycle.ID, Reason: spaces.StopCompleted},
		}
		testutil.Same(t, "inner log", want, tail)
	}
}

// PRD-5.2-A1
func endHasReason(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Close = &spaces.CycleClose{Stop: spaces.StopBudget, Detail: "daily tokens", Denials: 1, Manifest: spaces.ToolManifest{Hash: "m"}, Plan: []byte("{}")}
	w.commit(c)
	closed, err := w.s.Shell.Cycles(t.Context(), ada, 0, false, 10)
	w.ok(err)
	if len(closed) != 1 || closed[0].Stop != spaces.StopBudget {
		t.Errorf("cycles %+v", closed)
	}
}

// I10: dead after five attempts, with a reason; the next message lives.
func goBack(t *testing.T, w *world) {
	room := w.family()
	bad := w.say(room, "zoe", "unanswerable")
	for n := range 5 {
		wake := w.woken(ada, room)
		if wake.Rows[0].Event != bad.ID || wake.Rows[0].Attempts != n {
			t.Fatalf("attempt %d: rows %+v", n, wake.Rows)
		}
		c := w.step(wake, 0)
		c.Upto = bad.Seq
		c.Close = &spaces.CycleClose{Stop: spaces.StopModelError, Back: true, RetryAt: w.now.Add(time.Minute)}
		if done := w.commit(c); done.N != 0 {
			t.Errorf("a cycle that went back got number %d", done.N)
		}
		if len(w.waiting()) != 0 || w.claim(ada, room) != nil {
			t.Error("the row is due before its time")
		}
		told, err := w.s.Border.Last(t.Context(), room, spaces.MessageRef{})
		w.ok(err)
		if len(told) != 1 || told[0].Woke || told[0].Tries != n+1 || told[0].GaveUp != (n == 4) || told[0].GaveUp != (told[0].Stop == spaces.StopModelError) {
			t.Errorf("after attempt %d the room is told %+v", n, told) // PRD-10-9
		}
		at, waits, err := w.s.Shell.NextTimer(t.Context())
		w.ok(err)
		if n < 4 && (!waits || !at.Equal(w.now.Add(time.Minute))) {
			t.Errorf("next timer %v %t, want the row's time", at, waits)
		}
		w.now = w.now.Add(time.Minute)
	}
	if w.claim(ada, room) != nil {
		t.Error("a row was tried a sixth time")
	}
	ups, err := w.s.Shell.Uplinks(t.Context(), ada)
	w.ok(err)
	if ups[0].Cursor >= bad.Seq {
		t.Errorf("the cursor moved to %d although nothing was handled", ups[0].Cursor)
	}
	w.say(room, "zoe", "and this?")
	w.answer(ada, room, "yes")
}

// DELIVERY 2.2 promise 2: what an endpoint's outage sends back waits for as long as it
// lasts, and what is held against a row after it counts from there.
func goBackSpared(t *testing.T, w *world) {
	room := w.family()
	said := w.say(room, "zoe", "are you there?")
	back := func(spared bool) {
		wake := w.woken(ada, room)
		if wake.Rows[0].Event != said.ID {
			t.Fatalf("rows %+v", wake.Rows)
		}
		c := w.step(wake, 0)
		c.Close = &spaces.CycleClose{Stop: spaces.StopMaxRetries, Back: true, Spared: spared, RetryAt: w.now.Add(time.Minute)}
		w.commit(c)
		if w.claim(ada, room) != nil {
			t.Error("the row is due before its time")
		}
		w.now = w.now.Add(time.Minute)
	}
	for range 20 {
		back(true)
	}
	for range 2 {
		back(false)
	}
	back(true)
	back(false)
	if w.claim(ada, room) != nil {
		t.Error("a row that was to blame is tried for ever")
	}
}

// CON-31, CON-34, PRD-7.1-A1: after each closed cycle its number, its turns and their
// tokens are there for the next process.
func closedInOrder(t *testing.T, w *world) {
	room := w.family()
	for range 4 {
		w.say(room, "zoe", "hello")
		wake := w.woken(ada, room)
		c := w.step(wake, 0)
		c.Turns = []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "a", Tokens: 3}, {Role: spaces.RoleAssistant, Text: "b", Tokens: 4}}
		w.commit(c)
		w.rest(wake, 1)
	}
	w.s = w.s.Restart(t, false)
	got, err := w.s.Shell.Cycles(t.Context(), ada, 1, true, 2)
	w.ok(err)
	if len(got) != 2 || got[0].N != 2 || got[1].N != 3 || len(got[1].Turns) != 2 || got[1].Tokens != 7 || got[1].Rest != "Responded." {
		t.Errorf("cycles %+v, want the second and the third with their turns", got)
	}
	bare, err := w.s.Shell.Cycles(t.Context(), ada, 0, false, 10)
	w.ok(err)
	if len(bare) != 4 || bare[0].Turns != nil {
		t.Errorf("cycles %+v, want four without turns", bare)
	}
}

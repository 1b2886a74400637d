package storetest

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var turnTests = map[string]func(*testing.T, *world){
	"RowThatIsPutOffIsJudgedAgainThen": putOff,
	"AgentsThatTakeTurnsWaitForARun":   inTurn,
}

// A row that the gate puts off wakes nobody until then; with each new one it is judged again.
func putOff(t *testing.T, w *world) {
	room := w.family()
	until := w.now.Add(time.Minute)
	later := func(j spaces.GateInput) []spaces.GateDecision {
		out := wakeNone(j)
		for i := range out {
			if j.At.Before(until) {
				out[i].Later = until
			} else {
				out[i].Wake = true
			}
		}
		return out
	}
	w.say(room, "zoe", "hm")
	if wake := w.claimAs(holder, ada, room, later); wake != nil {
		t.Fatalf("woken at once: %+v", wake.Rows)
	}
	testutil.Same(t, "places with something to do", 0, len(w.waiting()))
	if at, waits, err := w.s.Shell.NextTimer(t.Context()); err != nil || !waits || !at.Equal(until) {
		t.Errorf("the next look is due %v %t %v, want %v", at, waits, err, until)
	}
	w.now = w.now.Add(10 * time.Second)
	w.say(room, "zoe", "yes")
	if wake := w.claimAs(holder, ada, room, later); wake != nil {
		t.Fatalf("woken by the second: %+v", wake.Rows)
	}
	w.now = until.Add(-time.Millisecond)
	testutil.Same(t, "places with something to do", 0, len(w.waiting()))
	w.now = until
	testutil.Same(t, "places with something to do then", 1, len(w.waiting()))
	wake := w.claimAs(holder, ada, room, later)
	if wake == nil || len(wake.Rows) != 2 {
		t.Fatalf("woken then by %+v", wake)
	}
	w.rest(wake, 0)
}

// Where agents take turns a claim takes nothing while another agent has a run under way, and
// loses nothing; a run that lasts too long is not waited for.
func inTurn(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	w.say(room, "zoe", "both of you")
	first := w.woken(ada, room)
	turn := func() *spaces.Wake {
		wake, err := w.s.Shell.Claim(t.Context(), spaces.WakeClaim{Mind: bea, Space: room, Holder: holder, TTL: ttl, At: w.now, Judge: wakeAll, InTurn: true})
		w.ok(err)
		return wake
	}
	if wake := turn(); wake != nil {
		t.Fatalf("bea began beside ada: %+v", wake.Rows)
	}
	w.rest(first, 0)
	second := turn()
	if second == nil {
		t.Fatal("bea did not begin after ada")
	}
	w.rest(second, 0)
	w.say(room, "zoe", "again")
	hangs := w.woken(ada, room)
	w.now = w.now.Add(3 * time.Minute)
	late := turn()
	if late == nil {
		t.Fatal("bea waits for a run that hangs")
	}
	w.rest(late, 0)
	w.rest(hangs, 0)
}

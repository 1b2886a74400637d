package storetest

import (
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// DESIGN 9: what wakes agents in chats that no entry names is what the file says now;
// rooms with an entry are left alone, and so are groups where servers have one.
func roused(t *testing.T, w *world) {
	keyed := w.open(opening("family", "ada"))
	let := func(id string, direct bool) spaces.SpaceID {
		o := opening("", "ada")
		o.Direct, o.Closed, o.Chats[0].Chat = direct, direct, id
		return w.open(o)
	}
	direct, group := let("direct", true), let("group", false)
	wakes := func(id spaces.SpaceID) spaces.WakePolicy {
		t.Helper()
		s, _, err := w.s.Shell.Space(t.Context(), id)
		w.ok(err)
		if s.Direct != (id == direct) || s.Closed != (id == direct) || s.Guest {
			t.Errorf("%s is no longer what it was: %+v", id, s)
		}
		return s.Wake
	}
	for i, onlyDirect := range []bool{true, false, false} {
		n, err := w.s.Border.Rouse(t.Context(), account, spaces.WakeAll, onlyDirect)
		w.ok(err)
		if n != []int{1, 1, 0}[i] {
			t.Errorf("%d. time: %d rooms", i+1, n)
		}
		if onlyDirect {
			testutil.Same(t, "what wakes in the group", spaces.WakeAuto, wakes(group))
		}
	}
	got := []spaces.WakePolicy{wakes(keyed), wakes(direct), wakes(group)}
	testutil.Same(t, "what wakes", []spaces.WakePolicy{spaces.WakeAuto, spaces.WakeAll, spaces.WakeAll}, got)
	o := opening("", "ada")
	o.Guest, o.Chats[0].Chat = true, "guest:1"
	if s, _, err := w.s.Shell.Space(t.Context(), w.open(o)); err != nil || !s.Guest {
		t.Errorf("the room of a guest is %+v, error %v", s, err)
	}
	w.sound()
}

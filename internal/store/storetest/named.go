package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/spaces"
)

// R-23, S6, PLATFORMS 2.4: an agent's message calls people by the platform's ids,
// three at most, and may be shown beside its thread.
func namedPeople(t *testing.T, w *world) {
	room := w.family()
	e := spaces.Said{Text: "@zoe @ada @tom @ann @joe", Mentions: []spaces.EntityID{"agent:ada"}, Broadcast: true}
	m := w.message(room, "zoe", "")
	m.Event.Body = e
	m.Mentions = []spaces.Identity{person("zoe"), person("tom"), {Platform: "slack", Scope: "T1", User: "U1", Kind: spaces.Human, Name: "Sue"}, person("ann"), person("joe")}
	w.record(m)
	got, broadcast, err := w.s.Border.Named(t.Context(), account, w.last(room).ID)
	w.ok(err)
	if diff := cmp.Diff([]spaces.Identity{person("zoe"), person("tom"), person("ann")}, got); diff != "" {
		t.Errorf("named (-want +got):\n%s", diff)
	}
	if !broadcast {
		t.Error("the message is not shown beside its thread")
	}
	if got, broadcast, err = w.s.Border.Named(t.Context(), account, "nothing"); err != nil || len(got) != 0 || broadcast {
		t.Errorf("of no message: %+v, %t, %v", got, broadcast, err)
	}
}

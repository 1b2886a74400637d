package storetest

import (
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// DESIGN 9: of which entry of a server a room is, is known to every process.
func served(t *testing.T, w *world) {
	room, other := w.open(opening("family", "ada")), w.open(opening("team", "ada"))
	of := func(id spaces.SpaceID) string {
		t.Helper()
		entry, err := w.s.Border.ServedBy(t.Context(), id)
		w.ok(err)
		return entry
	}
	testutil.Same(t, "at first", "", of(room))
	w.ok(w.s.Border.Serve(t.Context(), room, "guild:1"))
	w.ok(w.s.Border.Serve(t.Context(), room, "guild:2"))
	testutil.Same(t, "noted", "guild:2", of(room))
	testutil.Same(t, "beside it", "", of(other))
	all, err := w.s.Border.Served(t.Context())
	w.ok(err)
	testutil.Same(t, "all", map[spaces.SpaceID]string{room: "guild:2"}, all)
	w.sound()
}

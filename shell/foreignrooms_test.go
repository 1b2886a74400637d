package shell

import (
	"strconv"
	"testing"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// SECURITY S5: what a mind keeps of the rooms it looks into is bounded, however many of
// them the process has kept and given up since.
func TestWhatWasSeenOfRoomsGoesWithThem(t *testing.T) {
	s := New(Options{})
	m := s.minds.get(spaces.Mind{Agent: "ada", Circle: "c"})
	m.seats = []hud.RoomView{{}}
	for i := range 2 * maxShelves {
		x := s.library.take(spaces.SpaceID(strconv.Itoa(i)))
		if err := m.unsee(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.unseen); n > maxShelves {
		t.Errorf("the mind holds %d rooms, the process %d", n, len(s.library.all))
	}
}

package shell

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// Issue 7: ten thousand minds that have nothing to do cost little beyond the record.
func TestWhatIsQuicklyReadAgainIsForgottenFirst(t *testing.T) {
	ms := newMinds(nil, 8) // of which two are quick
	at := time.Unix(1_700_000_000, 0)
	use := func(name string, events int64) *mind {
		m := ms.get(spaces.Mind{Agent: "ada", Circle: spaces.CircleID(name)})
		room := hud.NewRoom(spaces.Space{ID: spaces.SpaceID(name)})
		room.Apply(spaces.Event{Seq: events, Body: spaces.MessagePosted{Text: "hello"}})
		m.seats = []hud.RoomView{{Room: room}}
		at = at.Add(time.Second)
		m.lastUse = at
		return m
	}
	kept := func() (names []string) {
		for id := range ms.all {
			names = append(names, string(id.Circle))
		}
		slices.Sort(names)
		return names
	}
	use("old", page+1)
	use("busy", 1).begin("c1", "busy")
	for i := range 5 {
		use(fmt.Sprint("quick", i), page)
	}
	if got := kept(); !slices.Equal(got, []string{"busy", "old", "quick4"}) {
		t.Errorf("among quick ones are kept: %q", got)
	}
	for i := range 8 {
		use(fmt.Sprint("slow", i), page+1)
	}
	if got := kept(); slices.Contains(got, "old") || len(got) != 8 || !slices.Contains(got, "busy") {
		t.Errorf("of many are kept: %q", got)
	}
}

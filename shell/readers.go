package shell

import (
	"slices"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// readersOf returns who is in all of the rooms, sorted: who may learn what was
// learned in them together (SECURITY S5). Nobody is in a room without a seat.
func readersOf(seats []hud.RoomView, rooms []spaces.SpaceID) []spaces.EntityID {
	var all []spaces.EntityID
	rooms = slices.Sorted(slices.Values(rooms))
	for n, id := range slices.Compact(rooms) {
		var here []spaces.EntityID
		for i := range seats {
			if seats[i].Uplink.Space != id {
				continue
			}
			for _, x := range seats[i].Room.Members() {
				here = append(here, x.ID)
			}
		}
		if n == 0 {
			all = here
			continue
		}
		all = slices.DeleteFunc(all, func(who spaces.EntityID) bool { return !slices.Contains(here, who) })
	}
	slices.Sort(all)
	return all
}

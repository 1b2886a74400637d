package shell

import (
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// carried returns the cycles that the mind still carries: not those in a room
// where /new was used since. m.mu is held.
func (m *mind) carried(cycles []spaces.ClosedCycle) []spaces.ClosedCycle {
	left := map[spaces.SpaceID]time.Time{}
	for i := range m.seats {
		if u := &m.seats[i].Uplink; !u.FreshAt.IsZero() {
			left[u.Space] = u.FreshAt
		}
	}
	behind := func(c spaces.ClosedCycle) bool {
		at, ok := left[c.Space]
		return ok && !c.Ended.After(at)
	}
	if len(left) == 0 || !slices.ContainsFunc(cycles, behind) {
		return cycles
	}
	return slices.DeleteFunc(slices.Clone(cycles), behind)
}

// renewed reports whether /new was used in a room since the keyframe was
// cut: it still shows what is to be left behind. m.mu is held.
func (m *mind) renewed() bool {
	return m.keyframe != nil && slices.ContainsFunc(m.seats, func(s hud.RoomView) bool { return s.Uplink.FreshAt.After(m.keyframe.At) })
}

// condensed returns the digests that the mind still carries: not those that were made of
// what /new left behind since. m.mu is held.
func (m *mind) condensed() []spaces.CycleSummary {
	left := slices.DeleteFunc(slices.Clone(m.seats), func(s hud.RoomView) bool { return s.Uplink.Fresh == 0 })
	if len(left) == 0 {
		return m.digests
	}
	behind := func(id spaces.EventID) bool {
		return slices.ContainsFunc(left, func(s hud.RoomView) bool {
			x := s.Room.Chat.Find(id)
			return x != nil && x.Seq <= s.Uplink.Fresh
		})
	}
	return slices.DeleteFunc(slices.Clone(m.digests), func(d spaces.CycleSummary) bool { return slices.ContainsFunc(d.Sources, behind) })
}

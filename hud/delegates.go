package hud

import "github.com/trestle-bridge/trestle/spaces"

// delegates returns what a keyframe is made of, in its order: what changes
// least first, the active room last (GTS-06).
func (v *View) delegates(absorbed, kept []spaces.ClosedCycle, tokens int) []Delegate {
	q := v.query("")
	terms := q.Terms()
	left := map[spaces.EventID]struct{}{}
	for _, ts := range [][]spaces.ClosedCycle{kept, {{Turns: v.Current}}} {
		for i := range ts {
			for k := range ts[i].Turns {
				for _, id := range ts[i].Turns[k].Refs {
					left[id] = struct{}{}
				}
			}
		}
	}
	leave := func(id spaces.EventID) bool { _, ok := left[id]; return ok }
	ds := []Delegate{
		v.spaceList(), v.goalList(), v.planList(), v.memoryList(terms), v.noteList(terms), v.bookmarkList(), v.fileList(), v.summaryList(absorbed, len(kept), terms),
	}
	share := 0.0
	for i := range v.Seats {
		share += v.focus(&v.Seats[i])
	}
	reserve := float64(tokens*v.Limits.withDefaults().NewestShare) / 100
	var active Delegate
	for i := range v.Seats {
		s := &v.Seats[i]
		h := v.history(s, q, leave, tokens, int(reserve*v.focus(s)/share))
		if s.Uplink.Space == v.Active {
			active = h
			continue
		}
		ds = append(ds, h)
	}
	if active != nil {
		ds = append(ds, active)
	}
	return ds
}

package hud

import "slices"

// A Level tells how strongly a part of a context is compressed: 1 shows all of it, 5
// next to nothing (SEQ-47). Levels are not set by anybody: they are what the fit
// came to, told in the words people have for it.
type Level struct {
	Of    string  `json:"of"`    // an area of the plan, or "all"
	Level int     `json:"level"` // 1 to 5
	Share float64 `json:"share"` // of its elements that were looked at, by how much of each is shown (SEQ-71)
}

// The shares from which on a part is at the levels 1 to 4; threads
// that are kept, partly kept and summarised have the ratios between them (SEQ-68,
// SEQ-69, SEQ-70).
var levelShares = [...]float64{0.995, 0.7, 0.4, 0.1}

// shares are how much of an element its forms show.
var shares = map[FormName]float64{Full: 1, Trimmed: 0.7, Essential: 0.5, OneLine: 0.4, CountOnly: 0.1, Nothing: 0}

// levels returns the level of the whole and of each area, in the order of the items.
func levels(items []PlanItem) []Level {
	type sum struct{ shown, elements float64 }
	var areas []string
	sums := map[string]*sum{"all": {}}
	for i := range items {
		item := &items[i]
		if sums[item.Area] == nil {
			sums[item.Area] = &sum{}
			areas = append(areas, item.Area)
		}
		for _, of := range []string{"all", item.Area} {
			sums[of].elements++
			sums[of].shown += shares[item.Form]
		}
	}
	if len(areas) == 0 {
		return nil
	}
	told := make([]Level, 0, 1+len(areas))
	for _, area := range slices.Insert(areas, 0, "all") {
		share := sums[area].shown / sums[area].elements
		level := slices.IndexFunc(levelShares[:], func(from float64) bool { return share >= from }) + 1
		if level == 0 {
			level = len(levelShares) + 1
		}
		told = append(told, Level{area, level, score(share)})
	}
	return told
}

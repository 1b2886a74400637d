package hud

import (
	"slices"
)

// A FramePlan says what is in a frame or keyframe, what it cost, and why.
type FramePlan struct {
	Cause  string     `json:"cause,omitempty"` // of a cut
	Budget int        `json:"budget"`          // tokens it had to keep to
	Tokens int        `json:"tokens"`
	Exact  bool       `json:"exact"` // false: Tokens is an upper bound, nothing had to be counted
	Fixed  int        `json:"fixed,omitempty"`
	Kept   int        `json:"kept,omitempty"` // tokens of the turns that a cut left behind its keyframe
	Items  []PlanItem `json:"items"`
	// Levels tell of a cut how strongly its parts are compressed.
	Levels []CompressionLevel `json:"levels,omitempty"`
	// Bundles tell of a cut what it left of each connection span, room by room, the
	// oldest first.
	Bundles []SpanBundle `json:"bundles,omitempty"`
	// Analyses tell of a cut what it found in each room before it chose.
	Analyses []CompactionAnalysis `json:"analyses,omitempty"`
	// Shed lists what had to go from this one frame, in the order it went.
	Shed []PlanItem `json:"shed,omitempty"`
}

// Freed returns the tokens of what had to go from this one frame.
func (p *FramePlan) Freed() int {
	n := 0
	for i := range p.Shed {
		n += p.Shed[i].Tokens
	}
	return n
}

// A PlanItem is one element, or a group of those that share a fate.
type PlanItem struct {
	Area   string   `json:"area"`
	What   string   `json:"what,omitempty"`
	Form   FormName `json:"form"`
	Tokens int      `json:"tokens"`
	// Score is the value of the element in full; 0 where nothing had to be chosen.
	Score float64 `json:"score,omitempty"`
	Why   string  `json:"why,omitempty"`
}

// A CompressionLevel is how strongly a part of a context is compressed: 1 shows all of
// it, 5 next to nothing. Levels describe the result of the fit, which stays between
// Limits.LevelStart and Limits.LevelMax.
type CompressionLevel struct {
	Of    string  `json:"of"`    // an area of the plan, or "all"
	Level int     `json:"level"` // 1 to 5
	Share float64 `json:"share"` // shown of its candidate elements
}

// The shares from which on a part is at the levels 1 to 4; threads
// that are kept, partly kept and summarised have these ratios.
var levelShares = [...]float64{0.995, 0.7, 0.4, 0.1}

const maxLevel = len(levelShares) + 1

// formShares are how much of an element its forms show.
var formShares = map[FormName]float64{Full: 1, Trimmed: 0.7, Essential: 0.5, OneLine: 0.4, CountOnly: 0.1, Nothing: 0}

// levelsOf returns the level of the whole and of each area, in the order of the items.
func levelsOf(items []PlanItem) []CompressionLevel {
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
			sums[of].shown += formShares[item.Form]
		}
	}
	if len(areas) == 0 {
		return nil
	}
	told := make([]CompressionLevel, 0, 1+len(areas))
	for _, area := range slices.Insert(areas, 0, "all") {
		share := sums[area].shown / sums[area].elements
		told = append(told, CompressionLevel{area, levelOf(share), roundScore(share)})
	}
	return told
}

// levelOf returns the level at which that much of a part is shown.
func levelOf(share float64) int {
	if i := slices.IndexFunc(levelShares[:], func(from float64) bool { return share >= from }); i >= 0 {
		return i + 1
	}
	return maxLevel
}

// restrictLevels leaves an element the forms between two levels. One that has none so poor
// begins at its poorest, and one that has none so rich is shown at its richest.
func (e *Element) restrictLevels(start, most int) {
	from := slices.IndexFunc(e.Forms, func(f Form) bool { return levelOf(formShares[f.Name]) >= start })
	if from < 0 {
		from = len(e.Forms) - 1
	}
	to := from + 1
	for to < len(e.Forms) && levelOf(formShares[e.Forms[to].Name]) <= most {
		to++
	}
	e.Forms = e.Forms[from:to]
}

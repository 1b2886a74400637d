package hud

// A Plan says what is in a frame or keyframe, what it cost, and why.
type Plan struct {
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
	Analyses []Analysis `json:"analyses,omitempty"`
	// Shed lists what had to go from this one frame, in the order it went.
	Shed []PlanItem `json:"shed,omitempty"`
}

// Freed returns the tokens of what had to go from this one frame.
func (p *Plan) Freed() int {
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
	// Score is what the element is worth in full, as the fit weighed it; 0 where
	// nothing had to be weighed.
	Score float64 `json:"score,omitempty"`
	Why   string  `json:"why,omitempty"`
}

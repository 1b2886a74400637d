package shell

import (
	"slices"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// A memoryLayer is one kind of memory in a frame, as the live event
// memory_injected tells it (PRD-6.2-A2).
type memoryLayer struct {
	Layer  string `json:"layer"` // keyframe, log or recalled
	Tokens int    `json:"tokens"`
	Facts  int    `json:"facts"` // memories, cycles or lines
}

// tellLayers tells which memory went into a frame: what the keyframe keeps of
// the past, the cycles shown in full, and the lines recalled for this wake.
// What is as it was in the last frame of the cycle is not told again.
func (c *cycle) tellLayers(v *hud.MindView, f *hud.Frame) {
	var layers []memoryLayer
	tokens, facts := 0, 0
	for _, item := range f.Plan.Items {
		l := memoryLayer{Layer: item.Area, Tokens: item.Tokens}
		switch item.Area {
		case "keyframe":
			l.Facts = len(v.Self.Memories.All)
		case "log":
			if item.What == "this cycle" {
				continue
			}
			l.Facts = len(v.Closed)
		case "recalled":
			l.Facts = len(c.recalled)
		default:
			continue
		}
		layers = append(layers, l)
		tokens, facts = tokens+l.Tokens, facts+l.Facts
	}
	same := slices.Equal(layers, c.layers)
	c.layers = layers
	if len(layers) > 0 && !same {
		c.shell.publish("memory_injected", string(c.phase), c.facts("step", c.step, "layers", layers, "tokens", tokens, "facts", facts))
	}
}

// tellDenial tells of an act that was refused.
func (c *cycle) tellDenial(d *spaces.Denial) {
	c.shell.publish("tool_permission_denied", d.Reason, c.facts("act", d.Act, "code", d.Code, "tier", d.Tier, "risk", d.Risk, "hint", d.Hint))
}

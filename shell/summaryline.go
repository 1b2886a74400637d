package shell

import (
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// derive makes the rest line of a cycle whose agent wrote none from what it did
// (CON-23), without copying anybody's words.
func (c *cycle) derive(last spaces.StepCommit) string {
	who := c.people()
	var did []string
	for _, t := range append(slices.Clip(c.turns), last.Turns...) {
		for _, call := range t.Calls {
			if !slices.Contains(did, call.Name) {
				did = append(did, call.Name)
			}
		}
	}
	switch {
	case c.wake.Timer != nil:
		who = "a timer"
	case who == "" && len(c.wake.Waits) > 0:
		who = "the end of a wait"
	case who == "":
		who = "nobody"
	}
	if c.spoke+spoken(last.Effect) == 0 {
		return "Read what " + who + " wrote; said nothing."
	}
	line := "Responded to " + who + ". Acts: " + strings.Join(did, ", ") + "."
	if last.Close.Stop == spaces.StopWaitingReply {
		line += " Waits " + last.Close.Detail + "."
	}
	return line
}

// people names who woke the cycle.
func (c *cycle) people() string {
	m := c.mind
	m.mu.Lock()
	defer m.mu.Unlock()
	seat := m.seat(c.wake.Cycle.Space)
	if seat == nil {
		return ""
	}
	var names []string
	for _, e := range c.wake.Events {
		i := slices.IndexFunc(seat.Room.Members(), func(x spaces.SpaceMember) bool { return x.ID == e.Actor })
		if i < 0 {
			continue
		}
		if name := hud.CleanName(seat.Room.Members()[i].Name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

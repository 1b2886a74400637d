package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// A crossSpaceTool deed may act in another space than the active one.
type crossSpaceTool interface{ where() string }

func (a sendMessage) where() string  { return a.Space }
func (a sendFile) where() string     { return a.Space }
func (a readMessages) where() string { return a.Space }

// where returns the space an act is meant for; empty when there is none.
func (c *cycle) where(st *stepContext, a parsedCall) spaces.SpaceID {
	if d, ok := a.deed.(crossSpaceTool); ok && d.where() != "" {
		if seat := st.seat(d.where()); seat != nil {
			return seat.Uplink.Space
		}
	}
	return st.active
}

// without reports whether an act has been taken from the agent in a space. System
// acts cannot be taken (PRD-6.1-2).
func (c *cycle) without(s *toolSpec, space spaces.SpaceID) bool {
	if s.tier == spaces.TierSystem {
		return false
	}
	set := c.shell.Settings(c.mind.id.Agent, space)
	return slices.Contains(set.Without, s.name) || s.outside != nil && s.outside.deniedBy(set.DeniedTools)
}

// deniedBy reports whether one of the patterns names the tool or its server.
func (t *OutsideTool) deniedBy(patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		title, err := path.Match(p, t.Title)
		server, _ := path.Match(p, t.Server)
		return err == nil && (title || server)
	})
}

// speaks reports whether an agent has the act by which it says something in a space.
func (s *Shell) speaks(a spaces.AgentID, space spaces.SpaceID) bool {
	return !slices.Contains(s.Settings(a, space).Without, "send_message")
}

// muted reports whether a person has silenced the agent in a space.
func muted(st *stepContext, space spaces.SpaceID) bool {
	seat := st.view.Seat(space)
	return seat != nil && seat.Uplink.Muted(st.now)
}

// insteadOf says what to do about an act that the agent is without: the first of the
// room's other agents that has it is asked before anybody is told no (PRD-5.1-6). Who
// does not speak where it is cannot ask.
func (c *cycle) insteadOf(st *stepContext, s *toolSpec, space spaces.SpaceID) string {
	seat := st.view.Seat(space)
	if seat == nil || !c.shell.speaks(c.mind.id.Agent, st.active) {
		return "Do without it."
	}
	for _, m := range seat.Room.Members() {
		id, agent := m.ID.IsAgent()
		if !agent || m.ID == st.self() || slices.Contains(c.shell.Settings(id, space).Without, s.name) {
			continue
		}
		return fmt.Sprintf("%s may do that there: ask with @%[1]s, and say what is wanted.", hud.CleanName(m.Name))
	}
	return "Nobody here may: say so if somebody asks for it."
}

// options says what is out of the ordinary about what the agent may do now; empty
// when nothing is (DESIGN 6).
func (c *cycle) options() string {
	var lines []string
	set := c.shell.Settings(c.mind.id.Agent, c.active)
	off := slices.Clone(set.Without)
	for _, s := range c.tools.specs {
		if s.outside != nil && s.outside.deniedBy(set.DeniedTools) {
			off = append(off, s.name)
		}
	}
	for _, o := range c.tools.skills {
		if skillDenied(o.Name, set.DeniedTools) {
			off = append(off, "skill "+o.Name)
		}
	}
	if len(off) > 0 {
		lines = append(lines, "TAKEN FROM YOU HERE: "+strings.Join(off, ", "))
	}
	if c.settings.GreetPlainly && c.greeted() {
		lines = append(lines, "Only greetings woke you: greet back, or rest. There is nothing to look up.")
	}
	return strings.Join(lines, "\n")
}

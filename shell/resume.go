package shell

import (
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// retrace takes over what the cycle did before its process ended: a message
// that was said stays said, and what was done is not done again.
func (c *cycle) retrace(inner []spaces.EventBody) {
	var step []spaces.ToolCalled // of the step being read
	useful := 0
	here := spaceVisit{space: c.wake.Cycle.Space}
	for _, b := range inner {
		if a, ok := b.(spaces.ToolCalled); ok {
			if len(step) > 0 && a.Step != step[0].Step {
				c.judgeStep(step, useful)
				step, useful = nil, 0
			}
			step = append(step, a)
		}
		if r, ok := b.(spaces.ToolReturned); ok && c.retold(r) {
			continue
		}
		if r, ok := b.(spaces.ToolReturned); ok && len(step) > 0 {
			if r.OK || r.Note == staleNote {
				useful++
			}
			c.recount(&here, step[len(step)-1], r) // a result follows its act
		}
		if _, ok := b.(spaces.CallDenied); ok {
			c.denials++
		}
	}
	c.judgeStep(step, useful)
	here.space = c.active // also where it is not known how it came there
	c.leave(&here)
}

// A spaceVisit is what was done while a space was the active one.
type spaceVisit struct {
	space spaces.SpaceID
	done  []string
}

// leave takes over what was done in a visit, and begins one of a space that is not known
// by its id. In those between the first and the last one anything may be done again.
func (c *cycle) leave(v *spaceVisit) {
	for _, key := range v.done {
		if v.space != unknownSpace {
			c.done[doneIn(v.space, key)] = true
		}
	}
	*v = spaceVisit{space: unknownSpace}
}

// unknownSpace is no id of a space.
const unknownSpace spaces.SpaceID = "?"

// retold notes the end of a wait that the cycle was shown, and reports whether the
// result is one: it is about the question that it waited for.
func (c *cycle) retold(r spaces.ToolReturned) bool {
	end := slices.ContainsFunc(c.wake.Waits, func(w spaces.PendingWait) bool {
		return w.Call == r.CallID && slices.Contains(r.Refs[:min(1, len(r.Refs))], w.Message)
	})
	if end {
		c.overs[r.Refs[0]] = true
	}
	return end
}

// recount counts one act of an earlier process as if this one had performed it.
func (c *cycle) recount(here *spaceVisit, a spaces.ToolCalled, r spaces.ToolReturned) {
	s := c.tools.find(a.Name)
	switch {
	case r.Note == runNote && s != nil:
		here.done = append(here.done, doneKey(s, a.Args))
	case r.Note == staleNote:
		c.reread = true // what has come since is judged first
	case r.OK && s != nil && s.name == "enter_space":
		c.leave(here)
	case r.OK && s != nil:
		here.done = append(here.done, doneKey(s, a.Args))
		switch {
		case s.name == "fork":
			c.branch = rehearsalOf(c.wake.Cycle.ID)
		case s.room && c.branch == "":
			c.spoke++
		}
	}
}

// judgeStep counts a step that asked for nothing we could do.
func (c *cycle) judgeStep(step []spaces.ToolCalled, useful int) {
	if len(step) > 0 && useful == 0 {
		c.repairs++
	}
}

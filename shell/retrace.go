package shell

import (
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// retrace takes over what the cycle did before its process ended: a message
// that was said stays said, and what was done is not done again.
func (c *cycle) retrace(inner []spaces.Body) {
	var step []spaces.Acted // of the step being read
	useful := 0
	for _, b := range inner {
		if a, ok := b.(spaces.Acted); ok {
			if len(step) > 0 && a.Step != step[0].Step {
				c.judgeStep(step, useful)
				step, useful = nil, 0
			}
			step = append(step, a)
		}
		if r, ok := b.(spaces.Result); ok && c.retold(r) {
			continue
		}
		if r, ok := b.(spaces.Result); ok && len(step) > 0 {
			if r.OK || r.Note == staleNote {
				useful++
			}
			c.recount(step[len(step)-1], r) // a result follows its act
		}
		if _, ok := b.(spaces.Denied); ok {
			c.denials++
		}
	}
	c.judgeStep(step, useful)
}

// retold notes the end of a wait that the cycle was shown, and reports whether the
// result is one: it is about the question that it waited for.
func (c *cycle) retold(r spaces.Result) bool {
	end := slices.ContainsFunc(c.wake.Waits, func(w spaces.Wait) bool {
		return w.Call == r.CallID && slices.Contains(r.Refs[:min(1, len(r.Refs))], w.Message)
	})
	if end {
		c.overs[r.Refs[0]] = true
	}
	return end
}

// recount counts one act of an earlier process as if this one had performed it.
func (c *cycle) recount(a spaces.Acted, r spaces.Result) {
	s := c.shell.catalogue.find(a.Name)
	switch {
	case r.Note == runNote && s != nil:
		c.done[doneKey(s, a.Args)] = true
	case r.Note == staleNote:
		c.reread = true // what has come since is judged first
	case r.OK && s != nil:
		c.done[doneKey(s, a.Args)] = true
		switch {
		case s.name == "fork":
			c.branch = rehearsalOf(c.wake.Cycle.ID)
		case s.room && c.branch == "":
			c.spoke++
		}
	}
}

// judgeStep counts a step that asked for nothing we could do.
func (c *cycle) judgeStep(step []spaces.Acted, useful int) {
	if len(step) > 0 && useful == 0 {
		c.repairs++
	}
}

package shell

import (
	"context"
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// The notes on the results of speech that was held back.
const (
	staleNote = "stale"     // others spoke meanwhile
	runNote   = "agent_run" // agents have said enough until a person speaks
)

// stale records that the words were held back because others spoke meanwhile;
// the new lines are shown and the agent is asked once more. With no step left,
// or when it has been asked already, the words go as written.
func (c *cycle) stale(ctx context.Context, sc spaces.StepCommit, st *stepContext, d stepResult) error {
	c.reread, c.again = true, c.step+1
	c.takeBack(st)
	c.log.Info("speech was stale", "step", c.step)
	return c.withhold(ctx, sc, st, d, toolResult{note: staleNote, body: map[string]any{
		"success": false, "error": staleNote,
		"message": "Not sent: others wrote meanwhile. Read the new lines, then send again, change it, or leave it.",
	}})
}

// takeBack forgets that a step spoke: the same words may be meant again. What earlier
// steps said stays said.
func (c *cycle) takeBack(st *stepContext) {
	for _, key := range st.spoken {
		delete(c.done, key)
	}
}

// hushed records that the words were refused because agents have spoken often
// enough in a row: several that thought at once passed the gate together (S13).
func (c *cycle) hushed(ctx context.Context, sc spaces.StepCommit, st *stepContext, d stepResult) error {
	c.repairs++
	c.denials++
	out := st.deny(runNote, "Agents have said enough in a row there.", "Rest until a person speaks.")
	denial := &st.denials[len(st.denials)-1]
	i := slices.IndexFunc(d.said.Calls, func(call spaces.TurnCall) bool { return c.tools.isRoom(call.Name) })
	c.tools.blame(denial, d.said.Calls[i].Name)
	sc.Inner = append(slices.Clip(sc.Inner), spaces.CallDenied{Denial: *denial})
	c.tellDenial(denial)
	return c.withhold(ctx, sc, st, d, out)
}

// withhold commits a step without what it did to rooms. What the agent kept for
// itself stays; it is told out about each act that was taken back.
func (c *cycle) withhold(ctx context.Context, sc spaces.StepCommit, st *stepContext, d stepResult, out toolResult) error {
	sc.Effect, sc.Close, sc.GivenUp = nil, nil, nil
	kept := slices.DeleteFunc(slices.Clone(st.inner), st.falls)
	sc.Timers = slices.DeleteFunc(slices.Clone(sc.Timers), func(t spaces.WakeTimer) bool { return slices.Contains(st.bound, t.ID) })
	back := map[string]bool{} // calls
	sc.Inner = slices.DeleteFunc(slices.Clone(sc.Inner), st.falls)
	for i, b := range sc.Inner {
		if a, ok := b.(spaces.ToolCalled); ok {
			back[a.CallID] = c.tools.isRoom(a.Name)
		}
		if r, ok := b.(spaces.ToolReturned); ok && back[r.CallID] && r.OK {
			r.OK, r.Note, r.Refs = false, out.note, nil
			sc.Inner[i] = r
		} else if ok {
			back[r.CallID] = false // it had been refused anyway
		}
	}
	for i := range d.results {
		if r := &d.results[i]; back[r.CallID] {
			r.Text, r.Refs = out.String(), nil
		}
	}
	sc.Turns = c.told(d)
	c.machine = NewMachine(c.wake.Cycle.ID, spaces.Engaging) // the refused commit's moves did not happen
	c.move(spaces.Acting, "agent", "spoke")
	c.move(spaces.Engaging, "system", out.note)
	return c.commit(ctx, sc, kept)
}

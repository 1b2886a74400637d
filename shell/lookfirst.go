package shell

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	lookCall  = "look_first" // the id of the call by which a timer looks
	lookLines = 20           // of new messages that are shown
)

// A lookFinding is what the look of the timer that woke a cycle found.
type lookFinding struct {
	text  string // for the model; empty: it did not look, or found nothing
	refs  []spaces.EventID
	timer *spaces.WakeTimer // with what its look came to, not yet committed
}

// look reads what the reminder looks at first.
func (a remind) look(s *stepContext, about spaces.SpaceID) (l spaces.TimerLook, out toolResult) {
	const form = `Give look_first as new messages, or as a tool of yours that only reads, with its arguments: NAME {"key": "value"}.`
	text := strings.TrimSpace(a.Look)
	if text == "" {
		return l, toolResult{ok: true}
	}
	if plainName(text) == plainName(spaces.NewMessages) {
		seat := s.view.Seat(about)
		if seat == nil {
			return l, s.deny("bad_look", "There is no room to look for new messages in.", "Name a space.")
		}
		return spaces.TimerLook{Messages: true, Seen: seat.Room.Upto()}, toolResult{ok: true}
	}
	name, args := text, ""
	if i := strings.IndexAny(text, " \t\n{("); i > 0 {
		name, args = text[:i], strings.TrimSpace(text[i:])
	}
	if inner, ok := strings.CutPrefix(args, "("); ok {
		args = strings.TrimSuffix(inner, ")")
	}
	t := s.outside.tools.find(name)
	if t == nil || t.outside == nil || !t.outside.ReadOnly {
		return l, s.deny("bad_look", hud.Quote(name)+" is no tool of yours that only reads.", form)
	}
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	args, _, wrong := t.understand(args)
	switch {
	case wrong != "":
		return l, s.deny("bad_look", wrong, form)
	case outsideCall{t.outside, args}.needsApproval(s):
		return l, s.deny("bad_look", "A person has to allow each call of "+t.name+".", "Look with another tool, or remind without look_first.")
	}
	return spaces.TimerLook{Tool: t.name, Args: args}, toolResult{ok: true}
}

// lookFirst looks at what the timer that woke the cycle is to look at, before a model is
// called. The cycle ends when nothing is found.
func (c *cycle) lookFirst(ctx context.Context) (ended bool, err error) {
	t := c.wake.Timer
	if t == nil || !t.Look.Wanted() || len(c.turns) > 0 || c.shell.Inbox == nil { // a rehearsal does not look
		return false, nil
	}
	looked := *t
	looked.Look.At, looked.Look.Outcome = c.shell.Now(), spaces.LookNothing
	c.phase = spaces.Engagement
	problem := ""
	if t.Look.Messages {
		c.findMessages(&looked)
	} else if problem, err = c.findByTool(ctx, t.Look); err != nil {
		return true, err
	}
	switch {
	case problem != "":
		looked.Look.Outcome = spaces.LookFailed
	case c.found.text != "":
		looked.Look.Outcome = spaces.LookFound
	}
	c.found.timer = &looked
	if looked.Look.Outcome == spaces.LookFound {
		c.phase = "" // it begins now
		return false, nil
	}
	return true, c.overlook(ctx, problem)
}

// findMessages looks for what others have written since the timer was set or last looked.
func (c *cycle) findMessages(t *spaces.WakeTimer) {
	view := c.stage().view
	c.mind.mu.Lock()
	defer c.mind.mu.Unlock()
	seat := c.mind.seat(t.Space)
	if seat == nil {
		return
	}
	text, refs := hud.ReadLines(view, hud.ReadQuery{Space: t.Space, After: t.Look.Seen, Others: true, Limit: lookLines})
	if t.Look.Seen = seat.Room.Upto(); len(refs) > 0 {
		c.found.text, c.found.refs = "\nLOOKED FIRST, and found new messages:\n"+text, refs
	}
}

// findByTool calls the tool that the timer looks with, as a call of the cycle's own. problem
// says why it could not look.
func (c *cycle) findByTool(ctx context.Context, l spaces.TimerLook) (problem string, err error) {
	run, problem, err := c.lookRun(ctx, l)
	if problem != "" || err != nil {
		return problem, err
	}
	run = c.shell.runner.begin([]spaces.ToolRun{run}, c.wake.Resumed, true).wait(ctx)[0] //nolint:contextcheck // calls outlive the run
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case !run.State.Ended():
		return "", fmt.Errorf("the look of timer %s has not ended: %s", c.wake.Timer.ID, run.State)
	}
	c.noteEnd(run)
	switch {
	case run.State != spaces.ToolDone:
		return cmp.Or(strings.Join(strings.Fields(run.Result), " "), "it is "+string(run.State)+"."), nil
	case strings.TrimSpace(run.Result) != "":
		c.found.text = "\nLOOKED FIRST: " + toolResultText(&run)
	}
	return "", nil
}

// lookRun returns the call by which the timer looks: that of an earlier process, or a new
// one, which is recorded.
func (c *cycle) lookRun(ctx context.Context, l spaces.TimerLook) (run spaces.ToolRun, problem string, err error) {
	if c.wake.Resumed && c.shell.Outside.Reader != nil {
		runs, err := c.shell.Outside.Reader.RunsOfCycle(ctx, c.wake.Cycle.ID)
		if i := slices.IndexFunc(runs, func(r spaces.ToolRun) bool { return r.Call == lookCall }); i >= 0 || err != nil {
			return runs[max(i, 0)], "", err
		}
	}
	spec := c.tools.find(l.Tool)
	if spec == nil || spec.outside == nil || !spec.outside.ReadOnly {
		return run, l.Tool + " is no tool of mine any more that only reads.", nil
	}
	read := c.tools.readAll([]ToolCall{{ID: lookCall, Name: l.Tool, Args: l.Args}})
	if err := c.learnToolUse(ctx, read); err != nil {
		return run, "", err
	}
	st := c.stage()
	d := c.performAll(st, "", read, "")
	switch {
	case len(st.denials) > 0:
		return run, st.denials[0].Reason, nil
	case st.outside.runs[0].State == spaces.ToolAsked:
		return run, "A person would have to allow " + l.Tool + ".", nil
	}
	return st.outside.runs[0], "", c.commit(ctx, spaces.StepCommit{Inner: d.inner, Runs: st.outside.runs}, nil)
}

// overlook ends a cycle whose look found nothing or could not be made: no model is called,
// and the mind does not remember it. People are told of a problem when the look before had
// none.
func (c *cycle) overlook(ctx context.Context, problem string) error {
	was, is := c.wake.Timer, c.found.timer
	cl := &spaces.CycleClose{Stop: spaces.StopSkipped, Detail: fmt.Sprintf("looked first at %s: %s", is.Look.String(), is.Look.Outcome), Back: true}
	if problem != "" {
		cl.Detail = textformat.ClipBytes(cl.Detail+": "+problem, 400)
	}
	if problem != "" && was.Look.Outcome != spaces.LookFailed {
		cl.Notices = append(cl.Notices, spaces.RoomNotice{
			Room: is.Space, Key: "look|" + string(c.wake.Cycle.ID),
			Text: fmt.Sprintf("The reminder %q was to look first with %s, which failed: %s", textformat.ClipRunes(is.Note, 100), is.Look.Tool, textformat.ClipRunes(problem, 300)),
		})
	}
	c.move(spaces.Engaging, "coordinator", c.wake.Cycle.Wake)
	c.wake.Cycle.Stop = cl.Stop
	c.shell.publish("mission_stop", string(cl.Stop), c.facts("detail", cl.Detail))
	return c.close(ctx, cl)
}

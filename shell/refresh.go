package shell

import (
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// look brings the mind up to date before a step of engagement. Right after
// contemplation only what has happened in the room meanwhile can be new.
func (c *cycle) look(ctx context.Context) error {
	if c.step == 1 && !c.reread && !c.mind.behind(c.place.space, c.judged) {
		return nil
	}
	return c.mind.refresh(ctx, c.place.space)
}

// learnFailures learns what could not be sent since a cycle last did. Right after
// contemplation that is not asked again: nothing of this cycle has left.
func (c *cycle) learnFailures(ctx context.Context) (err error) {
	if c.step == 1 && !c.looked.IsZero() {
		return nil
	}
	c.looked = c.shell.Now()
	if c.failures, err = c.shell.Record.Failures(ctx, c.mind.id, c.since); err != nil {
		return fmt.Errorf("failures of %s: %w", c.mind.id, err)
	}
	return nil
}

// notice shows what is new in the trigger space, or the timer that woke the
// cycle, as a turn of the log, and learns what could not be sent. What the gate has
// not judged waits for the next step, unless stale speech made the agent look again
// just now: the mark of what woke it would be missing.
func (c *cycle) notice(ctx context.Context) error {
	if err := c.learnFailures(ctx); err != nil {
		return err
	}
	if err := c.learnMissions(ctx); err != nil {
		return err
	}
	m := c.mind
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := c.wake.Timer; t != nil && len(c.turns) == 0 && len(c.pending) == 0 {
		c.pending = append(c.pending, spaces.TranscriptTurn{Role: spaces.RoleUser, Text: hud.InboxHead(m.seat(t.Space), 1, c.began) + "\n" + c.timerLine(t) + " ← TRIGGER" + c.found.text, Refs: c.found.refs})
	}
	if c.heard < len(c.wake.Waits) {
		c.hear(m.view(c))
	}
	seat := m.seat(c.wake.Cycle.Space)
	if seat == nil {
		return nil
	}
	upto := seat.Room.Upto()
	if !c.reread || c.step != c.again {
		upto = min(upto, c.judged)
	}
	if upto <= c.upto {
		return nil
	}
	triggers := map[spaces.EventID]string{}
	for i, e := range c.wake.Events {
		triggers[e.ID] = c.wake.Rows[i].Reason
	}
	v := m.view(c)
	v.Current = append(slices.Clip(c.turns), c.pending...)
	if turn := v.Inbox(v.Seat(c.wake.Cycle.Space), c.upto, upto, triggers, c.shell.Now()); turn.Text != "" {
		c.pending = append(c.pending, turn)
		c.recalled = nil
	}
	c.upto = upto
	return nil
}

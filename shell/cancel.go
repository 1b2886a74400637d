package shell

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// errCancelled is the cause when a person ends a cycle.
var errCancelled = errors.New("cancelled by a person")

// Cancel ends runs by a person's word: their model calls are interrupted, they
// close as human_cancelled, and the messages that woke them are done with. The
// halt is durable when Cancel returns; a run that another process leads ends at
// its next commit. The zero At is now.
func (s *Shell) Cancel(ctx context.Context, h spaces.StopRequest) (spaces.StopResult, error) {
	if h.At.IsZero() {
		h.At = time.Now()
	}
	done, err := s.Halter.Halt(ctx, h)
	if err != nil {
		return spaces.StopResult{}, fmt.Errorf("cancel: %w", err)
	}
	if s.runner != nil {
		s.runner.cancel(done.Calls)
	}
	for _, r := range done.Runs {
		s.interrupt(wakeKey{r.Mind, r.Space}, r.Run)
	}
	s.Logger.Info("halted", "space", h.Space, "run", h.Run, "runs", len(done.Runs), "waiting", done.Waiting, "unsent", done.Unsent)
	return done, nil
}

// interrupt ends the model call of a cycle, if it runs in this process.
func (s *Shell) interrupt(p wakeKey, id spaces.CycleID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.running[p]
	switch {
	case !ok:
	case r.cycle == id:
		r.cancel(errCancelled)
	case r.cycle == "":
		r.told = id
	}
}

// leads notes that a place runs a cycle, which cancel ends.
func (s *Shell) leads(p wakeKey, id spaces.CycleID, cancel context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.running[p]
	r.cycle, r.cancel = id, cancel
	if r.told == id {
		cancel(errCancelled)
	}
}

// halted reports whether a cycle that ended with err was stopped by a person.
func halted(ctx context.Context, err error) bool {
	return errors.Is(err, spaces.ErrHalted) || errors.Is(context.Cause(ctx), errCancelled)
}

// cancelled closes the cycle after a person's word. What it had not committed
// did not happen.
func (c *cycle) cancelled(ctx context.Context, cause error) error {
	if errors.Is(cause, spaces.ErrHalted) {
		c.rewind()
	}
	return c.rest(ctx, spaces.StopCancelled, "stopped by a person")
}

// rewind puts the machine back to where the refused commit began.
func (c *cycle) rewind() {
	if c.step > 0 {
		c.machine = NewMachine(c.wake.Cycle.ID, spaces.Engaging)
		return
	}
	c.machine = NewMachine(c.wake.Cycle.ID, spaces.Idle)
	begin := spaces.Engaging
	if c.phase == spaces.Contemplation {
		begin = spaces.Contemplating
	}
	c.move(begin, "coordinator", c.wake.Cycle.Wake)
}

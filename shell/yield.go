package shell

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// errSplit is why a cycle is left for a moment: its context must be cut, for which
// its mind has to be in one process alone, and another one runs it too.
var errSplit = errors.New("the mind also runs in another process")

// reunion is how long a process leaves a mind alone that it has left to others, and
// up to as much again by chance: two that leave it to each other come back apart.
const reunion = time.Second

// whole cuts the context where that is due; what is due is mostly done while the
// mind rests. Where another process runs the mind as well, the cycle goes on with
// the context as it is, if the window allows it.
func (c *cycle) whole(ctx context.Context) error {
	err := c.mind.cut(ctx, c.cycleConfig, c.wake.Cycle.ID)
	switch {
	case !errors.Is(err, spaces.ErrLeaseLost):
		return err
	case c.mind.spares(c.cycleConfig):
		return nil
	}
	return errSplit
}

// spares reports whether a cut that is due can wait.
func (m *mind) spares(o cycleConfig) bool {
	switch m.due(o) {
	case "":
		return true
	case hud.CutHighWater, hud.CutTurns:
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.whole(o).Guarded(tailTokens)
	}
	return false
}

// yield gives the cycle's place back and leaves the mind alone for a moment. What could
// not be given back has broken off here, and goes on here.
func (c *cycle) yield(ctx context.Context) error {
	s, id := c.shell, c.place.mind
	s.mu.Lock()
	s.split[id] = time.Now().Add(reunion + rand.N(reunion))
	s.mu.Unlock()
	if err := s.Inbox.Yield(ctx, c.wake.Lease); err != nil {
		if ctx.Err() == nil {
			c.log.Error("cycle not left to another process", "error", err)
		}
		return err
	}
	c.log.Info("cycle left until one process has its mind")
	return errSplit
}

// elsewhere reports whether a mind is left alone now. s.mu is held.
func (s *Shell) elsewhere(id spaces.Mind) bool {
	until, left := s.split[id]
	if left && !time.Now().Before(until) {
		delete(s.split, id)
		left = false
	}
	return left
}

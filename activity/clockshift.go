package activity

import (
	"sync"
	"time"
)

// leastStep is how far a clock must be put back to be noticed: every look costs a
// little, and clocks that are kept in time creep.
const leastStep = time.Second

// A wallClock detects that the system clock was set, by comparing it with the monotonic
// clock. The zero value starts with its first look. It is safe for concurrent use.
type wallClock struct {
	shows func(now time.Time) time.Time // nil: what now says

	mu         sync.Mutex // guards what follows
	last       time.Time  // look
	lastShown  time.Time  // what the wall showed at it
	unreported time.Duration
}

// setBack returns, once, by how much the clock was put back since the last look.
func (w *wallClock) setBack(now time.Time) time.Duration {
	shown := now.Round(0)
	if w.shows != nil {
		shown = w.shows(now).Round(0)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	by := w.unreported
	if step := now.Sub(w.last) - shown.Sub(w.lastShown); !w.last.IsZero() && step >= leastStep {
		by += step
	}
	w.last, w.lastShown, w.unreported = now, shown, 0
	return by
}

// retryLater has the next look say once more what came of nothing.
func (w *wallClock) retryLater(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unreported += by
}

// afterClockShift returns an instant as the clock on the wall names it now: what was worked
// out before the clock was put back is later by that.
func afterClockShift(at, now time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return now.Add(at.Sub(now))
}

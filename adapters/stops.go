package adapters

import (
	"context"
	"time"
)

// Limits of a stop of the whole process (SIGSTOP, a suspended machine): how often it is
// looked for, and how late a look is after one.
const (
	stopsEvery = 10 * time.Second
	stoppedFor = 15 * time.Second
)

// WatchStops calls f after each stop of the whole process, until ctx is done: what the
// platform told meanwhile may be lost although every connection still works.
func WatchStops(ctx context.Context, f func()) {
	tick := time.NewTicker(stopsEvery)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		if wasStopped(last, now) {
			f()
		}
		last = now
	}
}

// wasStopped reports whether the process was stopped between two looks. The clock on
// the wall counts as well: that of a suspended machine goes on, the monotonic one stands
// still.
func wasStopped(last, now time.Time) bool {
	passed := max(now.Sub(last), now.Round(0).Sub(last.Round(0)))
	return passed-stopsEvery >= stoppedFor
}

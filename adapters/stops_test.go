package adapters

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A look that comes much too late, by either clock, was held up by a stop.
func TestAStopIsSeenByEitherClock(t *testing.T) {
	start := time.Now()
	for name, c := range map[string]struct {
		now  time.Time
		stop bool
	}{
		"in time":            {start.Add(stopsEvery), false},
		"a little late":      {start.Add(stopsEvery + 10*time.Second), false},
		"stopped":            {start.Add(time.Minute), true},
		"suspended":          {start.Add(time.Minute).Round(0), true},
		"clock put back":     {start.Add(-time.Hour).Round(0), false},
		"stopped and awaken": {start.Add(10 * time.Hour), true},
	} {
		if got := wasStopped(start, c.now); got != c.stop {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// While the process runs, nothing is called.
func TestWatchStopsIsQuietWhileTheProcessRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go WatchStops(ctx, func() { t.Error("a stop is seen") })
		<-time.After(time.Hour)
	})
}

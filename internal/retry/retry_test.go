package retry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// While rounds fail, the pauses between them are an interval at least and grow, and
// no signal cuts them short; a round that succeeds ends that. A round that finds
// work is followed at once, one that finds none by the signal or an interval.
func TestRoundsThatFailComeMoreAndMoreSlowly(t *testing.T) {
	const interval = time.Second
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		wake := NewWakeSignal()
		last, n, failures := time.Now(), 0, 0
		rest := func() time.Duration { d := time.Since(last); last = time.Now(); return d }
		fails := errors.New("no room")
		results := []struct {
			err       error
			busy, set bool
			before    time.Duration // that the round comes after the one before it
		}{
			{busy: true},
			{before: 0, err: fails, set: true},
			{before: interval, err: fails, set: true},
			{before: interval, err: fails, set: true},
			{before: 2 * interval, err: fails, set: true},
			{before: 4 * interval, busy: true},
			{before: 0, err: fails},
			{before: interval, set: true},
			{before: 0},
			{before: interval},
		}
		PollLoop(ctx, wake, interval, func(context.Context) (bool, error) {
			if n == len(results) {
				stop()
				return false, context.Canceled
			}
			r := results[n]
			if got := rest(); got < max(min(r.before, interval), r.before*4/5) || got > r.before*6/5 { // jitter is a fifth
				t.Errorf("round %d comes after %s, want %s", n, got, r.before)
			}
			select { // what was set while it rested
			case <-wake:
			default:
			}
			if n++; r.set {
				wake.Set()
			}
			return r.busy, r.err
		}, func(error) { failures++ })
		if n != len(results) || failures != 5 {
			t.Errorf("%d rounds, %d failures", n, failures)
		}
	})
}

func TestBackoffGrowsToItsCap(t *testing.T) {
	for attempts := range 30 {
		d := BackoffAfter(attempts)
		if d <= 0 || d > maxBackoff {
			t.Errorf("after %d attempts the pause is %s", attempts, d)
		}
		if attempts > 12 && d < maxBackoff/2 {
			t.Errorf("after %d attempts the pause is only %s", attempts, d)
		}
	}
}

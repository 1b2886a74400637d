// Package retry paces work that is repeated: poll loops that a signal wakes
// early, and the pause before the next attempt after failures.
package retry

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// maxBackoff bounds the pause between two attempts.
const maxBackoff = time.Minute

// A WakeSignal wakes a poll loop before its interval is over. It holds at most one
// pending wake-up. The zero value never wakes.
type WakeSignal chan struct{}

// NewWakeSignal returns a signal that is not set.
func NewWakeSignal() WakeSignal { return make(WakeSignal, 1) }

// Set wakes the next or current [WaitFor]. It never blocks.
func (s WakeSignal) Set() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// WaitFor returns after d, when wake is readable or closed, or when ctx is done.
func WaitFor(ctx context.Context, wake <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
	case <-timer.C:
	}
}

// PollLoop calls round until ctx is done: again at once while round reports work,
// after interval or a wake-up when it reports none. An error of round is passed to
// failed; the pause before the next call then grows with each error in a row, and
// a wake-up does not shorten it.
func PollLoop(ctx context.Context, wake WakeSignal, interval time.Duration, round func(context.Context) (busy bool, err error), failed func(error)) {
	for failures := 0; ctx.Err() == nil; {
		busy, err := round(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			failures++
			failed(err)
			WaitFor(ctx, nil, max(interval, BackoffAfter(failures)))
		case !busy:
			WaitFor(ctx, wake, interval)
		}
		if err == nil {
			failures = 0
		}
	}
}

// BackoffAfter returns the pause after so many failed attempts: half a second,
// doubled with each, at most a minute, with jitter.
func BackoffAfter(attempts int) time.Duration {
	b := backoff.ExponentialBackOff{
		InitialInterval: 500 * time.Millisecond, RandomizationFactor: 0.2, Multiplier: 2, MaxInterval: maxBackoff,
	}
	b.Reset()
	d := b.NextBackOff()
	for range min(attempts-1, 10) {
		d = b.NextBackOff()
	}
	return min(d, maxBackoff)
}

package activity

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// carryOn calls round until ctx is done: at once while it finds work, after a poll or
// the bell when it finds none. When it fails, failed is told, and the rests grow:
// what cannot be recorded is neither fetched nor paid for again and again.
func carryOn(ctx context.Context, bell <-chan struct{}, round func(context.Context) (busy bool, err error), failed func(error)) {
	for failures := 0; ctx.Err() == nil; {
		busy, err := round(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			failures++
			failed(err)
			adapters.Pause(ctx, max(poll, backoffAfter(failures)))
		case !busy:
			restOn(ctx, bell, poll)
		}
		if err == nil {
			failures = 0
		}
	}
}

func ringOn(bell chan<- struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// restOn returns after d, when the bell rings, or when ctx is done.
func restOn(ctx context.Context, bell <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-bell:
	case <-timer.C:
	}
}

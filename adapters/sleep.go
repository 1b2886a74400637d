package adapters

import (
	"context"
	"time"
)

// Pause returns after d or when ctx is done, whichever is first.
func Pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

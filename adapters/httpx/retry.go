package httpx

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/trestle-bridge/trestle/adapters"
)

const (
	// maxTries is how often a call is made before its failure counts.
	maxTries = 4
	// leastWait is the least that a platform's limits are waited out.
	leastWait = 100 * time.Millisecond
)

// Patiently makes a call that changes nothing: it waits as long as the platform asks,
// and makes it again where the failure may have been the line's. It returns what
// another call would not mend.
func Patiently(ctx context.Context, call func() error) error {
	pause := &backoff.ExponentialBackOff{InitialInterval: time.Second, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: 30 * time.Second}
	pause.Reset()
	for try := 1; ; try++ {
		err := call()
		e, failed := errors.AsType[*adapters.Error](err)
		switch {
		case !failed || ctx.Err() != nil:
			return err
		case e.Kind == adapters.Limited:
			try-- // to wait is no failure
			adapters.Pause(ctx, max(cmp.Or(e.RetryAfter, time.Second), leastWait))
		case try < maxTries && (e.Kind == adapters.Unknown || e.Kind == adapters.NotSent):
			adapters.Pause(ctx, pause.NextBackOff())
		default:
			return err
		}
	}
}

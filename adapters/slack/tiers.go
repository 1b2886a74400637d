package slack

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	slackgo "github.com/slack-go/slack"
	"golang.org/x/time/rate"

	"github.com/trestle-bridge/trestle/adapters"
)

// tiers is the pace of what we read by ourselves: Slack allows about fifty calls
// a minute of the methods we use (tier 3). Sending has its own pace.
type tiers struct {
	reading *rate.Limiter
}

func newTiers(unpaced bool) *tiers {
	if unpaced {
		return &tiers{reading: rate.NewLimiter(rate.Inf, 0)}
	}
	return &tiers{reading: rate.NewLimiter(rate.Every(1300*time.Millisecond), 20)}
}

// maxTries is how often a reading call is made before its failure counts.
const maxTries = 4

// reading is callInto for calls that change nothing: it keeps the pace, waits as
// long as Slack asks, and tries again what may have been the line's fault.
func reading[T any](ctx context.Context, c *Client, method string, do func(context.Context, *slackgo.Client) error) (T, error) {
	pause := &backoff.ExponentialBackOff{InitialInterval: time.Second, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: 30 * time.Second}
	pause.Reset()
	for try := 1; ; try++ {
		if err := c.tiers.reading.Wait(ctx); err != nil {
			var none T
			return none, &adapters.Error{Kind: adapters.NotSent, Op: method, Err: err}
		}
		out, err := callInto[T](ctx, c, method, do)
		e, ok := errors.AsType[*adapters.Error](err)
		switch {
		case err == nil || !ok || ctx.Err() != nil:
			return out, err
		case e.Kind == adapters.Limited:
			try-- // to wait is no failure
			c.log.Info("slack asks us to wait", "op", method, "retry_after", e.RetryAfter)
			adapters.Pause(ctx, max(e.RetryAfter, time.Second))
		case try < maxTries && (e.Kind == adapters.Unknown || e.Kind == adapters.NotSent):
			adapters.Pause(ctx, pause.NextBackOff())
		default:
			return out, err
		}
	}
}

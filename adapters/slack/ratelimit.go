package slack

import (
	"context"
	"errors"
	"time"

	slackgo "github.com/slack-go/slack"
	"golang.org/x/time/rate"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// readings is the pace of what we read by ourselves: Slack allows about fifty calls
// a minute of the methods we use (tier 3). Sending has its own pace.
func readings(unpaced bool) *rate.Limiter {
	if unpaced {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Every(1300*time.Millisecond), 20)
}

// reading is callInto for calls that change nothing: it keeps the pace, waits as
// long as Slack asks, and tries again what may have been the line's fault.
func reading[T any](ctx context.Context, c *apiClient, method string, do func(context.Context, *slackgo.Client) error) (out T, err error) {
	err = httpx.Patiently(ctx, func() (err error) {
		if err := c.readings.Wait(ctx); err != nil {
			return err
		}
		out, err = callInto[T](ctx, c, method, do)
		if adapters.KindOf(err) == adapters.Limited {
			c.log.Info("slack asks us to wait", "op", method, "error", err)
		}
		return err
	})
	if _, ours := errors.AsType[*adapters.Error](err); err != nil && !ours {
		err = &adapters.Error{Kind: adapters.NotSent, Op: method, Err: err}
	}
	return out, err
}

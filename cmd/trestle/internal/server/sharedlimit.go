package server

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/pubsub"
)

// A sharedLimiter limits the calls of an account over all processes. The account is in braces,
// so that a Redis cluster keeps its keys on one server.
type sharedLimiter struct {
	pubsub.RateLimiter
	account string
}

var _ activity.SharedLimiter = sharedLimiter{}

// Take implements [activity.Purse].
func (p sharedLimiter) Take(ctx context.Context, chat string, ofChat, whole adapters.RateLimit, patience time.Duration) (wait time.Duration, taken bool, err error) {
	var all []pubsub.RateLimit
	for _, b := range []pubsub.RateLimit{{Key: p.key(chat), Every: ofChat.Every, Burst: ofChat.Burst}, {Key: p.key(""), Every: whole.Every, Burst: whole.Burst}} {
		if b.Every > 0 {
			all = append(all, b)
		}
	}
	return p.RateLimiter.Take(ctx, patience, all...)
}

// Hold implements [activity.Purse].
func (p sharedLimiter) Hold(ctx context.Context, chat string, d time.Duration) error {
	return p.RateLimiter.Hold(ctx, p.key(chat), d)
}

func (p sharedLimiter) key(chat string) string { return "{" + p.account + "}:" + chat }

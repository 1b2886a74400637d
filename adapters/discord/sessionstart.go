package discord

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// sessionEntry is where sessions begin.
type sessionEntry struct {
	URL    string     `json:"url"`
	Shards int        `json:"shards"`
	Start  startLimit `json:"session_start_limit"`
}

// startLimit is how many sessions may begin, as Discord counts them for the token,
// including those that other programs began.
type startLimit struct {
	Total     int     `json:"total"`
	Remaining int     `json:"remaining"`
	After     float64 `json:"reset_after"` // milliseconds
}

// allowance is how many sessions may still begin until when; the zero value knows
// no bound.
type allowance struct {
	left  int
	until time.Time
}

// from returns what a limit told at that moment allows. A tenth is left alone:
// Discord resets the token of who uses it up.
func (l startLimit) from(now time.Time) allowance {
	if l.Total <= 0 {
		return allowance{}
	}
	return allowance{left: l.Remaining - l.Total/10, until: now.Add(seconds(l.After / 1000))}
}

// take uses one up, or returns how long there is none.
func (a *allowance) take(now time.Time) time.Duration {
	if !now.Before(a.until) {
		return 0
	}
	if a.left <= 0 {
		return a.until.Sub(now)
	}
	a.left--
	return 0
}

// gateway asks where to connect, and in how many shards.
func (c *apiClient) gateway(ctx context.Context) (sessionEntry, error) {
	var to sessionEntry
	err := c.call(ctx, route{op: "get gateway", method: http.MethodGet, path: "/gateway/bot"}, nil, &to)
	if err != nil && adapters.KindOf(err).Permanent() {
		err = c.call(ctx, route{op: "get gateway", method: http.MethodGet, path: "/gateway"}, nil, &to)
	}
	if err != nil {
		return to, err
	}
	if to.URL == "" {
		return to, &adapters.Error{Kind: adapters.Unknown, Op: "get gateway", Err: errors.New("the answer names no address")}
	}
	const most = 256
	to.Shards = min(max(to.Shards, 1), most)
	return to, nil
}

// ask is a shard's wish to begin a session; granted is answered once.
type ask struct{ granted chan error }

// askFor asks, and waits for the answer.
func askFor(ctx context.Context, asks chan<- ask) error {
	a := ask{granted: make(chan error, 1)}
	select {
	case asks <- a:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-a.granted:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// identifyPause is how far apart sessions have to begin.
const identifyPause = 5 * time.Second

// grant counts a new session, durably, before it begins.
func (r *receiver) grant(ctx context.Context) error {
	now := time.Now()
	rest := r.allowed.take(now)
	if rest == 0 {
		rest = r.at.identify(now)
	}
	if rest > 0 {
		return &adapters.Error{
			Kind: adapters.Limited, Op: "gateway", RetryAfter: rest,
			Err: errors.New("nine tenths of a day's sessions have begun; discord resets the token of who uses them up"),
		}
	}
	if !r.began.IsZero() {
		adapters.SleepContext(ctx, identifyPause-now.Sub(r.began))
	}
	if err := r.record(ctx, nil); err != nil {
		return err
	}
	r.began = time.Now()
	return nil
}

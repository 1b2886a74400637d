package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
)

// maxAnswer bounds one answer of the server.
const maxAnswer = 32 << 20

// A route is one call of the API.
type route struct {
	op     string // what we call it in errors
	method string
	path   string // after the base, with a query perhaps
	limit  string // what Discord counts together: the route with its first id, see limits
	bare   bool   // carries no token: the path is the credential
}

// channelRoute is a call about one channel; rest is the path behind it.
func channelRoute(op, method, channel, rest string) route {
	return route{op: op, method: method, path: "/channels/" + channel + rest, limit: method + " " + op + " /channels/" + channel}
}

// guildRoute reads something of one server.
func guildRoute(op, guild, rest string) route {
	return route{op: op, method: http.MethodGet, path: "/guilds/" + guild + rest, limit: "GET " + op + " /guilds/" + guild}
}

// answer is what was seen of one call, as far as it came.
type answer struct {
	written bool
	status  int
	header  http.Header
	whole   []byte // the body, once it was read to its end
	read    bool
}

// call makes one request with body as JSON, if it is not nil, and reads the
// result into into, if that is not nil. A nil error means that Discord accepted
// the call and the result is whole; any other outcome is an [*adapters.Error].
func (c *Client) call(ctx context.Context, r route, body, into any) error {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return &adapters.Error{Kind: adapters.Invalid, Op: r.op, Err: err}
		}
	}
	return c.exchange(ctx, r, "application/json", raw, into)
}

// exchange is call with a body of any type.
func (c *Client) exchange(ctx context.Context, r route, mime string, body []byte, into any) error {
	if wait := c.limits.take(r, time.Now()); wait > 0 {
		return &adapters.Error{Kind: adapters.Limited, Op: r.op, RetryAfter: wait, Err: errSpent}
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	traced, written := adapters.Trace(ctx)
	if r.bare {
		traced = context.WithValue(traced, bare{}, true)
	}
	var seen answer
	// The library's own limiter sleeps without looking at the context. Each call
	// gets a new one, which knows of nothing to wait for.
	bucket := discordgo.NewRatelimiter().LockBucket(r.op)
	_, err := c.rest.RequestWithLockedBucket(r.method, c.base+r.path, mime, body, bucket, 0,
		discordgo.WithContext(traced), discordgo.WithClient(c.watched(&seen)))
	seen.written = written.Load()
	c.limits.learn(r, seen, time.Now())
	// What was seen decides, not what the library makes of it.
	if seen.accepted() {
		if err = seen.decode(into); err == nil {
			return nil
		}
	}
	return c.judge(r, seen, err)
}

// accepted reports whether Discord took the call, and its answer came whole.
func (a answer) accepted() bool { return a.read && a.status/100 == 2 }

// decode reads the answer to a call that was accepted; nobody reads it when into is nil.
func (a answer) decode(into any) error {
	if into == nil || a.status == http.StatusNoContent {
		return nil
	}
	if bytes.Equal(bytes.TrimSpace(a.whole), []byte("null")) {
		return errors.New("the answer is null")
	}
	return json.Unmarshal(a.whole, into)
}

// watched returns c's HTTP client for one call. It reads the body whole, so that
// an answer that is not JSON can still be looked at.
func (c *Client) watched(seen *answer) *http.Client {
	watched := *c.http
	watched.Transport = tripper(func(r *http.Request) (*http.Response, error) {
		resp, err := c.http.Transport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		seen.status, seen.header = resp.StatusCode, resp.Header
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
		if err != nil {
			return nil, err
		}
		if len(body) > maxAnswer {
			return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
		}
		seen.whole, seen.read = body, true
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	})
	return &watched
}

// tripper makes a function a transport.
type tripper func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// patiently makes a call that may be repeated: it waits out Discord's limits and
// tries a few times more when the way there fails. Answers that nobody can read,
// one after the other, are Invalid in the end: nothing was lost on the way, and
// whoever asked has to do without.
func (c *Client) patiently(ctx context.Context, r route, into any) error {
	for try := 0; ; try++ {
		err := c.call(ctx, r, nil, into)
		e, ok := err.(*adapters.Error) //nolint:errorlint // call promises the type itself
		switch {
		case !ok || ctx.Err() != nil:
			return err
		case e.Kind == adapters.Limited:
			adapters.Pause(ctx, max(e.RetryAfter, 100*time.Millisecond))
			try--
		case try == 3 && errors.Is(e, errUnread):
			return &adapters.Error{Kind: adapters.Invalid, Op: e.Op, Err: e.Err}
		case e.Kind != adapters.Unknown && e.Kind != adapters.NotSent, try == 3:
			return err
		default:
			adapters.Pause(ctx, time.Second<<try)
		}
	}
}

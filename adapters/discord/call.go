package discord

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// apiClient makes calls of Discord's HTTP API as one bot.
type apiClient struct {
	token   adapters.SecretString
	base    string // with the version, without a slash at its end
	rest    *discordgo.Session
	http    *http.Client // with the token, for the API's host alone
	files   *http.Client // without it
	log     *slog.Logger
	timeout time.Duration // of one call
	limits  limits

	self atomic.Pointer[account] // set by identify
}

// account is who we are.
type account struct {
	user
	application string
	flags       int               // of the application; 0 when Discord did not say
	key         ed25519.PublicKey // by which its calls are proved
}

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

// call makes one request with body as JSON, if it is not nil, and reads the
// result into into, if that is not nil. A nil error means that Discord accepted
// the call and the result is whole; any other outcome is an [*adapters.Error].
func (c *apiClient) call(ctx context.Context, r route, body, into any) error {
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
func (c *apiClient) exchange(ctx context.Context, r route, mime string, body []byte, into any) error {
	if wait := c.limits.take(r, time.Now()); wait > 0 {
		return &adapters.Error{Kind: adapters.Limited, Op: r.op, RetryAfter: wait, Err: errSpent}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	traced, written := adapters.TraceWritten(ctx)
	if r.bare {
		traced = context.WithValue(traced, bare{}, true)
	}
	var seen httpx.CallOutcome
	// The library's own limiter sleeps without looking at the context. Each call
	// gets a new one, which knows of nothing to wait for.
	bucket := discordgo.NewRatelimiter().LockBucket(r.op)
	_, err := c.rest.RequestWithLockedBucket(r.method, c.base+r.path, mime, body, bucket, 0,
		discordgo.WithContext(traced), discordgo.WithClient(c.watched(&seen)))
	seen.Written = written.Load()
	c.limits.learn(r, seen, time.Now())
	// What was seen decides, not what the library makes of it.
	if accepted(seen) {
		if err = decodeAnswer(seen, into); err == nil {
			return nil
		}
	}
	return c.judge(r, seen, err)
}

// accepted reports whether Discord took the call, and its answer came whole.
func accepted(a httpx.CallOutcome) bool { return a.Whole != nil && a.Status/100 == 2 }

// decodeAnswer decodes the answer to a call that was accepted into into; a nil into
// discards it.
func decodeAnswer(a httpx.CallOutcome, into any) error {
	if into == nil || a.Status == http.StatusNoContent {
		return nil
	}
	if bytes.Equal(bytes.TrimSpace(a.Whole), []byte("null")) {
		return errors.New("the answer is null")
	}
	return json.Unmarshal(a.Whole, into)
}

// watched returns c's HTTP client for one call.
func (c *apiClient) watched(seen *httpx.CallOutcome) *http.Client {
	watched := *c.http
	watched.Transport = httpx.RoundTripFunc(func(r *http.Request) (*http.Response, error) { return seen.Take(c.http.Transport.RoundTrip(r)) })
	return &watched
}

// readWithRetry is call for requests without side effects: it repeats the request when
// the answer cannot be decoded, and returns Invalid after several such answers, so that
// the caller goes on without it.
func (c *apiClient) readWithRetry(ctx context.Context, r route, into any) error {
	err := httpx.RetryRead(ctx, func() error { return c.call(ctx, r, nil, into) })
	if ctx.Err() == nil && adapters.KindOf(err) == adapters.Unknown && errors.Is(err, errUnread) {
		return &adapters.Error{Kind: adapters.Invalid, Op: r.op, Err: err}
	}
	return err
}

// identify asks Discord for the bot's user and application and stores both.
func (c *apiClient) identify(ctx context.Context) (adapters.BotAccount, error) {
	var me user
	if err := c.call(ctx, route{op: "get me", method: http.MethodGet, path: "/users/@me"}, nil, &me); err != nil {
		return adapters.BotAccount{}, err
	}
	if me.ID == "" {
		return adapters.BotAccount{}, &adapters.Error{Kind: adapters.Unknown, Op: "get me", Err: errors.New("the answer names no bot")}
	}
	self := account{user: me, application: me.ID}
	var app struct {
		ID    string `json:"id"`
		Flags int    `json:"flags"`
		Key   string `json:"verify_key"`
	}
	err := c.call(ctx, route{op: "get application", method: http.MethodGet, path: "/applications/@me"}, nil, &app)
	switch {
	case err == nil && app.ID != "":
		self.application, self.flags = app.ID, app.Flags
		self.key, _ = hex.DecodeString(app.Key) // one that is none proves nothing
	case err != nil && !adapters.KindOf(err).Permanent(): // without it a session is not told who comes and goes
		return adapters.BotAccount{}, err
	case err != nil:
		c.log.Debug("the application is not told", "error", err)
	}
	c.self.Store(&self)
	return adapters.BotAccount{Platform: "discord", ID: me.ID, Name: me.name(), Handle: me.Username}, nil
}

// me returns who we are, asking Discord when Connect has not yet.
func (c *apiClient) me(ctx context.Context) (account, error) {
	if self := c.self.Load(); self != nil {
		return *self, nil
	}
	if _, err := c.identify(ctx); err != nil {
		return account{}, fmt.Errorf("learn who we are: %w", err)
	}
	return *c.self.Load(), nil
}

// client returns the HTTP client for o: the token is put in at the last step, for the
// API's own host only.
func client(o Options, token adapters.SecretString, base string) *http.Client {
	c := httpx.Client(o.HTTPClient, httpx.Transport())
	host := ""
	if u, err := url.Parse(base); err == nil {
		host = u.Host
	}
	if o.Around != nil {
		c.Transport = o.Around(c.Transport)
	}
	c.Transport = tokenTransport{token: token, host: host, next: c.Transport}
	return c
}

// tokenTransport adds the token to requests for host.
type tokenTransport struct {
	token adapters.SecretString
	host  string
	next  http.RoundTripper
}

// RoundTrip sends a copy of r that carries the token, unless r is for a webhook or
// an interaction, whose address is the credential.
func (t tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != t.host || r.Context().Value(bare{}) != nil {
		return t.next.RoundTrip(r)
	}
	sent := r.Clone(r.Context())
	sent.Header.Set("Authorization", "Bot "+string(t.token))
	return t.next.RoundTrip(sent)
}

// bare is the mark of a context whose calls carry no token.
type bare struct{}

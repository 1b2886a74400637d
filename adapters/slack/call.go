package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	slackgo "github.com/slack-go/slack"
	"golang.org/x/time/rate"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// apiClient makes calls of Slack's Web API as one app.
type apiClient struct {
	o        Options
	base     string // without a slash at its end
	http     *http.Client
	dialer   *websocket.Dialer
	ours     func(*url.URL) bool // whether a host may see a token
	log      *slog.Logger
	readings *rate.Limiter

	self atomic.Pointer[self] // set by identify
}

// self is who we are in the workspace.
type self struct {
	Team string `json:"team_id"`
	User string `json:"user_id"`
	Bot  string `json:"bot_id"`
	Name string `json:"user"`
}

// account is our own id: a Slack user's is unique within its team only.
func (s self) account() string { return s.Team + "-" + s.User }

// apiStatus is the part of an answer that every method has.
type apiStatus struct {
	OK       *bool  `json:"ok"`
	Error    string `json:"error"`
	Needed   string `json:"needed"`  // the scope that is missing
	Warning  string `json:"warning"` // such as message_truncated
	Metadata struct {
		Messages []string `json:"messages"`
	} `json:"response_metadata"`
}

// call has the library make one request and returns the answer's body when
// Slack says ok. The body is read by us and not by the library, which refuses a
// whole page of history for one block it does not know. Any other outcome is an
// [*adapters.Error].
func (c *apiClient) call(ctx context.Context, method string, do func(context.Context, *slackgo.Client) error) ([]byte, error) {
	seen, err := c.callSeen(ctx, method, do)
	return seen.Whole, err
}

// callSeen is call for those who look at the whole answer.
func (c *apiClient) callSeen(ctx context.Context, method string, do func(context.Context, *slackgo.Client) error) (httpx.CallOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.CallTimeout)
	defer cancel()
	traced, written := adapters.TraceWritten(ctx)
	var seen httpx.CallOutcome
	api := slackgo.New(botPlace, slackgo.OptionAppLevelToken(appPlace),
		slackgo.OptionAPIURL(c.base+"/api/"), slackgo.OptionHTTPClient(httpx.RoundTripFunc(func(r *http.Request) (*http.Response, error) { return seen.Take(c.http.Do(r)) })))
	err := do(traced, api)
	seen.Written = written.Load()
	var said apiStatus
	if seen.Whole != nil && json.Unmarshal(seen.Whole, &said) != nil {
		said = apiStatus{}
	}
	if seen.Status == http.StatusOK && said.OK != nil && *said.OK {
		if said.Warning != "" {
			c.log.Debug("slack warns", "op", method, "warning", said.Warning)
		}
		return seen, nil
	}
	if err == nil {
		err = fmt.Errorf("the answer says neither yes nor no")
	}
	return httpx.CallOutcome{}, c.judge(method, seen, said, err)
}

// callInto is call with the answer read as a T.
func callInto[T any](ctx context.Context, c *apiClient, method string, do func(context.Context, *slackgo.Client) error) (T, error) {
	var out T
	raw, err := c.call(ctx, method, do)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, &adapters.Error{Kind: adapters.Unknown, Op: method, Err: err}
	}
	return out, nil
}

// authTest asks who the bot token belongs to; its scopes come with the answer.
func (c *apiClient) authTest(ctx context.Context) (httpx.CallOutcome, error) {
	return c.callSeen(ctx, "auth.test", func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.AuthTestContext(ctx)
		return err
	})
}

// identify asks Slack for the bot token's user and team and stores both. The answer's
// header holds the scopes of the token.
func (c *apiClient) identify(ctx context.Context) (self, httpx.CallOutcome, error) {
	seen, err := c.authTest(ctx)
	if err != nil {
		return self{}, seen, err
	}
	var me self
	if err := json.Unmarshal(seen.Whole, &me); err != nil || me.Team == "" || me.User == "" {
		return self{}, seen, &adapters.Error{Kind: adapters.Unknown, Op: "auth.test", Err: errors.New("the answer names no user of a team")}
	}
	c.self.Store(&me)
	return me, seen, nil
}

// me returns who we are, asking Slack when Connect has not yet.
func (c *apiClient) me(ctx context.Context) (self, error) {
	if me := c.self.Load(); me != nil {
		return *me, nil
	}
	me, _, err := c.identify(ctx)
	if err != nil {
		return self{}, fmt.Errorf("learn who we are: %w", err)
	}
	return me, nil
}

// pageSize is how many things one call for a list asks for.
const pageSize = 200

// A list is one page of what Slack lists: messages or channels.
type list struct {
	Messages []json.RawMessage `json:"messages"`
	Channels []channel         `json:"channels"`
	Metadata struct {
		Cursor string `json:"next_cursor"`
	} `json:"response_metadata"`
}

// pages returns the pages of a list, which get asks for, up to the first error.
// Only the cursor says whether there are more: Slack may leave a page empty. One
// that leads to itself leads nowhere.
func pages(get func(cursor string) (list, error)) iter.Seq2[list, error] {
	return func(yield func(list, error) bool) {
		for cursor := ""; ; {
			page, err := get(cursor)
			next := page.Metadata.Cursor
			if !yield(page, err) || err != nil || next == "" || next == cursor {
				return
			}
			cursor = next
		}
	}
}

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
	err = httpx.RetryRead(ctx, func() (err error) {
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

// What represents the tokens in every request but the one on the wire. The
// library writes them into forms and headers; errors that quote a request show
// these.
const (
	botPlace = "***"
	appPlace = "***app"
)

// transports returns the HTTP client for o, tokens put in at the last step, and the
// dialer of sockets that goes the same way.
func transports(o Options, base string) (*http.Client, *websocket.Dialer, tokenTransport) {
	c := httpx.Client(o.HTTPClient, httpx.Transport())
	dialer := httpx.Dialer(c.Transport)
	if o.Around != nil {
		c.Transport = o.Around(c.Transport)
	}
	host := ""
	if u, err := url.Parse(base); err == nil {
		host = u.Host
	}
	tokens := tokenTransport{bot: o.BotToken, app: o.AppToken, host: host, next: c.Transport}
	c.Transport = tokens
	return c, dialer, tokens
}

// tokenTransport puts the tokens where their places are held, for Slack's own
// hosts and the configured one. A token always travels in the header: Slack takes
// it there for every method, and a form is more likely to be logged.
type tokenTransport struct {
	bot, app adapters.SecretString
	host     string
	next     http.RoundTripper
}

// RoundTrip sends a copy of r that carries the token.
func (t tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := r.Clone(r.Context())
	if sent.Body != nil && strings.HasPrefix(sent.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		if err := moveToken(sent); err != nil {
			return nil, err
		}
	}
	switch place := strings.TrimPrefix(sent.Header.Get("Authorization"), "Bearer "); {
	case place != botPlace && place != appPlace:
	case !t.ours(sent.URL):
		sent.Header.Del("Authorization")
	case place == botPlace:
		sent.Header.Set("Authorization", "Bearer "+string(t.bot))
	default:
		sent.Header.Set("Authorization", "Bearer "+string(t.app))
	}
	return t.next.RoundTrip(sent)
}

// moveToken takes the token's place out of the form and into the header.
func moveToken(r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	_ = r.Body.Close() // it was memory
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return err
	}
	if place := form.Get("token"); place != "" {
		form.Del("token")
		r.Header.Set("Authorization", "Bearer "+place)
		body = []byte(form.Encode())
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return nil
}

// ours reports whether u's host may see a token.
func (t tokenTransport) ours(u *url.URL) bool {
	if u.Host == t.host {
		return true
	}
	host := strings.ToLower(u.Hostname())
	return u.Scheme == "https" && (host == "slack.com" || strings.HasSuffix(host, ".slack.com"))
}

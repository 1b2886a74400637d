package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	slackgo "github.com/slack-go/slack"
	"golang.org/x/time/rate"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// Options say which app this is, in which workspace, and how its events come.
type Options struct {
	// BotToken is the bot token of the app's installation in the workspace, xoxb-….
	// Required.
	BotToken adapters.Secret
	// AppToken is the app-level token for Socket Mode, xapp-…. Required unless
	// SigningSecret is set.
	AppToken adapters.Secret
	// SigningSecret proves that an HTTP request comes from Slack. Without it the
	// app is not called over HTTP. Default: none.
	SigningSecret adapters.Secret
	// HookPath is where Slack was told to call. Default: /slack/events
	HookPath string
	// APIURL is the base URL of the Web API without its /api, with or without a
	// slash at its end. Default: https://slack.com
	APIURL string
	// HTTPClient carries the requests. Its redirect policy and timeout are not
	// used: redirects are refused and every call has its own deadline. Default: a
	// client made for many parallel calls to one host.
	HTTPClient *http.Client
	// Around wraps what carries the requests; it sees them with their tokens.
	// Default: nothing does.
	Around func(http.RoundTripper) http.RoundTripper
	// Logger takes what the adapter decides by itself. Default: nothing is logged.
	Logger *slog.Logger
	// CallTimeout bounds every call. Default: 30 s.
	CallTimeout time.Duration
	// Unpaced gives up Slack's published limits, for servers that have none.
	// Default: false.
	Unpaced bool
}

// Client is one app in one workspace. Its methods may be called concurrently,
// but only one Receive at a time.
type Client struct {
	o        Options
	base     string // without a slash at its end
	http     *http.Client
	dialer   *websocket.Dialer
	ours     func(*url.URL) bool // whether a host may see a token
	log      *slog.Logger
	names    *names
	readings *rate.Limiter
	refused  httpx.RejectedCallLog // calls

	self     atomic.Pointer[self]     // set by Connect
	hook     atomic.Pointer[receiver] // set while Receive runs
	faceless atomic.Bool              // the bot token is known to lack the scope for faces
	closed   atomic.Bool              // the Messages tab is known to be closed

	mu      sync.Mutex             // guards what follows
	deleted map[string]struct{}    // messages that we deleted, as chat/ts: their telling is an echo
	untold  map[string]string      // a chat by the subscription that seems to be missing
	asides  map[string]responseURL // by chat
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

var (
	_ adapters.Adapter           = (*Client)(nil)
	_ adapters.RateLimitReporter = (*Client)(nil)
)

// New returns the app that o describes. It calls nobody; it fails when a
// credential is missing or the URL is no base URL.
func New(o Options) (*Client, error) {
	switch {
	case o.BotToken == "":
		return nil, errors.New("slack: the bot token (xoxb-…) is missing")
	case o.AppToken == "" && o.SigningSecret == "":
		return nil, errors.New("slack: neither an app token (xapp-…) for Socket Mode nor a signing secret for HTTP is given")
	}
	base, err := httpx.BaseURL("slack", o.APIURL, "https://slack.com")
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = 30 * time.Second
	}
	o.HookPath = cmp.Or(o.HookPath, "/slack/events")
	c := &Client{
		o: o, base: strings.TrimSuffix(base, "/api"), log: o.Logger,
		readings: readings(o.Unpaced), deleted: map[string]struct{}{}, untold: map[string]string{}, asides: map[string]responseURL{},
	}
	var tokens tokenTransport
	c.http, c.dialer, tokens = transports(o, c.base)
	c.ours = tokens.ours
	c.names = newNames(c)
	return c, nil
}

// Connect asks Slack who the bot token belongs to. Whether the app token is good
// shows in Receive.
func (c *Client) Connect(ctx context.Context) (adapters.Account, error) {
	seen, err := c.authTest(ctx)
	if err != nil {
		return adapters.Account{}, err
	}
	c.learnScopes(seen.Header.Get(scopesHeader))
	var me self
	if err := json.Unmarshal(seen.Whole, &me); err != nil || me.Team == "" || me.User == "" {
		return adapters.Account{}, &adapters.Error{Kind: adapters.Unknown, Op: "auth.test", Err: errors.New("the answer names no user of a team")}
	}
	c.self.Store(&me)
	name := me.Name
	if p := c.names.user(ctx, me.User); p.Name != "" && p.Name != me.User {
		name = p.Name
	}
	return adapters.Account{Platform: "slack", ID: me.account(), Name: name, Handle: me.Name}, nil
}

// authTest asks who the bot token belongs to; its scopes come with the answer.
func (c *Client) authTest(ctx context.Context) (httpx.Answer, error) {
	return c.callSeen(ctx, "auth.test", func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.AuthTestContext(ctx)
		return err
	})
}

// Format writes "slack client" whatever the verb: fmt cannot ask a private field
// to hide itself, so it would show the tokens.
func (*Client) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte("slack client")) // a formatter has nobody to tell
}

// me returns who we are, asking Slack when Connect has not yet.
func (c *Client) me(ctx context.Context) (self, error) {
	if me := c.self.Load(); me != nil {
		return *me, nil
	}
	if _, err := c.Connect(ctx); err != nil {
		return self{}, fmt.Errorf("learn who we are: %w", err)
	}
	return *c.self.Load(), nil
}

// Pace returns Slack's published limit: one message a second in each
// conversation, with short bursts (docs.slack.dev/apis/web-api/rate-limits).
func (c *Client) Pace(adapters.Chat) adapters.RateLimit {
	if c.o.Unpaced {
		return adapters.RateLimit{}
	}
	return adapters.RateLimit{Every: time.Second, Burst: 5}
}

package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// Options say which app this is, in which workspace, and how its events come.
type Options struct {
	// BotToken is the bot token of the app's installation in the workspace, xoxb-….
	// Required.
	BotToken adapters.SecretString
	// AppToken is the app-level token for Socket Mode, xapp-…. Required unless
	// SigningSecret is set.
	AppToken adapters.SecretString
	// SigningSecret proves that an HTTP request comes from Slack. Without it the
	// app is not called over HTTP. Default: none.
	SigningSecret adapters.SecretString
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
	// Prompts returns what is suggested to people who open the direct chat, where the app
	// is an agent; of more than [MaxPrompts] the first. It may be called concurrently.
	// Default: nothing is suggested.
	Prompts func() []string
	// Unpaced gives up Slack's published limits, for servers that have none.
	// Default: false.
	Unpaced bool
}

// Client is one app in one workspace. Its methods may be called concurrently,
// but only one Receive at a time.
//
// It is composed of parts: the calls of the Web API, the reading of history with the
// names in it, and the sending of messages. Each part uses the one before it.
type Client struct {
	*messageSender

	refused httpx.RejectedCallLog
	hook    atomic.Pointer[receiver] // set while Receive runs

	mu     sync.Mutex        // guards what follows
	deafAt time.Time         // when it was last reconnected for being deaf
	untold map[string]string // a chat by the event subscription that seems to be missing
}

// messageSender sends, edits and deletes messages and reacts to them.
type messageSender struct {
	*historyReader

	faceless atomic.Bool // the bot token is known to lack the scope for personas
	closed   atomic.Bool // the Messages tab is known to be closed
	agent    agentApp

	mu      sync.Mutex             // guards what follows
	deleted map[string]struct{}    // messages that this app deleted, as chat/ts: their events are echoes
	asides  map[string]responseURL // by chat
}

var (
	_ adapters.Adapter           = (*Client)(nil)
	_ adapters.RateLimitReporter = (*Client)(nil)
)

// New returns the app that o describes. It makes no call; it fails when a
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
	api := &apiClient{o: o, base: strings.TrimSuffix(base, "/api"), log: o.Logger, readings: readings(o.Unpaced)}
	var tokens tokenTransport
	api.http, api.dialer, tokens = transports(o, api.base)
	api.ours = tokens.ours
	sender := &messageSender{
		historyReader: &historyReader{apiClient: api, names: newNames(api)},
		deleted:       map[string]struct{}{}, asides: map[string]responseURL{},
	}
	return &Client{messageSender: sender, untold: map[string]string{}}, nil
}

// Connect asks Slack who the bot token belongs to. Whether the app token is good
// shows in Receive.
func (c *Client) Connect(ctx context.Context) (adapters.BotAccount, error) {
	me, seen, err := c.identify(ctx)
	if err != nil {
		return adapters.BotAccount{}, err
	}
	c.learnScopes(seen.Header.Get(scopesHeader))
	c.agent.refused.Store(false) // the app may have been declared one since
	name := me.Name
	if p := c.names.user(ctx, me.User); p.Name != "" && p.Name != me.User {
		name = p.Name
	}
	return adapters.BotAccount{Platform: "slack", ID: me.account(), Name: name, Handle: me.Name}, nil
}

// Format writes "slack client" whatever the verb: fmt cannot ask a private field
// to hide itself, so it would show the tokens.
func (*Client) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte("slack client")) // a formatter cannot report an error
}

// Pace returns Slack's published limit: one message a second in each
// conversation, with short bursts (docs.slack.dev/apis/web-api/rate-limits).
func (c *Client) Pace(adapters.Chat) adapters.RateLimit {
	if c.o.Unpaced {
		return adapters.RateLimit{}
	}
	return adapters.RateLimit{Every: time.Second, Burst: 5}
}

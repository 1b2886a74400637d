package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// Options say which bot this is and where its server stands.
type Options struct {
	// Token is the bot's token as the developer portal gave it, with or without
	// the word Bot before it. Required.
	Token adapters.Secret
	// APIURL is the base URL of the API, with or without its version. Default:
	// https://discord.com/api
	APIURL string
	// HTTPClient carries the requests. Its transport, if it is an
	// [http.Transport], says how the gateway is dialled, too. Redirects are refused
	// and every call has its own deadline. Default: a client of its own.
	HTTPClient *http.Client
	// Around wraps what carries the requests of the API; it sees them with their
	// token. Default: nothing does.
	Around func(http.RoundTripper) http.RoundTripper
	// Logger takes what the adapter decides by itself. Default: nothing is logged.
	Logger *slog.Logger
	// HookPath is the path under which Discord was told to call with interactions, in
	// the developer portal. Default: it was not; they come over the gateway.
	HookPath string
	// CallTimeout bounds every call. Default: 30 s.
	CallTimeout time.Duration
	// Unpaced gives up the pace we keep before Discord has named its limits. Those
	// it names are always kept. Default: false.
	Unpaced bool
}

// Client is one bot. Its methods may be called concurrently, but only one
// Receive at a time.
type Client struct {
	token   adapters.Secret
	base    string // with the version, without a slash at its end
	rest    *discordgo.Session
	http    *http.Client // with the token, for the API's host alone
	files   *http.Client // without it
	log     *slog.Logger
	limit   time.Duration
	unpaced bool
	markup  dialect

	limits limits
	known  directory
	faces  webhookCache
	ours   recent // what we deleted ourselves
	worn   recent // messages that webhooks of ours sent, as far as an edit has shown it

	receipted receipts

	hookPath string
	refused  httpx.RejectedCallLog // calls

	self     atomic.Pointer[account]  // set by Connect
	receives atomic.Pointer[receiver] // set while Receive runs
}

// account is who we are.
type account struct {
	user
	application string
	flags       int               // of the application; 0 when Discord did not say
	key         ed25519.PublicKey // by which its calls are proved
}

var (
	_ adapters.Adapter           = (*Client)(nil)
	_ adapters.RateLimitReporter = (*Client)(nil)
)

// New returns the bot that o describes. It calls nobody; it fails when the
// token is missing or the URL is no base URL.
func New(o Options) (*Client, error) {
	token := adapters.Secret(strings.TrimPrefix(string(o.Token), "Bot "))
	if token == "" {
		return nil, errors.New("discord: the bot token is missing")
	}
	base, err := baseURL(o.APIURL)
	if err != nil {
		return nil, err
	}
	rest, err := discordgo.New("") // the token is put in by the transport
	if err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	rest.MaxRestRetries, rest.ShouldRetryOnRateLimit = 0, false
	rest.LogLevel = -1 // it would write to the standard error
	c := &Client{
		token: token, base: base, rest: rest,
		http: client(o, token, base), files: httpx.Client(o.HTTPClient, httpx.Transport()),
		log: o.Logger, limit: o.CallTimeout, unpaced: o.Unpaced,
		markup: newDialect(), hookPath: o.HookPath,
	}
	rest.Client = c.http
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.limit <= 0 {
		c.limit = 30 * time.Second
	}
	return c, nil
}

var versioned = regexp.MustCompile(`/api/v[0-9]+$`)

// baseURL checks the operator's URL and completes it with the version of the API
// that the library speaks.
func baseURL(s string) (string, error) {
	base, err := httpx.BaseURL("discord", s, "https://discord.com/api")
	switch {
	case err != nil, versioned.MatchString(base):
		return base, err
	case strings.HasSuffix(base, "/api"):
		return base + "/v" + discordgo.APIVersion, nil
	default:
		return base + "/api/v" + discordgo.APIVersion, nil
	}
}

// Connect asks Discord who the token belongs to, and what its application may
// ask for.
func (c *Client) Connect(ctx context.Context) (adapters.Account, error) {
	var me user
	if err := c.call(ctx, route{op: "get me", method: http.MethodGet, path: "/users/@me"}, nil, &me); err != nil {
		return adapters.Account{}, err
	}
	if me.ID == "" {
		return adapters.Account{}, &adapters.Error{Kind: adapters.Unknown, Op: "get me", Err: errors.New("the answer names no bot")}
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
		return adapters.Account{}, err
	case err != nil:
		c.log.Debug("the application is not told", "error", err)
	}
	c.self.Store(&self)
	return adapters.Account{Platform: "discord", ID: me.ID, Name: me.name(), Handle: me.Username}, nil
}

// Format writes "discord client" whatever the verb: fmt cannot ask a private
// field to hide itself, so it would show the token.
func (*Client) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte("discord client")) // a formatter has nobody to tell
}

// me returns who we are, asking Discord when Connect has not yet.
func (c *Client) me(ctx context.Context) (account, error) {
	if self := c.self.Load(); self != nil {
		return *self, nil
	}
	if _, err := c.Connect(ctx); err != nil {
		return account{}, fmt.Errorf("learn who we are: %w", err)
	}
	return *c.self.Load(), nil
}

// Pace returns what Discord is seen to allow in one channel, five messages in
// five seconds. Its true limits come with every answer and are kept by the calls
// themselves.
func (c *Client) Pace(adapters.Chat) adapters.RateLimit {
	if c.unpaced {
		return adapters.RateLimit{}
	}
	return adapters.RateLimit{Every: time.Second, Burst: 5}
}

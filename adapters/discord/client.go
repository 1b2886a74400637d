package discord

import (
	"context"
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

// Options name the bot and the address of its server.
type Options struct {
	// Token is the bot's token as the developer portal gave it, with or without
	// the word Bot before it. Required.
	Token adapters.SecretString
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
//
// It is composed of parts: the calls of the API, what is known of guilds, the reading
// of messages and their sending. Each part uses the one before it.
type Client struct {
	*messageSender

	unpaced  bool
	hookPath string
	refused  httpx.RejectedCallLog
	presses  pressAnswers

	receives atomic.Pointer[receiver] // set while Receive runs
	deaf     deafReport
}

// messageReader reads messages, events' and history's alike, as the contract has them.
type messageReader struct {
	*guildDirectory

	markup   dialect
	webhooks webhookCache
}

// messageSender sends, edits and deletes messages and reacts to them.
type messageSender struct {
	*messageReader

	deleted   recent // messages that this account deleted
	hooked    recent // messages of our own webhooks, known from a refused edit
	receipted receipts
	commands  commandAnswers
}

var (
	_ adapters.Adapter           = (*Client)(nil)
	_ adapters.RateLimitReporter = (*Client)(nil)
)

// New returns the bot that o describes. It makes no call; it fails when the
// token is missing or the URL is no base URL.
func New(o Options) (*Client, error) {
	token := adapters.SecretString(strings.TrimPrefix(string(o.Token), "Bot "))
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
	api := &apiClient{
		token: token, base: base, rest: rest,
		http: client(o, token, base), files: httpx.Client(o.HTTPClient, httpx.Transport()),
		log: o.Logger, timeout: o.CallTimeout,
	}
	rest.Client = api.http
	if api.log == nil {
		api.log = slog.New(slog.DiscardHandler)
	}
	if api.timeout <= 0 {
		api.timeout = 30 * time.Second
	}
	read := &messageReader{guildDirectory: &guildDirectory{apiClient: api}, markup: newDialect()}
	return &Client{messageSender: &messageSender{messageReader: read}, unpaced: o.Unpaced, hookPath: o.HookPath}, nil
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
func (c *Client) Connect(ctx context.Context) (adapters.BotAccount, error) { return c.identify(ctx) }

// Format writes "discord client" whatever the verb: fmt cannot ask a private
// field to hide itself, so it would show the token.
func (*Client) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte("discord client")) // a formatter cannot report an error
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

package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
	"github.com/trestle-bridge/trestle/internal/safehttp"
)

// Options name the bot and the address of its server.
type Options struct {
	// Token is the bot's token as BotFather gave it. Required.
	Token adapters.SecretString
	// APIURL is the base URL of the Bot API server, with or without a slash at
	// its end. Default: https://api.telegram.org
	APIURL string
	// HTTPClient carries the requests. Its redirect policy and timeout are not
	// used: redirects are refused and every call has its own deadline. Default: a
	// client made for many parallel calls to one host.
	HTTPClient *http.Client
	// Around wraps what carries the requests; it sees them with their token.
	// Default: nothing is wrapped.
	Around func(http.RoundTripper) http.RoundTripper
	// Logger takes what the adapter decides by itself. Default: nothing is logged.
	Logger *slog.Logger
	// PollTimeout is how long Telegram may hold one poll open; the server caps it
	// at 50 s. Default: 50 s.
	PollTimeout time.Duration
	// CallTimeout bounds every other call. Default: 30 s.
	CallTimeout time.Duration
	// WebhookURL is where Telegram should call us, an https address whose path is
	// this bot's own on [Client.ServeHTTP]'s server. Default: none; updates are polled.
	WebhookURL string
	// Unpaced gives up Telegram's published limits, for servers that have none.
	// Default: false.
	Unpaced bool
}

// Client is one bot. Its methods may be called concurrently, but only one
// Receive at a time.
type Client struct {
	token    adapters.SecretString
	endpoint string // the library's format: base, token, method
	http     *http.Client
	log      *slog.Logger
	poll     time.Duration
	limit    time.Duration
	unpaced  bool
	markdown markdown

	hook  hook
	base  string // of every address, without a slash at its end
	files *safehttp.Client

	self      atomic.Pointer[user] // set by Connect
	receiving atomic.Bool          // set while Receive runs
	resumes   atomic.Bool          // it failed, and not because another program receives: it will run again
	guests    guestAnswers
	serverFeatures
	runSigns
}

var (
	_ adapters.Adapter           = (*Client)(nil)
	_ adapters.RateLimitReporter = (*Client)(nil)
)

// New returns the bot that o describes. It makes no call; it fails when the
// token is missing or the URL is no base URL.
func New(o Options) (*Client, error) {
	if o.Token == "" {
		return nil, errors.New("telegram: the bot token is missing")
	}
	base, err := httpx.BaseURL("telegram", o.APIURL, telegramServer)
	if err != nil {
		return nil, err
	}
	if err := checkHook(o.WebhookURL, o.APIURL != ""); err != nil {
		return nil, err
	}
	files, err := newFiles(o)
	if err != nil {
		return nil, err
	}
	c := &Client{
		base:     base,
		files:    files,
		hook:     hook{url: o.WebhookURL, secret: hookSecret(o.Token)},
		token:    o.Token,
		endpoint: strings.ReplaceAll(base, "%", "%%") + "/bot%s/%s",
		http:     client(o),
		log:      o.Logger,
		poll:     min(o.PollTimeout, maxPoll),
		limit:    o.CallTimeout,
		unpaced:  o.Unpaced,
		markdown: newMarkdown(),
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.poll <= 0 {
		c.poll = maxPoll
	}
	if c.limit <= 0 {
		c.limit = 30 * time.Second
	}
	return c, nil
}

// telegramServer is Telegram's own; others may give tokens of any shape.
const telegramServer = "https://api.telegram.org"

// Connect asks Telegram who the token belongs to. A webhook that is set does
// not show here but in Receive, as a Conflict.
func (c *Client) Connect(ctx context.Context) (adapters.BotAccount, error) {
	if c.base == telegramServer && !tokenShape.MatchString(string(c.token)) {
		return adapters.BotAccount{}, &adapters.Error{Kind: adapters.Unauthorized, Op: "getMe", Err: errShape}
	}
	me, err := call[user](ctx, c, "getMe", nil, c.limit)
	if err != nil {
		return adapters.BotAccount{}, err
	}
	if me.ID == 0 {
		return adapters.BotAccount{}, &adapters.Error{Kind: adapters.Unknown, Op: "getMe", Err: errors.New("the answer names no bot")}
	}
	c.self.Store(&me)
	return adapters.BotAccount{
		Platform: "telegram",
		ID:       strconv.FormatInt(me.ID, 10),
		Name:     me.name(),
		Handle:   me.Username,
	}, nil
}

// Format writes "telegram client" whatever the verb: fmt cannot ask a private
// field to hide itself, so it would show the token.
func (*Client) Format(f fmt.State, _ rune) {
	_, _ = f.Write([]byte("telegram client")) // a formatter cannot report an error
}

// me returns who we are, asking Telegram when Connect has not yet.
func (c *Client) me(ctx context.Context) (user, error) {
	if self := c.self.Load(); self != nil {
		return *self, nil
	}
	if _, err := c.Connect(ctx); err != nil {
		return user{}, fmt.Errorf("learn who we are: %w", err)
	}
	return *c.self.Load(), nil
}

// Pace returns Telegram's published limits for one chat: about one message a
// second with short bursts, and 20 a minute in a group or channel
// (core.telegram.org/bots/faq, "My bot is hitting limits"). Where the kind is not
// said, the id tells: only people's are positive.
func (c *Client) Pace(chat adapters.Chat) adapters.RateLimit {
	switch {
	case c.unpaced:
		return adapters.RateLimit{}
	case chat.Kind == adapters.Direct, chat.Kind == "" && !strings.HasPrefix(chat.ID, "-"):
		return adapters.RateLimit{Every: time.Second, Burst: 5}
	default:
		return adapters.RateLimit{Every: 3 * time.Second, Burst: 5}
	}
}

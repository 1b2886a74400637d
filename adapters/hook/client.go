package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"sync/atomic"
	"text/template"
	"time"

	"golang.org/x/time/rate"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// PathPrefix is the beginning of the path of every hook; its name follows.
const PathPrefix = "/hooks/"

// DefaultChat is the chat of an event that names none.
const DefaultChat = "events"

// MinSecret is the least length of a token or a secret, in bytes: a shorter one can be guessed.
const MinSecret = 16

// A FileStore keeps files under the hash of their content.
type FileStore interface {
	// Put stores what body gives and returns its hash and its length in bytes, once it is
	// on disk.
	Put(body io.Reader) (hash string, size int64, err error)
	// Take opens the file with that hash; the caller closes it.
	Take(hash string) (io.ReadCloser, error)
}

// Options describe one hook.
type Options struct {
	// Name is the last part of the path, and the account under which stored data knows the
	// hook, so that another name is another account. See [CheckName]. Required.
	Name string
	// Token is the bearer token of callers. Default: none is taken.
	Token adapters.SecretString
	// Secret is the key of callers' signatures. Default: none is taken. Token, Secret or
	// both are required.
	Secret adapters.SecretString
	// Text is the source of a template of the text of an event, executed over the JSON of
	// the body; see [ParseText]. Default: the body has a text.
	Text string
	// ReplyURL takes what is sent to the chat; it may hold a credential. Default: what is
	// sent is posted nowhere.
	ReplyURL adapters.SecretString
	// ReplySecret is the key of the signatures of replies. Required with ReplyURL.
	ReplySecret adapters.SecretString
	// Chats returns the chats that are mapped to a space. It is called for every event.
	// Default: every chat is taken.
	Chats func() []string
	// Files keeps the files of events. Default: an event with files is refused.
	Files FileStore
	// NewID mints ids of events whose callers give none. Required.
	NewID func() string
	// HTTPClient posts replies. Redirects are never followed. Default: a client of its own.
	HTTPClient *http.Client
	// Logger takes one line for each fault, without words of events. Default: none are written.
	Logger *slog.Logger
}

// The pace of one hook: so many events at once, then one every so often.
const (
	burst = 60
	every = time.Second / 2
)

// Client is one hook. Its methods may be called concurrently.
type Client struct {
	o       Options
	text    *template.Template // nil: the body has the text
	http    *http.Client
	log     *slog.Logger
	pace    *rate.Limiter
	refused httpx.RejectedCallLog

	receiving atomic.Bool
	events    chan delivery // to Receive, which owns the sink
}

var (
	_ adapters.WebhookReceiver  = (*Client)(nil)
	_ adapters.FileDownloader   = (*Client)(nil)
	_ adapters.AccountDiagnoser = (*Client)(nil)
)

// names are the names that a hook may have: they stand in addresses.
var names = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// CheckName returns an error when a hook cannot have that name.
func CheckName(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("%q is no name of a hook: it stands in an address, so it has small letters, digits, _ and - only", name)
	}
	return nil
}

// New returns a hook without a call over the network. It fails when the options do not say who may
// post.
func New(o Options) (*Client, error) {
	if o.NewID == nil {
		panic("hook: a hook without a source of ids")
	}
	if err := CheckName(o.Name); err != nil {
		return nil, err
	}
	if o.Token == "" && o.Secret == "" {
		return nil, errors.New("hook: neither a token nor a secret proves who posts")
	}
	for _, s := range []adapters.SecretString{o.Token, o.Secret, o.ReplySecret} {
		if s != "" && len(s) < MinSecret {
			return nil, fmt.Errorf("hook: a secret has %d bytes, and fewer than %d can be guessed", len(s), MinSecret)
		}
	}
	if (o.ReplyURL == "") != (o.ReplySecret == "") {
		return nil, errors.New("hook: an address for replies needs a secret of its own, and the other way round")
	}
	text, err := ParseText(o.Text)
	if err != nil {
		return nil, err
	}
	return &Client{
		o: o, text: text, http: httpx.Client(o.HTTPClient, httpx.Transport()), log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		pace: rate.NewLimiter(rate.Every(every), burst), events: make(chan delivery),
	}, nil
}

// Format writes "hook client" whatever the verb: fmt cannot ask a private field for its
// String, so it would print the secrets as they are.
func (*Client) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "hook client") // a formatter cannot report an error
}

// Connect says who the hook is. It cannot fail.
func (c *Client) Connect(context.Context) (adapters.BotAccount, error) {
	return adapters.BotAccount{Platform: "hook", ID: c.o.Name, Name: c.o.Name}, nil
}

// heartbeat is how often Receive says that the hook is there.
const heartbeat = 30 * time.Second

// Receive hands each event to the sink, one after the other, and returns the sink's answer to
// [Client.ServeHTTP]. The cursor is not used: what is not recorded was refused, and its
// caller keeps it.
func (c *Client) Receive(ctx context.Context, _ []byte, sink adapters.UpdateSink) error {
	c.receiving.Store(true)
	defer c.receiving.Store(false)
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	sink.Alive(time.Now())
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-alive.C:
			sink.Alive(now)
		case d := <-c.events:
			d.taken <- sink.Accept(ctx, adapters.UpdateBatch{Updates: []adapters.Update{d.update}})
		}
	}
}

// Fetch opens a file that came with an event. One that is not kept any more is [adapters.Invalid].
func (c *Client) Fetch(_ context.Context, a adapters.IncomingFile, limit int64) (io.ReadCloser, error) {
	if c.o.Files == nil {
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "get file", Err: errNoFiles}
	}
	body, err := c.o.Files.Take(a.ID)
	if err != nil {
		c.log.Error("file of an event not found", "err", err)
		return nil, &adapters.Error{Kind: adapters.Invalid, Op: "get file", Err: errors.New("the file is not there any more")}
	}
	return httpx.LimitBody(body, limit), nil
}

var errNoFiles = errors.New("no files are kept here")

package telegram

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

var _ adapters.WebhookReceiver = (*Client)(nil)

const (
	maxCall    = 1 << 20          // bytes of one call
	hookLooked = 30 * time.Second // between looks at what Telegram says of the webhook
	retryCall  = "5"              // seconds after which Telegram may call again
)

// secretHeader is where Telegram repeats what setWebhook was given.
const secretHeader = "X-Telegram-Bot-Api-Secret-Token" //nolint:gosec // a header's name

// hook is the side of a client that Telegram calls.
type hook struct {
	url     string
	secret  string
	refused httpx.RejectedCallLog // calls

	mu      sync.Mutex // guards session
	session *session   // nil while no Receive runs
}

// session is one Receive with the calls it has under way.
type session struct {
	read  reader
	sink  adapters.UpdateSink
	calls sync.WaitGroup
}

// hookSecret returns what Telegram must show when it calls. It is derived from the
// token, so that it survives restarts, differs from bot to bot and is known only to
// programs that have the token; it has no other use.
func hookSecret(token adapters.SecretString) string {
	mac := hmac.New(sha256.New, []byte(token))
	_, _ = mac.Write([]byte("trestle: telegram webhook")) // a hash never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// checkHook checks the operator's address; empty is none. Only an operator's own Bot API
// server may call http:// (https://core.telegram.org/bots/api#using-a-local-bot-api-server).
func checkHook(address string, own bool) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "https" && (u.Scheme != "http" || !own):
		return errors.New("telegram: webhook_url must be an https:// address")
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("telegram: webhook_url must name a host, and no user, query or fragment")
	case u.Path == "" || u.Path == "/":
		return errors.New("telegram: webhook_url needs a path of its own, such as https://example.com/telegram/ada")
	}
	return nil
}

// HookPath returns the path of WebhookURL; empty when there is none.
func (c *Client) HookPath() string {
	u, err := url.Parse(c.hook.url)
	if err != nil {
		return ""
	}
	return u.Path
}

// beCalled has Telegram call us until ctx is done. What was still to be polled is
// called in by Telegram, so that the change loses nothing.
func (c *Client) beCalled(ctx context.Context, read reader, at position, sink adapters.UpdateSink) error {
	if from, to, lost := at.lost(time.Now()); lost {
		b := adapters.UpdateBatch{Updates: []adapters.Update{gap(from, to)}, Cursor: calledAt(to.Add(retention)).cursor()}
		if err := sink.Accept(ctx, b); err != nil {
			return err
		}
	}
	s := &session{read: read, sink: sink}
	c.hook.begin(s)
	defer c.hook.end(s)
	params := tgbotapi.Params{"url": c.hook.url, "secret_token": c.hook.secret, "max_connections": "40"}
	err := c.naming(c.log, params, func() error {
		_, err := call[bool](ctx, c, "setWebhook", params, c.limit)
		return err
	})
	if err != nil {
		return err
	}
	return c.watchHook(ctx, sink)
}

// hookInfo is what Telegram says of the webhook.
type hookInfo struct {
	URL       string `json:"url"`
	Pending   int    `json:"pending_update_count"`
	ErrorDate int64  `json:"last_error_date"`
	Error     string `json:"last_error_message"`
	// Allowed are the updates that the server sends: those of the last allowed_updates that
	// it knows.
	Allowed []string `json:"allowed_updates"`
}

// watchHook looks at the webhook now and then: a silent chat and a dead proxy
// look the same from here, and only Telegram knows which it is.
func (c *Client) watchHook(ctx context.Context, sink adapters.UpdateSink) error {
	var told int64
	stored := time.Time{}
	for ctx.Err() == nil {
		info, err := call[hookInfo](ctx, c, "getWebhookInfo", nil, c.limit)
		now := time.Now()
		switch {
		case err != nil:
			return err
		case info.URL != c.hook.url:
			return &adapters.Error{Kind: adapters.Conflict, Op: "getWebhookInfo", Err: errors.New("somebody else has taken the webhook or removed it")}
		case info.Error != "" && info.ErrorDate > told && now.Sub(at(info.ErrorDate)) < 2*hookLooked:
			told = info.ErrorDate
			c.log.Warn("telegram cannot call us", "reason", info.Error, "waiting", info.Pending)
		}
		c.note(info)
		sink.Alive(now)
		if now.Sub(stored) >= renewal {
			if err := sink.Accept(ctx, adapters.UpdateBatch{Cursor: calledAt(now).cursor()}); err != nil {
				c.log.Error("cursor not recorded", "error", err)
			} else {
				stored = now
			}
		}
		adapters.SleepContext(ctx, hookLooked)
	}
	return nil
}

// endCalls removes the webhook that an earlier configuration had set. What waits
// behind it is then polled.
func (c *Client) endCalls(ctx context.Context) error {
	_, err := call[bool](ctx, c, "deleteWebhook", nil, c.limit)
	if err == nil {
		c.log.Info("webhook removed, polling from now on")
	}
	return err
}

// begin lets calls in.
func (h *hook) begin(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.session = s
}

// end lets no more calls in and waits for those under way.
func (h *hook) end(s *session) {
	h.mu.Lock()
	if h.session == s {
		h.session = nil
	}
	h.mu.Unlock()
	s.calls.Wait()
}

// enter returns the session with one more call under way, or nil.
func (h *hook) enter() *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != nil {
		h.session.calls.Add(1)
	}
	return h.session
}

// ServeHTTP takes one call of Telegram's. It is answered 200 once the sink has
// taken the update, which may be for the second time; 401 unless it proves that
// it comes from Telegram; 503 while no Receive runs or the sink refuses, and
// Telegram calls again (core.telegram.org/bots/api#setwebhook).
func (c *Client) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, status, reason := c.hook.open(w, r)
	if reason != "" {
		c.hook.refused.Note(c.log, reason)
		http.Error(w, reason, status)
		return
	}
	s := c.hook.enter()
	if s == nil {
		busy(w)
		return
	}
	defer s.calls.Done()
	if err := c.take(r.Context(), s, raw); err != nil {
		c.log.Error("update not recorded, telegram will call again", "error", err)
		busy(w)
	}
}

// open returns the body of a call, or with which status and why it is refused.
func (h *hook) open(w http.ResponseWriter, r *http.Request) (raw []byte, status int, reason string) {
	switch {
	case !h.proved(r):
		return nil, http.StatusUnauthorized, "it does not prove that it comes from telegram"
	case r.Method != http.MethodPost:
		return nil, http.StatusMethodNotAllowed, "only POST is taken"
	case r.Header.Get("Content-Encoding") != "":
		return nil, http.StatusUnsupportedMediaType, "the body is encoded"
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCall))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, http.StatusRequestEntityTooLarge, "the body is too long"
	}
	if err != nil {
		return nil, http.StatusBadRequest, "the body is cut short"
	}
	return raw, 0, ""
}

// RefusedCalls returns how many calls were refused since the start.
func (c *Client) RefusedCalls() int64 { return c.hook.refused.All() }

// busy asks Telegram to call again.
func busy(w http.ResponseWriter) {
	w.Header().Set("Retry-After", retryCall)
	http.Error(w, "not now", http.StatusServiceUnavailable)
}

// proved reports whether r carries our secret, once. Digests are compared, so
// that the time it takes says nothing of the length either.
func (h *hook) proved(r *http.Request) bool {
	given := r.Header.Values(secretHeader)
	if h.url == "" || len(given) != 1 {
		return false
	}
	got, want := sha256.Sum256([]byte(given[0])), sha256.Sum256([]byte(h.secret))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// take hands one update to the sink.
func (c *Client) take(ctx context.Context, s *session, raw json.RawMessage) error {
	now := time.Now()
	s.sink.Alive(now)
	_, updates := s.read.decodeGuarded(c.log, raw, 0)
	noteUnreadable(c.log, updates)
	return s.sink.Accept(ctx, adapters.UpdateBatch{Updates: updates, Cursor: calledAt(now).cursor()})
}

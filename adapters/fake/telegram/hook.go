package telegram

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// webhook is where updates go instead of getUpdates, once set.
type webhook struct {
	URL            string   `json:"url"`
	Certificate    bool     `json:"has_custom_certificate"`
	Pending        int      `json:"pending_update_count"`
	MaxConnections int      `json:"max_connections,omitzero"`
	Allowed        []string `json:"allowed_updates,omitzero"`
	ErrorDate      int64    `json:"last_error_date,omitzero"`
	Error          string   `json:"last_error_message,omitzero"`
	secret         string
}

// secretLetters are what a webhook's secret is made of.
const secretLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

func (b *BotUser) hook() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.webhook.URL
}

func (t botAPI) setWebhook(c *call) *reply {
	url := c.params.Get("url")
	if url != "" && !strings.HasPrefix(url, "https://") {
		return badRequest("bad webhook: An HTTPS URL must be provided for webhook")
	}
	secret := c.params.Get("secret_token")
	if len(secret) > 256 || strings.Trim(secret, secretLetters) != "" {
		return badRequest("secret token contains unallowed characters")
	}
	names, named, bad := t.updateNames(c)
	if bad != nil {
		return bad
	}
	c.bot.mu.Lock()
	was := c.bot.webhook.URL
	c.bot.webhook = webhook{URL: url, MaxConnections: 40, secret: secret}
	c.bot.mu.Unlock()
	q := &c.bot.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if named {
		q.allow(names)
	}
	if c.flag("drop_pending_updates") {
		q.pending = nil
	}
	switch {
	case was != "" && url == "":
		return described("Webhook was deleted")
	case url == "":
		return described("Webhook is already deleted")
	case was == url:
		return described("Webhook is already set")
	default:
		return described("Webhook was set")
	}
}

// described is success with a remark, which only the webhook methods make.
func described(remark string) *reply {
	return &reply{result: slices.Concat(yes, []byte(`,"description":`), fake.EncodeJSON(remark))}
}

func (t botAPI) deleteWebhook(c *call) *reply {
	c.params.Del("url")
	return t.setWebhook(c)
}

func (c *call) getWebhookInfo() *reply {
	c.bot.mu.Lock()
	info := c.bot.webhook
	c.bot.mu.Unlock()
	q := &c.bot.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	info.Pending, info.Allowed = len(q.pending), q.names
	return &reply{result: fake.EncodeJSON(info)}
}

// The platform's pauses between calls that were refused.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// Call calls the webhooks of all bots through client until ctx is done: one
// update of a chat at a time, in order, several chats at once, and again with
// growing pauses until the answer is a success, as the platform does.
func (t *Server) Call(ctx context.Context, client *http.Client) {
	p := caller{client: client, waits: make(map[chatQueue]wait)}
	for ctx.Err() == nil {
		next := t.next()
		for _, b := range t.Bots() {
			p.round(ctx, b)
		}
		again := time.NewTimer(firstPause)
		select {
		case <-next:
		case <-again.C:
		case <-ctx.Done():
		}
		again.Stop()
	}
}

// chatQueue is what keeps its order: the updates of one chat for one bot.
type chatQueue struct{ bot, chat int64 }

// wait is how long a lane whose call was refused rests.
type wait struct {
	until time.Time
	pause time.Duration
}

// caller calls webhooks.
type caller struct {
	client *http.Client

	mu    sync.Mutex // guards waits
	waits map[chatQueue]wait
}

// round calls out what waits for a bot, each lane until its first refusal.
func (p *caller) round(ctx context.Context, b *BotUser) {
	b.mu.Lock()
	hook := b.webhook
	b.mu.Unlock()
	if hook.URL == "" {
		return
	}
	b.queue.mu.Lock()
	pending := slices.Clone(b.queue.pending)
	b.queue.mu.Unlock()
	lanes := make(map[chatQueue][]delivery)
	for _, d := range pending {
		l := chatQueue{b.user.ID, d.chat}
		lanes[l] = append(lanes[l], d)
	}
	var g errgroup.Group
	g.SetLimit(hook.MaxConnections)
	for l, ds := range lanes {
		g.Go(func() error {
			for _, d := range ds {
				if !p.call(ctx, b, hook, l, d) {
					return nil
				}
			}
			return nil
		})
	}
	_ = g.Wait() // they return none
}

// call makes one call and reports whether the update was taken.
func (p *caller) call(ctx context.Context, b *BotUser, hook webhook, l chatQueue, d delivery) bool {
	now := time.Now()
	p.mu.Lock()
	rest := p.waits[l]
	p.mu.Unlock()
	if rest.until.After(now) {
		return false
	}
	problem := p.post(ctx, hook, d)
	p.mu.Lock()
	defer p.mu.Unlock()
	if problem == "" {
		delete(p.waits, l)
		b.queue.taken(d.id, now)
		return true
	}
	rest.pause = min(max(2*rest.pause, firstPause), lastPause)
	rest.until = now.Add(rest.pause)
	p.waits[l] = rest
	b.mu.Lock()
	b.webhook.ErrorDate, b.webhook.Error = now.Unix(), problem
	b.mu.Unlock()
	return false
}

// post returns why the update was not taken; empty when it was.
func (p *caller) post(ctx context.Context, hook webhook, d delivery) string {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, bytes.NewReader(d.wire()))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	if hook.secret != "" {
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", hook.secret)
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, fake.MaxBody)) // so that the connection is used again
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Sprintf("Wrong response from the webhook: %s", resp.Status)
	}
	return ""
}

// taken forgets one update that a webhook took.
func (q *queue) taken(id int64, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.pending, func(d delivery) bool { return d.id == id })
	if i < 0 {
		return
	}
	q.ledger.acked(q.acks(q.pending[i:i+1], now))
	q.done = append(q.done, q.pending[i])
	q.done = q.done[max(0, len(q.done)-100):]
	q.pending = slices.Delete(q.pending, i, i+1)
}

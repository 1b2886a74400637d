package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// hook is a webhook of ours. Its token lets anybody speak through it.
type hook struct {
	id    string
	token adapters.Secret
}

// webhookCache are the webhooks through which agents, and people of other chats, speak
// under their own names, one for each channel. The zero value has none.
type webhookCache struct {
	mu      sync.Mutex               // guards what follows
	hooks   map[string]hook          // by channel
	making  map[string]chan struct{} // one at a time looks for, or makes, a channel's
	ids     map[string]bool
	refused map[string]time.Time // channels that let us have none, and since when
}

// refusedFor is how long a channel that lets us have no webhook is not asked again:
// a bot that collects refusals is shut out.
const refusedFor = 10 * time.Minute

// refuse notes that the channel lets us have no webhook.
func (f *webhookCache) refuse(channel string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refused == nil {
		f.refused = map[string]time.Time{}
	}
	f.refused[channel] = now
}

// refuses reports whether the channel lately let us have no webhook.
func (f *webhookCache) refuses(channel string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.refused[channel]
	return ok && now.Sub(at) < refusedFor
}

// has reports whether the webhook is ours.
func (f *webhookCache) has(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ids[id]
}

func (f *webhookCache) get(channel string) (hook, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, ok := f.hooks[channel]
	return h, ok
}

func (f *webhookCache) put(channel string, h hook) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hooks == nil {
		f.hooks, f.ids = map[string]hook{}, map[string]bool{}
	}
	f.hooks[channel], f.ids[h.id] = h, true
}

// drop forgets a webhook that Discord no longer has. What it said stays ours.
func (f *webhookCache) drop(channel string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.hooks, channel)
}

// turn waits for the right to look for a channel's webhook.
func (f *webhookCache) turn(ctx context.Context, channel string) (done func(), err error) {
	f.mu.Lock()
	if f.making == nil {
		f.making = map[string]chan struct{}{}
	}
	one := f.making[channel]
	if one == nil {
		one = make(chan struct{}, 1)
		f.making[channel] = one
	}
	f.mu.Unlock()
	select {
	case one <- struct{}{}:
		return func() { <-one }, nil
	case <-ctx.Done():
		return nil, &adapters.Error{Kind: adapters.NotSent, Op: "get webhooks", Err: context.Cause(ctx)}
	}
}

// hookName is what our webhooks are called in the settings of a channel.
const hookName = "Trestle"

// wireHook is a webhook as Discord tells of it.
type wireHook struct {
	ID          string `json:"id"`
	Application string `json:"application_id"`
	Token       string `json:"token"`
}

var errNoHook = errors.New("the channel has no webhook of ours")

// hookOf returns our webhook of a channel. When there is none, it makes one, or
// else fails with errNoHook.
func (c *messageSender) hookOf(ctx context.Context, channel string, makes bool) (hook, error) {
	if h, ok := c.webhooks.get(channel); ok {
		return h, nil
	}
	done, err := c.webhooks.turn(ctx, channel)
	if err != nil {
		return hook{}, err
	}
	defer done()
	if h, ok := c.webhooks.get(channel); ok {
		return h, nil
	}
	self, err := c.me(ctx)
	if err != nil {
		return hook{}, err
	}
	var there []wireHook
	if err := c.call(ctx, channelRoute("get webhooks", http.MethodGet, channel, "/webhooks"), nil, &there); err != nil {
		return hook{}, err
	}
	ours := slices.IndexFunc(there, func(k wireHook) bool { return k.Application == self.application && k.Token != "" })
	var found wireHook
	switch {
	case ours >= 0:
		found = there[ours]
	case !makes:
		return hook{}, &adapters.Error{Kind: adapters.NoTarget, Op: "get webhooks", Err: errNoHook}
	default:
		if found, err = c.makeHook(ctx, channel); err != nil {
			return hook{}, err
		}
	}
	h := hook{found.ID, adapters.Secret(found.Token)}
	c.webhooks.put(channel, h)
	return h, nil
}

// makeHook makes a webhook in a channel.
func (c *messageSender) makeHook(ctx context.Context, channel string) (made wireHook, err error) {
	body := struct {
		Name string `json:"name"`
	}{hookName}
	err = c.call(ctx, channelRoute("create webhook", http.MethodPost, channel, "/webhooks"), body, &made)
	if err == nil && (made.ID == "" || made.Token == "") {
		err = &adapters.Error{Kind: adapters.NotSent, Op: "create webhook", Err: errors.New("the answer holds no token")}
	}
	return made, err
}

// route is a call through the webhook. Its path is its credential.
func (h hook) route(op, method, rest string, query url.Values) route {
	path := "/webhooks/" + h.id + "/" + url.PathEscape(string(h.token)) + rest
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return route{op: op, method: method, path: path, limit: method + " " + op + " /webhooks/" + h.id, bare: true}
}

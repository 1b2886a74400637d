package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/trestle-bridge/trestle/adapters"
)

// hook is a webhook of ours. Its token lets anybody speak through it.
type hook struct {
	id    string
	token adapters.Secret
}

// faces are the webhooks through which agents speak under their own names, one
// for each channel. The zero value has none.
type faces struct {
	mu     sync.Mutex               // guards what follows
	hooks  map[string]hook          // by channel
	making map[string]chan struct{} // one at a time looks for, or makes, a channel's
	ids    map[string]bool
}

// has reports whether the webhook is ours.
func (f *faces) has(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ids[id]
}

func (f *faces) get(channel string) (hook, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h, ok := f.hooks[channel]
	return h, ok
}

func (f *faces) put(channel string, h hook) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hooks == nil {
		f.hooks, f.ids = map[string]hook{}, map[string]bool{}
	}
	f.hooks[channel], f.ids[h.id] = h, true
}

// drop forgets a webhook that Discord no longer has. What it said stays ours.
func (f *faces) drop(channel string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.hooks, channel)
}

// turn waits for the right to look for a channel's webhook.
func (f *faces) turn(ctx context.Context, channel string) (done func(), err error) {
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

// hookOf returns our webhook of a channel, making one if there is none.
func (c *Client) hookOf(ctx context.Context, channel string) (hook, error) {
	if h, ok := c.faces.get(channel); ok {
		return h, nil
	}
	done, err := c.faces.turn(ctx, channel)
	if err != nil {
		return hook{}, err
	}
	defer done()
	if h, ok := c.faces.get(channel); ok {
		return h, nil
	}
	self, err := c.me(ctx)
	if err != nil {
		return hook{}, err
	}
	type known struct {
		ID          string `json:"id"`
		Application string `json:"application_id"`
		Token       string `json:"token"`
	}
	var there []known
	if err := c.call(ctx, channelRoute("get webhooks", http.MethodGet, channel, "/webhooks"), nil, &there); err != nil {
		return hook{}, err
	}
	i := slices.IndexFunc(there, func(k known) bool { return k.Application == self.application && k.Token != "" })
	if i < 0 {
		var made known
		body := struct {
			Name string `json:"name"`
		}{hookName}
		if err := c.call(ctx, channelRoute("create webhook", http.MethodPost, channel, "/webhooks"), body, &made); err != nil {
			return hook{}, err
		}
		if made.ID == "" || made.Token == "" {
			return hook{}, &adapters.Error{Kind: adapters.NotSent, Op: "create webhook", Err: errors.New("the answer holds no token")}
		}
		there, i = append(there, made), len(there)
	}
	h := hook{there[i].ID, adapters.Secret(there[i].Token)}
	c.faces.put(channel, h)
	return h, nil
}

// route is a call through the webhook. Its path is its credential.
func (h hook) route(op, method, rest string, query url.Values) route {
	path := "/webhooks/" + h.id + "/" + url.PathEscape(string(h.token)) + rest
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return route{op: op, method: method, path: path, limit: method + " " + op + " /webhooks/" + h.id, bare: true}
}

// faced is a message under a name of its own.
type faced struct {
	outgoing
	Username string `json:"username,omitempty"`
	Avatar   string `json:"avatar_url,omitempty"`
}

// hookChannel returns the channel whose webhook speaks in to, and the thread it
// has to name.
func (c *Client) hookChannel(ctx context.Context, to string) (parent, thread string, err error) {
	ch, err := c.lookUp(ctx, to)
	if err != nil {
		return "", "", err
	}
	if isThread(ch.Type) && ch.ParentID != "" {
		return ch.ParentID, to, nil
	}
	return to, "", nil
}

// sendAs sends out under p's face. Webhooks have no key by which Discord knows a
// second attempt ([Client.Find] looks for the first), and cannot answer a message.
// Where we may have no webhook, the message is our own.
func (c *Client) sendAs(ctx context.Context, p adapters.Post, to string, out outgoing) (adapters.Receipt, error) {
	parent, thread, err := c.hookChannel(ctx, to)
	if err != nil {
		return adapters.Receipt{}, notSent(err)
	}
	for again := false; ; again = true {
		h, err := c.hookOf(ctx, parent)
		if err != nil && adapters.KindOf(err).Permanent() {
			c.log.Warn("no webhook here, so the name is not shown", "channel", parent, "error", err)
			p.Face = adapters.Face{}
			return c.Send(ctx, p)
		}
		if err != nil {
			return adapters.Receipt{}, notSent(err)
		}
		sent, err := c.execute(ctx, h, p, thread, out)
		if !refusedWith(err, unknownWebhook) || again {
			return sent, err
		}
		c.faces.drop(parent)
	}
}

// notSent makes of a failure before the send what it means for the send.
func notSent(err error) error {
	if e, ok := errors.AsType[*adapters.Error](err); ok && e.Kind == adapters.Unknown {
		return &adapters.Error{Kind: adapters.NotSent, Op: e.Op, Err: e.Err}
	}
	return err
}

// execute sends through the webhook h.
func (c *Client) execute(ctx context.Context, h hook, p adapters.Post, thread string, out outgoing) (adapters.Receipt, error) {
	query := url.Values{"wait": {"true"}}
	if thread != "" {
		query.Set("thread_id", thread)
	}
	body := faced{outgoing: out, Username: faceName(p.Face.Name)}
	if strings.HasPrefix(p.Face.Avatar, "https://") {
		body.Avatar = p.Face.Avatar
	}
	var sent sentMessage
	if err := c.post(ctx, h.route("execute webhook", http.MethodPost, "", query), body, p.Files, &sent); err != nil {
		return adapters.Receipt{}, err
	}
	return sent.receipt(), nil
}

// faceName returns a name as Discord takes it for a webhook: 80 letters at most,
// and without two words that it keeps for itself.
func faceName(name string) string {
	const most = 80
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most])
	}
	for word, otherwise := range map[string]string{"discord": "disc0rd", "clyde": "clyd3"} {
		for {
			i := strings.Index(strings.ToLower(name), word)
			if i < 0 || len(strings.ToLower(name)) != len(name) {
				break
			}
			name = name[:i] + otherwise + name[i+len(word):]
		}
	}
	return strings.TrimSpace(name)
}

// editAs edits a message that one of our webhooks sent.
func (c *Client) editAs(ctx context.Context, to string, m adapters.Ref, body any) error {
	parent, thread, err := c.hookChannel(ctx, to)
	if err != nil {
		return err
	}
	h, err := c.hookOf(ctx, parent)
	if err != nil {
		return err
	}
	return c.call(ctx, h.route("edit webhook message", http.MethodPatch, "/messages/"+url.PathEscape(m.Message), inThread(thread)), body, nil)
}

// deleteAs deletes a message that one of our webhooks sent; refused is what
// Discord said to us when it seemed to be somebody else's.
func (c *Client) deleteAs(ctx context.Context, to string, m adapters.Ref, refused error) error {
	parent, thread, err := c.hookChannel(ctx, to)
	if err != nil {
		return refused
	}
	h, known := c.faces.get(parent)
	if !known {
		return refused
	}
	r := h.route("delete webhook message", http.MethodDelete, "/messages/"+url.PathEscape(m.Message), inThread(thread))
	if err := c.call(ctx, r, nil, nil); err != nil {
		return refused
	}
	return nil
}

// inThread returns the query that names a thread.
func inThread(thread string) url.Values {
	if thread == "" {
		return nil
	}
	return url.Values{"thread_id": {thread}}
}

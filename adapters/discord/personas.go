package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.PersonaSender = (*Client)(nil)

// personaMessage is a message under a name of its own.
type personaMessage struct {
	outgoing
	Username string   `json:"username,omitempty"`
	Avatar   string   `json:"avatar_url,omitempty"`
	Thread   string   `json:"thread_name,omitempty"`  // in a forum: of the thread it begins
	Tags     []string `json:"applied_tags,omitempty"` // of that thread
}

// SupportsPersona reports whether posts in a chat can have a face: in the channels of
// servers, unless one lately let us have no webhook.
func (c *messageSender) SupportsPersona(chat string) bool {
	ch, known := c.known.channel(chat)
	return (!known || ch.GuildID != "") && !c.webhooks.refuses(chat, time.Now())
}

// hookChannel returns the channel whose webhook speaks in ch, and the thread it
// has to name.
func (ch channel) hookChannel() (parent, thread string) {
	if isThread(ch.Type) && ch.ParentID != "" {
		return ch.ParentID, ch.ID
	}
	return ch.ID, ""
}

// masked reports whether a message in ch can have a face.
func (c *messageSender) masked(ch channel, f adapters.AgentPersona) bool {
	parent, _ := ch.hookChannel()
	return f != (adapters.AgentPersona{}) && ch.GuildID != "" && !c.webhooks.refuses(parent, time.Now())
}

// sendAs sends p under its face in ch. Webhooks have no key by which Discord knows
// a second attempt ([Client.Find] looks for the first), and cannot answer a
// message. Where we may have no webhook, the message is our own.
func (c *messageSender) sendAs(ctx context.Context, p adapters.OutgoingMessage, ch channel) (adapters.Receipt, error) {
	parent, thread := ch.hookChannel()
	for again := false; ; again = true {
		h, err := c.hookOf(ctx, parent, true)
		if err != nil && adapters.KindOf(err).Permanent() {
			c.log.Warn("no webhook here, so no face is shown", "channel", parent, "error", err)
			c.webhooks.refuse(parent, time.Now())
			return c.sendOwn(ctx, p, ch)
		}
		if err != nil {
			return adapters.Receipt{}, notSent(err)
		}
		sent, err := c.execute(ctx, h, p, ch, thread)
		if !refusedWith(err, unknownWebhook) || again {
			return sent, err
		}
		c.webhooks.drop(parent)
	}
}

// notSent makes of a failure before the send what it means for the send.
func notSent(err error) error {
	if e, ok := errors.AsType[*adapters.Error](err); ok && e.Kind == adapters.Unknown {
		return &adapters.Error{Kind: adapters.NotSent, Op: e.Op, Err: e.Err}
	}
	return err
}

// execute sends through the webhook h. In a forum it begins a thread.
func (c *messageSender) execute(ctx context.Context, h hook, p adapters.OutgoingMessage, ch channel, thread string) (adapters.Receipt, error) {
	query := url.Values{"wait": {"true"}}
	if thread != "" {
		query.Set("thread_id", thread)
	}
	body := personaMessage{outgoing: c.outgoing(p, ch.ID), Username: faceName(p.Face.Name)}
	if strings.HasPrefix(p.Face.Avatar, "https://") {
		body.Avatar = p.Face.Avatar
	}
	if isForum(ch.Type) {
		body.Thread, body.Tags = title(p.Text), ch.tags(p.Text)
	}
	var sent sentMessage
	if err := c.post(ctx, h.route("execute webhook", http.MethodPost, "", query), body, p.Files, &sent); err != nil {
		return adapters.Receipt{}, err
	}
	c.receipted.note(sent.ID, p.Key)
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

// EditAs replaces the words of message m: by text where it has a face, else by
// unmasked. It notifies no one.
func (c *messageSender) EditAs(ctx context.Context, m adapters.MessageRef, text, unmasked string) error {
	return c.change(ctx, m, editedTo(text, nil), editedTo(unmasked, nil))
}

// EditChoices is Edit that gives the message these buttons.
func (c *messageSender) EditChoices(ctx context.Context, m adapters.MessageRef, text string, choices []adapters.ChoiceButton) error {
	e := editedTo(text, choices)
	return c.change(ctx, m, e, e)
}

// change edits message m: as e where it has a face, else as own.
func (c *messageSender) change(ctx context.Context, m adapters.MessageRef, e, own edited) error {
	return c.inChannelOf(ctx, m, func(to string) error {
		if !c.hooked.has(m.Message) {
			if err := c.edit(ctx, to, m, own); !refusedWith(err, notOurs) {
				return err
			}
			c.hooked.add(m.Message) // a message that grows is not refused with each of its edits
		}
		return c.callWebhook(ctx, "edit webhook message", http.MethodPatch, to, m, e)
	})
}

// callWebhook makes a call about a message that one of our webhooks sent.
func (c *messageSender) callWebhook(ctx context.Context, op, method, to string, m adapters.MessageRef, body any) error {
	ch, err := c.lookUp(ctx, to)
	if err != nil {
		return err
	}
	parent, thread := ch.hookChannel()
	h, err := c.hookOf(ctx, parent, false)
	if err != nil {
		return err
	}
	var query url.Values
	if thread != "" {
		query = url.Values{"thread_id": {thread}}
	}
	return c.call(ctx, h.route(op, method, "/messages/"+url.PathEscape(m.Message), query), body, nil)
}

// deleteAs deletes a message that one of our webhooks sent; refused is what
// Discord said to us when it seemed to be another's.
func (c *messageSender) deleteAs(ctx context.Context, to string, m adapters.MessageRef, refused error) error {
	err := c.callWebhook(ctx, "delete webhook message", http.MethodDelete, to, m, nil)
	if err != nil && !refusedWith(err, unknownMessage, threadArchived) && adapters.KindOf(err).Permanent() {
		return refused
	}
	return err
}

// hook is a webhook of ours. Its token is enough to speak through it.
type hook struct {
	id    string
	token adapters.SecretString
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
	h := hook{found.ID, adapters.SecretString(found.Token)}
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

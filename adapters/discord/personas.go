package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
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
func (c *messageSender) masked(ch channel, f adapters.Persona) bool {
	parent, _ := ch.hookChannel()
	return f != (adapters.Persona{}) && ch.GuildID != "" && !c.webhooks.refuses(parent, time.Now())
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
// unmasked. Nobody is notified by it.
func (c *messageSender) EditAs(ctx context.Context, m adapters.MessageRef, text, unmasked string) error {
	return c.wherever(ctx, m, func(to string) error {
		if !c.hooked.has(m.Message) {
			if err := c.edit(ctx, to, m, unmasked); !refusedWith(err, notOurs) {
				return err
			}
			c.hooked.add(m.Message) // a message that grows is not refused with each of its edits
		}
		return c.throughHook(ctx, "edit webhook message", http.MethodPatch, to, m, edited(text))
	})
}

// throughHook makes a call about a message that one of our webhooks sent.
func (c *messageSender) throughHook(ctx context.Context, op, method, to string, m adapters.MessageRef, body any) error {
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
// Discord said to us when it seemed to be somebody else's.
func (c *messageSender) deleteAs(ctx context.Context, to string, m adapters.MessageRef, refused error) error {
	err := c.throughHook(ctx, "delete webhook message", http.MethodDelete, to, m, nil)
	if err != nil && !refusedWith(err, unknownMessage, threadArchived) && adapters.KindOf(err).Permanent() {
		return refused
	}
	return err
}

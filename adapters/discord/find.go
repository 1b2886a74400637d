package discord

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.DeliveryChecker = (*Client)(nil)

// findable is how long ago a message may have been sent that is looked for. A
// nonce is forgotten by then, so that one which is not found is not sent again by
// it either.
const findable = 15 * time.Minute

// skew is how much earlier than by our clock Discord may say a message was sent.
const skew = 5 * time.Second

// Find looks for a part among the last hundred messages of its chat or thread: by
// its nonce, where Discord tells it, else by who said these words since it was
// decided to send them. Through a webhook that is all there is, so that a message
// whose receipt we have is never taken for another one.
func (c *messageSender) Find(ctx context.Context, p adapters.OutgoingMessage) (adapters.Receipt, bool, error) {
	to, err := target(p.Chat, p.Thread)
	if err != nil {
		return adapters.Receipt{}, false, err
	}
	self, err := c.me(ctx)
	if err != nil {
		return adapters.Receipt{}, false, err
	}
	ch, err := c.lookUp(ctx, to)
	if err != nil {
		return adapters.Receipt{}, false, err
	}
	if isForum(ch.Type) { // a message there began a thread that no event has named yet
		return adapters.Receipt{}, false, &adapters.Error{Kind: adapters.Invalid, Op: "get messages", Err: errors.New("a forum has no messages of its own")}
	}
	var list []message
	err = c.call(ctx, channelRoute("get messages", http.MethodGet, to, "/messages?limit=100"), nil, &list)
	if err == nil && len(list) == 0 {
		err = c.unshown(ctx, to, ch.GuildID)
	}
	if err != nil {
		return adapters.Receipt{}, false, err
	}
	for _, m := range list {
		if c.isOurs(self, &m) && !c.receipted.another(m.ID, p.Key) && c.isCopy(&m, p, to) {
			return sentMessage{ID: m.ID, Timestamp: m.Timestamp}.receipt(), true, nil
		}
	}
	return adapters.Receipt{}, false, nil
}

// isCopy reports whether m, which we sent, is p as an earlier attempt sent it.
func (c *messageSender) isCopy(m *message, p adapters.OutgoingMessage, to string) bool {
	if said, _ := m.Nonce.(string); said != "" {
		return said == nonce(p.Key)
	}
	if m.Content == nil || m.Author == nil || time.Since(m.Timestamp) >= findable || m.Timestamp.Before(p.Decided.Add(-skew)) {
		return false
	}
	if m.WebhookID != "" {
		return m.Author.Username == faceName(p.Face.Name) && *m.Content == c.outgoing(p, to).Content
	}
	p.Text = cmp.Or(p.Unmasked, p.Text)
	return *m.Content == c.outgoing(p, to).Content
}

// receipts remember what our last sends became.
type receipts struct{ recent }

// note keeps that the part with this key became that message.
func (r *receipts) note(message, key string) {
	r.add(message)
	r.add(message + " " + key)
}

// another reports whether the message is known to be a part with another key.
func (r *receipts) another(message, key string) bool {
	return r.has(message) && !r.has(message+" "+key)
}

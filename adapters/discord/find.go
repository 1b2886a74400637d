package discord

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.Finder = (*Client)(nil)

// findable is how long ago a message may have been sent that is looked for. A
// nonce is forgotten by then, so that one which is not found is not sent again by
// it either.
const findable = 15 * time.Minute

// Find looks for a part among the last hundred messages of its chat or thread: by
// its nonce, where Discord tells it, else by who said these words lately. Through
// a webhook the words are all there is.
func (c *Client) Find(ctx context.Context, p adapters.Post) (adapters.Receipt, bool, error) {
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
	if isForum(ch.Type) { // what was said there began a thread that nobody has told us of
		return adapters.Receipt{}, false, &adapters.Error{Kind: adapters.Invalid, Op: "get messages", Err: errors.New("a forum has no messages of its own")}
	}
	var list []message
	err = c.call(ctx, channelRoute("get messages", http.MethodGet, to, "/messages?limit=100"), nil, &list)
	if err != nil {
		return adapters.Receipt{}, false, err
	}
	key, content := nonce(p.Key), c.outgoing(p, to).Content
	for _, m := range list {
		said, _ := m.Nonce.(string)
		same := m.Content != nil && *m.Content == content && time.Since(m.Timestamp) < findable
		if c.isOurs(self, &m) && (said != "" && said == key || said == "" && same) {
			return sentMessage{ID: m.ID, Timestamp: m.Timestamp}.receipt(), true, nil
		}
	}
	return adapters.Receipt{}, false, nil
}

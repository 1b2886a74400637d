package discord

import (
	"context"
	"net/http"
	"net/url"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.Threader = (*Client)(nil)

// hasThread is the code for a message on which a thread hangs already.
const hasThread = 160004

// Thread returns the thread on message m, which has the message's id, and opens it
// where there is none. In a forum all messages begin threads.
func (c *Client) Thread(ctx context.Context, m adapters.Ref, name string) (string, error) {
	to, err := target(m.Chat, "")
	if err != nil {
		return "", err
	}
	ch, err := c.lookUp(ctx, to)
	if err != nil {
		return "", err
	}
	if th, known := c.known.channel(m.Message); isForum(ch.Type) || known && isThread(th.Type) {
		return m.Message, nil
	}
	body := struct {
		Name string `json:"name"`
	}{title(name)}
	var made channel
	r := channelRoute("open thread", http.MethodPost, to, "/messages/"+url.PathEscape(m.Message)+"/threads")
	switch err := c.call(ctx, r, body, leniently(&made)); {
	case refusedWith(err, hasThread):
		return m.Message, nil
	case err != nil:
		return "", err
	case made.ID == "":
		return "", &adapters.Error{Kind: adapters.Unknown, Op: r.op, Err: errUnread}
	}
	made.GuildID, made.ParentID = ch.GuildID, to
	c.known.learnChannel(made)
	return made.ID, nil
}

// wherever does something to message m in the channel in which it stands: one of a
// thread may be in its chat, like that on which the thread hangs; and what began a
// thread of a forum is in that thread.
func (c *Client) wherever(ctx context.Context, m adapters.Ref, do func(to string) error) error {
	to, err := target(m.Chat, m.Thread)
	if err != nil {
		return err
	}
	if m.Thread == "" || m.Thread == m.Message {
		ch, err := c.lookUp(ctx, m.Chat)
		if err != nil {
			return err
		}
		if to = m.Chat; isForum(ch.Type) {
			to = m.Message
		}
	}
	err = do(to)
	if to == m.Thread && m.Thread != m.Message && refusedWith(err, unknownMessage) {
		return do(m.Chat)
	}
	return err
}

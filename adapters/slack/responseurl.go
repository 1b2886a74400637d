package slack

import (
	"context"
	"net/url"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.PrivateSender = (*Client)(nil)

// What Slack allows by the address that comes with a slash command
// (docs.slack.dev/interactivity/handling-user-interaction, response_url).
const (
	asideKept = 30 * time.Minute
	asideMost = 5
	maxAsides = 256
)

// A responseURL is where a slash command can be answered in a conversation that the app
// is not in. Who gave the command alone sees the answer. The address lets anybody
// in, and is in no error, log line or update.
type responseURL struct {
	address string
	until   time.Time
	left    int // answers it is still good for
}

// storeResponseURL remembers where a slash command can be answered.
func (c *messageSender) storeResponseURL(cmd command) {
	u, err := url.Parse(cmd.Respond)
	if err != nil || cmd.Respond == "" || !c.ours(u) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asides) >= maxAsides {
		clear(c.asides)
	}
	c.asides[cmd.Channel] = responseURL{address: cmd.Respond, until: time.Now().Add(asideKept), left: asideMost}
}

// answerCommand sends a part to the person who gave the last slash command in the chat, and
// reports whether it could. Only that person sees it; the chat has no message of it.
func (c *messageSender) answerCommand(ctx context.Context, chat string, f form) bool {
	c.mu.Lock()
	a, known := c.asides[chat]
	if a.left--; known {
		c.asides[chat] = a
	}
	c.mu.Unlock()
	if !known || a.left < 0 || time.Now().After(a.until) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.CallTimeout)
	defer cancel()
	err := slackgo.PostWebhookCustomHTTPContext(ctx, a.address, c.http, &slackgo.WebhookMessage{
		Text: f.asMrkdwn().text, ResponseType: slackgo.ResponseTypeEphemeral,
	})
	if err != nil {
		c.log.Warn("command not answered", "chat", chat, "error", c.scrub(0, err, adapters.SecretString(a.address)))
	}
	return err == nil
}

// SendPrivate posts a part that only a member of the channel sees, until they reload
// (docs.slack.dev/reference/methods/chat.postEphemeral). Who gave a slash command where the
// app is not a member is answered by the command.
func (c *messageSender) SendPrivate(ctx context.Context, to string, p adapters.OutgoingMessage) (adapters.Receipt, error) {
	const method = "chat.postEphemeral"
	f, thread := formOf(p.Text, p.Mentions).asMrkdwn(), threadOf(p)
	_, err := c.call(ctx, method, func(ctx context.Context, api *slackgo.Client) error {
		_, _, err := api.PostMessageContext(ctx, p.Chat, c.fields(method, func(v url.Values) {
			f.set(v)
			v.Set("user", to)
			if thread != "" {
				v.Set("thread_ts", thread)
			}
		}))
		return err
	})
	if refusedFor(err, "not_in_channel", "channel_not_found") && c.answerCommand(ctx, p.Chat, f) {
		err = nil
	}
	if err != nil {
		return adapters.Receipt{}, err
	}
	return adapters.Receipt{At: time.Now().UTC()}, nil
}

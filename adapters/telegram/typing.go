package telegram

import (
	"context"
	"errors"
	"hash/fnv"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
)

var (
	_ adapters.DraftShower  = (*Client)(nil)
	_ adapters.Stopper      = (*Client)(nil)
	_ adapters.StatusShower = (*Client)(nil)
)

// runSigns is what Telegram shows of a run.
type runSigns struct{}

// ShowRun shows nothing: Telegram has no sign for a run but what is being written.
func (runSigns) ShowRun(context.Context, adapters.RunStatus) (adapters.StopControl, error) {
	return adapters.StopGrown, nil
}

// ShowsStatus reports whether a chat is with one person, who sees that the bot is typing, or one
// where the bot is a guest: there a message says so, and a reaction is not offered. In a group it
// is not said at whose message the bot is.
func (runSigns) ShowsStatus(chat string) bool { return !strings.HasPrefix(chat, "-") || isGuest(chat) }

// Preview shows the text of p as a draft, which Telegram has in private chats
// alone: it is animated, fades after 30 seconds, and is no message
// (core.telegram.org/bots/api#sendmessagedraft). While one is shown, Telegram for Android has no
// button to send. Choices stand for Telegram's own Stop, which servers older than Bot API 10.3
// ignore.
func (c *Client) Preview(ctx context.Context, p adapters.OutgoingMessage) error {
	if !c.Whole(p.Chat) || p.Text == "" {
		return &adapters.Error{Kind: adapters.Invalid, Op: "sendMessageDraft", Err: errors.New("only private chats show drafts, and only of words")}
	}
	params, err := postParams(p)
	if err != nil {
		return err
	}
	delete(params, "reply_parameters")
	delete(params, "link_preview_options")
	delete(params, "reply_markup")
	if len(p.Choices) > 0 {
		params["can_stop"] = "true"
	}
	params["draft_id"] = formatID(draftID(p.Key))
	_, err = callHTML[bool](ctx, c, "sendMessageDraft", params)
	return err
}

// Whole reports whether the chat is a private one.
func (c *Client) Whole(chat string) bool { return !strings.HasPrefix(chat, "-") && !isGuest(chat) }

// draftID returns the same number for the same key, and never 0.
func draftID(key string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // a hash never fails
	return int64(h.Sum32()) + 1
}

// Typing shows for five seconds, or until the next message, that we write. A guest shows it
// by the message that becomes the answer.
func (c *Client) Typing(ctx context.Context, at adapters.MessageRef) error {
	if isGuest(at.Chat) {
		return c.guests.begin(ctx, c, at.Chat)
	}
	params := tgbotapi.Params{"chat_id": at.Chat, "action": "typing"}
	if at.Thread != "" {
		params["message_thread_id"] = at.Thread
	}
	_, err := call[bool](ctx, c, "sendChatAction", params, c.limit)
	return err
}

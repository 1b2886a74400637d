package telegram

import (
	"context"
	"errors"
	"hash/fnv"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.DraftShower = (*Client)(nil)

// Preview shows the text of p as a draft, which Telegram has in private chats
// alone: it is animated, fades after 30 seconds, and is no message
// (core.telegram.org/bots/api#sendmessagedraft).
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
	params["draft_id"] = formatID(draftID(p.Key))
	_, err = callHTML[bool](ctx, c, "sendMessageDraft", params)
	return err
}

// Whole reports whether the chat is a private one.
func (c *Client) Whole(chat string) bool { return !strings.HasPrefix(chat, "-") }

// draftID returns the same number for the same key, and never 0.
func draftID(key string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // a hash never fails
	return int64(h.Sum32()) + 1
}

// Typing shows for five seconds, or until the next message, that we write.
func (c *Client) Typing(ctx context.Context, chat, thread string) error {
	params := tgbotapi.Params{"chat_id": chat, "action": "typing"}
	if thread != "" {
		params["message_thread_id"] = thread
	}
	_, err := call[bool](ctx, c, "sendChatAction", params, c.limit)
	return err
}

package telegram

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
)

// The names of updates, all but those of inline queries, whose words strangers write while
// they type. What we do not read is kept as it came. Telegram keeps the list until it is
// told another, and leaves out members and reactions unless they are named.
var (
	olderUpdates = []string{
		"message", "edited_message", "channel_post", "edited_channel_post", "business_connection", "business_message",
		"edited_business_message", "deleted_business_messages", "message_reaction", "message_reaction_count",
		"callback_query", "shipping_query", "pre_checkout_query", "purchased_paid_media", "poll", "poll_answer",
		"my_chat_member", "chat_member", "chat_join_request", "chat_boost", "removed_chat_boost",
	}
	newerUpdates = []string{"guest_message", "managed_bot", "subscription", stopUpdate} // of Bot API 10
)

// stopUpdate came with Bot API 10.3, as did the parameters can_stop and
// ephemeral_message_parameters.
const stopUpdate = "stopped_message_generation"

// updateNames are the values of allowed_updates, of which the first that the server takes is
// used; the empty one leaves the choice to the server.
var updateNames = []string{nameList(olderUpdates, newerUpdates), nameList(olderUpdates), ""}

func nameList(lists ...[]string) string {
	return `["` + strings.Join(slices.Concat(lists...), `","`) + `"]`
}

// serverFeatures is what the server has shown to know, learnt once and kept for the process.
// Telegram's server ignores names of updates and parameters that it does not know, without a
// word, and names those that it took in getWebhookInfo. One made by others may refuse them.
type serverFeatures struct {
	names   atomic.Int32 // of updateNames: the first that it takes
	learned atomic.Bool
	stop    atomic.Bool // it tells of people who stop drafts
}

// Stoppable reports whether the server has shown that it takes can_stop, which it does with
// the first updates.
func (f *serverFeatures) Stoppable() bool { return f.stop.Load() }

// naming makes a call with allowed_updates among its params. A server that refuses the call
// is asked with fewer names, and with none at the end.
func (f *serverFeatures) naming(log *slog.Logger, params tgbotapi.Params, call func() error) error {
	for n := f.names.Load(); ; n++ {
		params["allowed_updates"] = updateNames[n]
		err := call()
		if adapters.KindOf(err) == adapters.Invalid && int(n) < len(updateNames)-1 {
			log.Warn("call refused, trying with fewer names of updates", "error", err)
			continue
		}
		if err == nil {
			f.names.Store(n)
		}
		return err
	}
}

// note learns from what the server says of the updates that it sends.
func (f *serverFeatures) note(info hookInfo) {
	f.stop.Store(slices.Contains(info.Allowed, stopUpdate))
	f.learned.Store(true)
}

// learn asks once what the server knows, after a call that named the updates.
func (f *serverFeatures) learn(ctx context.Context, c *Client) {
	if f.learned.Load() {
		return
	}
	info, err := call[hookInfo](ctx, c, "getWebhookInfo", nil, c.limit)
	if err != nil {
		c.log.Debug("the server's features are not known yet", "error", err)
		return
	}
	f.note(info)
}

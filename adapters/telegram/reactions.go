package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/emoji"
)

var _ adapters.ReactionSetter = (*Client)(nil)

// reactions are the emoji Telegram takes as a reaction, most used first
// (core.telegram.org/bots/api#reactiontypeemoji).
var reactions = strings.Fields(`❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓
	🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡`)

// React sets our reaction on message m, an emoji or the name of one in colons; an
// empty one takes it back. Telegram has a fixed set: presentation selectors and skin
// tones are dropped to meet it, and what is still not in it is Invalid.
func (c *Client) React(ctx context.Context, m adapters.MessageRef, shown string) error {
	if isGuest(m.Chat) {
		return guestError("setMessageReaction", "a bot that is a guest cannot react")
	}
	set := "[]"
	if shown != "" {
		known := emoji.StripModifiers(emoji.ToUnicode(shown))
		if !slices.Contains(reactions, known) {
			return &adapters.Error{
				Kind: adapters.Invalid, Op: "setMessageReaction",
				Err: fmt.Errorf("telegram has no reaction %q; it has %s", shown, strings.Join(reactions, " ")),
			}
		}
		set = `[{"type":"emoji","emoji":"` + known + `"}]`
	}
	_, err := call[json.RawMessage](ctx, c, "setMessageReaction", tgbotapi.Params{
		"chat_id": m.Chat, "message_id": m.Message, "reaction": set,
	}, c.limit)
	return err
}

package telegram

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// A botAPI applies the calls of the Bot API to the server's world.
type botAPI struct{ *Server }

// reactions are the emoji a message can be given (Bot API, ReactionTypeEmoji).
const reactions = "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡"

func (t botAPI) setMessageReaction(c *call) *reply {
	var wanted []wireReaction
	if _, bad := c.object("reaction", &wanted); bad != nil {
		return bad
	}
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	chat.mu.Lock()
	defer chat.mu.Unlock()
	m := chat.messages[c.entry.Target]
	if m == nil {
		return badRequest("message to react not found")
	}
	if len(wanted) > 1 {
		return badRequest("REACTIONS_TOO_MANY")
	}
	var emoji []string
	defer func() { c.entry.Text = strings.Join(emoji, " ") }()
	for _, r := range wanted {
		if r.Type != "emoji" || !slices.Contains(strings.Fields(reactions), r.Emoji) {
			return badRequest("REACTION_INVALID")
		}
		emoji = append(emoji, r.Emoji)
	}
	m.react(c.bot.user.ID, emoji)
	return &reply{result: yes, message: m.id}
}

const actionNames = " typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker find_location record_video_note upload_video_note "

func (t botAPI) sendChatAction(c *call) *reply {
	action := c.params.Get("action")
	if action == "" || !strings.Contains(actionNames, " "+action+" ") {
		return badRequest("wrong parameter action in request")
	}
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	chat.mu.Lock()
	defer chat.mu.Unlock()
	if th := c.entry.Thread; th != 0 && chat.topics[th] == nil {
		return badRequest("message thread not found")
	}
	chat.actions = append(chat.actions, ChatActivity{At: time.Now(), Bot: c.bot.user.ID, Thread: c.entry.Thread, Action: action})
	if len(chat.actions) > 1000 {
		chat.actions = slices.Delete(chat.actions, 0, 500)
	}
	return &reply{result: yes}
}

func (t botAPI) getChat(c *call) *reply {
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	chat.mu.RLock()
	defer chat.mu.RUnlock()
	full := wireFullChat{wireChat: chat.wire, MaxReactions: 11, GiftTypes: giftTypes{}}
	if m := chat.messages[chat.pinned]; m != nil {
		full.Pinned = chat.wireOf(m, false)
	}
	return &reply{result: fake.EncodeJSON(full)}
}

func (t botAPI) getChatMember(c *call) *reply {
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	id, ok := c.number("user_id")
	if !ok {
		return badRequest("invalid user_id specified")
	}
	chat.mu.RLock()
	defer chat.mu.RUnlock()
	if m := chat.members[id]; m != nil {
		w := standing(m.user, m.status)
		if chat.wire.Type == channel && m.status == "administrator" {
			w.CanPost = new(true)
		}
		return &reply{result: fake.EncodeJSON(w)}
	}
	if p, ok := t.Person(id); ok {
		return &reply{result: fake.EncodeJSON(standing(&p.user, "left"))}
	}
	return badRequest("PARTICIPANT_ID_INVALID")
}

func (t botAPI) getChatMemberCount(c *call) *reply {
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	chat.mu.RLock()
	defer chat.mu.RUnlock()
	n := 0
	for _, m := range chat.members {
		if m.in() {
			n++
		}
	}
	return &reply{result: fake.EncodeJSON(n)}
}

func (t botAPI) getChatAdministrators(c *call) *reply {
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	chat.mu.RLock()
	defer chat.mu.RUnlock()
	if chat.wire.Type == private {
		return badRequest("there are no administrators in the private chat")
	}
	admins := []wireMember{}
	for _, m := range chat.members {
		if m.admin() {
			admins = append(admins, standing(m.user, m.status))
		}
	}
	slices.SortFunc(admins, func(a, b wireMember) int { return int(a.User.ID - b.User.ID) })
	return &reply{result: fake.EncodeJSON(admins)}
}

func (t botAPI) leaveChat(c *call) *reply {
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	chat.mu.Lock()
	defer chat.mu.Unlock()
	m, before := chat.standing(&c.bot.user)
	m.status = "left"
	chat.tellMember(&c.bot.user, m, before)
	return &reply{result: yes}
}

func (c *call) setMyCommands() *reply {
	var menu []struct {
		Command     string `json:"command"`
		Description string `json:"description"`
	}
	if _, bad := c.object("commands", &menu); bad != nil {
		return bad
	}
	for _, m := range menu {
		switch {
		case m.Command == "" || len(m.Command) > 32 || strings.Trim(m.Command, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
			return badRequest("BOT_COMMAND_INVALID")
		case m.Description == "":
			return badRequest("command description is empty")
		}
	}
	c.bot.mu.Lock()
	defer c.bot.mu.Unlock()
	c.bot.menu = fake.EncodeJSON(menu)
	return &reply{result: yes}
}

// Menu returns what the bot offers while a person types, as JSON; nil when
// nothing was ever set.
func (b *BotUser) Menu() json.RawMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.menu)
}

func (c *call) getMyCommands() *reply {
	c.bot.mu.Lock()
	defer c.bot.mu.Unlock()
	if c.bot.menu == nil {
		return &reply{result: json.RawMessage("[]")}
	}
	return &reply{result: c.bot.menu}
}

func (c *call) deleteMyCommands() *reply {
	c.bot.mu.Lock()
	defer c.bot.mu.Unlock()
	c.bot.menu = nil
	return &reply{result: yes}
}

// maxDownload is what bots may fetch.
const maxDownload = 20 << 20

func (t botAPI) getFile(c *call) *reply {
	id := c.params.Get("file_id")
	t.mu.RLock()
	defer t.mu.RUnlock()
	for path, f := range t.files {
		if f.id == id && id != "" {
			if len(f.Data) > maxDownload {
				return badRequest("file is too big")
			}
			w := f.wire()
			w.Name, w.MIME, w.Path = "", "", path
			return &reply{result: fake.EncodeJSON(w)}
		}
	}
	return badRequest("invalid file_id")
}

package telegram

import (
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

const maxText = 4096

// target finds the chat a call is about and checks that the bot may act in it.
func (t botAPI) target(c *call) (*Chat, *reply) {
	raw := c.params.Get("chat_id")
	if raw == "" {
		return nil, badRequest("chat_id is empty")
	}
	id, ok := c.bot.chatID(raw)
	if !ok {
		return nil, badRequest("chat not found")
	}
	chat, ok := c.bot.chat(id)
	if !ok {
		return nil, badRequest("chat not found")
	}
	chat.mu.RLock()
	defer chat.mu.RUnlock()
	if chat.movedTo != 0 {
		p := badRequest("group chat was upgraded to a supergroup chat")
		p.migrateTo = chat.movedTo
		return nil, p
	}
	if m := chat.members[c.bot.user.ID]; m != nil && m.numbers != 0 {
		c.numbers = m.numbers
		c.entry.Target -= min(c.entry.Target, c.numbers)
		c.entry.ReplyTo = c.replyTo().MessageID
	}
	return chat, barredFrom(chat, c.bot)
}

// barredFrom says why the bot may not act here; nil when it may. It needs the lock.
func barredFrom(c *Chat, b *BotUser) *reply {
	m := c.members[b.user.ID]
	kind := map[string]string{group: "group", supergroup: "supergroup", channel: "channel"}[c.wire.Type]
	switch {
	case m.in():
		return nil
	case c.wire.Type == private:
		return refuse(http.StatusForbidden, "Forbidden: bot was blocked by the user")
	case m == nil || m.status == "left":
		return refuse(http.StatusForbidden, "Forbidden: bot is not a member of the %s chat", kind)
	default:
		return refuse(http.StatusForbidden, "Forbidden: bot was kicked from the %s chat", kind)
	}
}

// words reads the text of a call as the platform does: parse, trim, measure.
func (c *call) words() (text string, entities []TextEntity, bad *reply) {
	text = c.params.Get("text")
	if text == "" {
		return "", nil, badRequest("message text is empty")
	}
	if !utf8.ValidString(text) {
		return "", nil, badRequest("strings must be encoded in UTF-8")
	}
	switch mode := strings.ToLower(c.params.Get("parse_mode")); mode {
	case "":
		if _, bad = c.object("entities", &entities); bad != nil {
			return "", nil, bad
		}
	case "html":
		var err error
		if text, entities, err = parseHTML(text); err != nil {
			return "", nil, badRequest("can't parse entities: %s", err)
		}
	default:
		return "", nil, badRequest("unsupported parse_mode")
	}
	text, entities = trim(text, entities)
	switch {
	case text == "":
		return "", nil, badRequest("text must be non-empty")
	case utf8.RuneCountInString(text) > maxText:
		return "", nil, badRequest("message is too long")
	}
	return text, detect(text, entities), nil
}

// preview reads link_preview_options, or the flag that came before it.
func (c *call) preview() (p wirePreview, bad *reply) {
	_, bad = c.object("link_preview_options", &p)
	if c.flag("disable_web_page_preview") {
		p.IsDisabled = true
	}
	return p, bad
}

func (t botAPI) sendMessage(c *call) *reply {
	text, entities, bad := c.words()
	if bad != nil {
		return bad
	}
	preview, bad := c.preview()
	if bad != nil {
		return bad
	}
	keyboard, bad := c.keyboard()
	if bad != nil {
		return bad
	}
	var only struct {
		To int64 `json:"receiver_user_id"`
	}
	if _, bad := c.object("ephemeral_message_parameters", &only); bad != nil {
		return bad
	}
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	chat.mu.Lock()
	defer chat.mu.Unlock()
	if only.To != 0 && !t.opts.Old {
		return sendEphemeral(chat, c, only.To, text)
	}
	m := &message{from: &c.bot.user, bot: c.bot, date: time.Now(), text: text, entities: entities, preview: preview, keyboard: keyboard}
	if bad = admitPost(chat, c, m); bad != nil {
		return bad
	}
	chat.add(m)
	chat.publish(m, "message")
	t.unfurl(chat, m)
	return &reply{result: fake.EncodeJSON(chat.wireFor(c.bot, m)), message: m.id}
}

// admitPost checks where the message goes and what it answers. It needs the lock.
func admitPost(c *Chat, k *call, m *message) *reply {
	who := c.members[k.bot.user.ID]
	if who.status == "restricted" {
		return badRequest("not enough rights to send text messages to the chat")
	}
	thread := k.entry.Thread
	if thread != 0 {
		tp := c.topics[thread]
		if tp == nil {
			return badRequest("message thread not found")
		}
		if tp.closed && !who.admin() {
			return badRequest("TOPIC_CLOSED")
		}
	}
	to := k.replyTo()
	r := c.messages[to.MessageID]
	// across topics there is no answering: the target counts as missing
	if r == nil || c.wire.IsForum && thread != 0 && r.thread != thread {
		if to.MessageID != 0 && !to.AllowWithout {
			return badRequest("message to be replied not found")
		}
		to.MessageID = 0
	}
	c.place(m, thread, to.MessageID)
	return nil
}

func (t botAPI) editMessageText(c *call) *reply {
	text, entities, bad := c.words()
	if bad != nil {
		return bad
	}
	preview, bad := c.preview()
	if bad != nil {
		return bad
	}
	keyboard, bad := c.keyboard()
	if bad != nil {
		return bad
	}
	if c.params.Get("inline_message_id") != "" {
		return editGuest(t.Server, c, text)
	}
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	chat.mu.Lock()
	defer chat.mu.Unlock()
	m := chat.messages[c.entry.Target]
	switch {
	case m == nil:
		return badRequest("message to edit not found")
	case m.bot != c.bot:
		return badRequest("message can't be edited")
	case m.file != nil:
		return badRequest("there is no text in the message to edit")
	case m.text == text && slices.EqualFunc(m.entities, entities, TextEntity.equal) && m.preview == preview && slices.Equal(m.keyboard.buttons(), keyboard.buttons()):
		return badRequest("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	m.text, m.entities, m.preview, m.keyboard = text, entities, preview, keyboard
	m.edited = time.Now()
	m.edits++
	chat.publish(m, "edited_message")
	t.unfurl(chat, m)
	return &reply{result: fake.EncodeJSON(chat.wireFor(c.bot, m)), message: m.id}
}

// unfurl plays the preview bot: it notes the one address the platform would
// fetch for this message, unless the sender forbade it.
func (t botAPI) unfurl(c *Chat, m *message) {
	if m.preview.IsDisabled {
		return
	}
	url := m.preview.URL
	for _, e := range m.entities {
		if url != "" {
			break
		}
		switch e.Type {
		case "text_link":
			url = e.URL
		case "url":
			url = cutUTF16(m.text, e.Offset, e.Length)
		}
	}
	if url != "" {
		t.ledger.unfurled(LinkPreview{At: time.Now(), Bot: m.bot.user.ID, Chat: c.wire.ID, Message: m.id, URL: url})
	}
}

func (t botAPI) deleteMessage(c *call) *reply {
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	chat.mu.Lock()
	defer chat.mu.Unlock()
	m := chat.messages[c.entry.Target]
	switch {
	case m == nil:
		return badRequest("message to delete not found")
	case !deletableBy(chat, c.bot, m):
		return badRequest("message can't be deleted")
	}
	delete(chat.messages, m.id)
	return &reply{result: yes, message: m.id}
}

// deletableBy applies the platform's rule: within 48 hours a bot deletes its own
// messages anywhere, anybody's in a direct chat, and anybody's as administrator.
func deletableBy(c *Chat, b *BotUser, m *message) bool {
	if c.members[b.user.ID].admin() && c.wire.Type != group {
		return true
	}
	return time.Since(m.date) < 48*time.Hour && (m.bot == b || c.wire.Type == private || c.members[b.user.ID].admin())
}

func (t botAPI) deleteMessages(c *call) *reply {
	var ids []int64
	if _, bad := c.object("message_ids", &ids); bad != nil {
		return bad
	}
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	chat.mu.Lock()
	defer chat.mu.Unlock()
	for _, id := range ids { // the ones that cannot be deleted are skipped
		if m := chat.messages[id-c.numbers]; m != nil && deletableBy(chat, c.bot, m) {
			delete(chat.messages, m.id)
		}
	}
	return &reply{result: yes}
}

package telegram

import (
	"slices"
	"time"
)

// A MessageDraft is a message that a bot showed before it was whole. It is gone after
// half a minute, or with the bot's next message in the chat.
type MessageDraft struct {
	At     time.Time `json:"at"`
	Bot    int64     `json:"bot"`
	ID     int64     `json:"id"`
	Thread int64     `json:"thread,omitzero"`
	Text   string    `json:"text"` // without markup; empty: "Thinking…"
}

// sendMessageDraft shows a draft in a private chat.
func (t *Server) sendMessageDraft(c *call) *reply {
	id, ok := c.number("draft_id")
	if !ok || id == 0 {
		return badRequest("draft_id must be non-zero")
	}
	text := ""
	if c.params.Get("text") != "" {
		var bad *reply
		if text, _, bad = c.words(); bad != nil {
			return bad
		}
	}
	chat, bad := t.target(c)
	if bad != nil {
		return bad
	}
	chat.mu.Lock()
	defer chat.mu.Unlock()
	if chat.wire.Type != private {
		return badRequest("message drafts can be sent only to private chats")
	}
	chat.drafts = append(chat.drafts, MessageDraft{At: time.Now(), Bot: c.bot.user.ID, ID: id, Thread: c.entry.Thread, Text: text})
	if len(chat.drafts) > 1000 {
		chat.drafts = slices.Delete(chat.drafts, 0, 500)
	}
	return &reply{result: yes}
}

// Drafts returns the latest drafts bots showed here, oldest first, those that
// have faded among them.
func (c *Chat) Drafts() []MessageDraft {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.drafts)
}

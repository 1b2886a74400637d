package telegram

import (
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// A MessageDraft is a message that a bot showed before it was whole. It is gone after
// half a minute, or with the bot's next message in the chat.
type MessageDraft struct {
	At     time.Time `json:"at"`
	Bot    int64     `json:"bot"`
	ID     int64     `json:"id"`
	Thread int64     `json:"thread,omitzero"`
	Text   string    `json:"text"`          // without markup; empty: "Thinking…"
	Stop   bool      `json:"stop,omitzero"` // people can stop it
}

// sendMessageDraft shows a draft in a private chat.
func (t botAPI) sendMessageDraft(c *call) *reply {
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
	chat.drafts = append(chat.drafts, MessageDraft{At: time.Now(), Bot: c.bot.user.ID, ID: id, Thread: c.entry.Thread, Text: text, Stop: c.flag("can_stop") && !t.opts.Old})
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

// wireStop is a MessageGenerationStopped.
type wireStop struct {
	Chat   wireChat `json:"chat"`
	Thread int64    `json:"message_thread_id,omitzero"`
	Draft  int64    `json:"draft_id"`
}

// StopsDraft presses the Stop below the latest draft of a direct chat. It reports whether
// there was one.
func (p *HumanUser) StopsDraft(c *Chat) bool {
	c.mu.Lock()
	defer c.of.ring()
	defer c.mu.Unlock()
	if len(c.drafts) == 0 {
		return false
	}
	d := c.drafts[len(c.drafts)-1]
	b, known := c.of.Bot(d.Bot)
	if !d.Stop || !known || time.Since(d.At) > 30*time.Second {
		return false
	}
	b.deliver(delivery{kind: "stopped_message_generation", at: time.Now(), chat: c.wire.ID}, fake.EncodeJSON(wireStop{Chat: c.wire, Thread: d.Thread, Draft: d.ID}))
	return true
}

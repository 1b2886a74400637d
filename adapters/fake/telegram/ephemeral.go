package telegram

import (
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// An EphemeralMessage is a message in a group that one person alone sees.
type EphemeralMessage struct {
	ID     int64
	To     int64
	Thread int64
	Text   string
}

// EphemeralIn returns what bots showed to one person alone in a chat, oldest first.
func EphemeralIn(c *Chat) []EphemeralMessage {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.ephemeral)
}

// sendEphemeral shows a text to one person alone. It needs the chat's lock.
func sendEphemeral(c *Chat, k *call, to int64, text string) *reply {
	who := c.members[to]
	switch {
	case c.wire.Type == private:
		return badRequest("ephemeral messages can be sent only to groups")
	case who == nil || who.status == "left" || who.status == "kicked":
		return badRequest("receiver not found")
	}
	m := EphemeralMessage{ID: int64(len(c.ephemeral)) + 1, To: to, Thread: k.entry.Thread, Text: text}
	c.ephemeral = append(c.ephemeral, m)
	return &reply{result: fake.EncodeJSON(map[string]any{
		"message_id": 0, "ephemeral_message_id": m.ID, "date": time.Now().Unix(), "chat": c.wire, "from": k.bot.user, "text": text,
	})}
}

package slack

import (
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// subscriptionOf names the subscription by which an app is told what is said in a chat
// (docs.slack.dev/reference/events, message.channels and its likes).
func subscriptionOf(chat adapters.Chat) string {
	switch {
	case chat.Kind == adapters.Direct:
		return "message.im"
	case chat.Kind == adapters.Channel:
		return "message.channels"
	case chat.Group == "":
		return "message.mpim"
	default:
		return "message.groups"
	}
}

// toldLate is how late an event may come that no socket had to wait for.
const toldLate = 30 * time.Second

// notTold notes what history has and no event has told, though we listened: Slack
// shows nobody but the app's owner which events it is subscribed to.
func (c *Client) notTold(updates []adapters.Update) {
	for _, u := range updates {
		if m, ok := u.Body.(adapters.Message); ok && m.Command == nil && time.Since(u.At) > toldLate && u.From.ID != c.self.Load().account() {
			c.log.Warn("history has what no event told", "chat", u.Chat.ID, "subscription", subscriptionOf(u.Chat))
			c.mu.Lock()
			c.untold[subscriptionOf(u.Chat)] = u.Chat.ID
			c.mu.Unlock()
			return
		}
	}
}

// told notes what events tell: their subscription stands.
func (c *Client) told(updates []adapters.Update) {
	for _, u := range updates {
		if _, ok := u.Body.(adapters.Message); ok && u.Thread.ID == "" {
			c.mu.Lock()
			delete(c.untold, subscriptionOf(u.Chat))
			c.mu.Unlock()
		}
	}
}

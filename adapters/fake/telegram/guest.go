package telegram

import (
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// guestWait is how long the platform waits for the answer to a guest query. How long the
// real one waits is not documented; people report that long runs come too late.
const guestWait = 15 * time.Second

// A GuestQuery is a message that a person wrote to a bot in a chat that it is no member of,
// and the one message by which the bot answered.
type GuestQuery struct {
	ID     string
	Chat   int64
	Who    int64
	Answer string // without markup; empty: none yet
	Edits  int

	bot     *BotUser
	at      time.Time
	message string // inline_message_id of the answer
}

// AsksGuest posts a message of a person that mentions a bot in a chat that the bot is no
// member of. The bot's guest mode is on. It returns the id of the query.
func (p *HumanUser) AsksGuest(c *Chat, b *BotUser, text string, o PostOptions) string {
	id := c.Says(p, text, o)
	c.mu.Lock()
	defer c.of.ring()
	defer c.mu.Unlock()
	q := &GuestQuery{ID: fmt.Sprint(7_000_000_000_000 + c.of.lastFile.Add(1)), Chat: c.wire.ID, Who: p.ID, bot: b, at: time.Now()}
	c.of.mu.Lock()
	c.of.guests = append(c.of.guests, q)
	c.of.mu.Unlock()
	told := *c.wireOf(c.messages[id], true)
	told.GuestQuery = q.ID
	b.deliver(delivery{kind: "guest_message", at: time.Now(), chat: c.wire.ID}, fake.EncodeJSON(told))
	return q.ID
}

// GuestQueries returns the guest queries of all chats, oldest first.
func (t *Server) GuestQueries() []GuestQuery {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var all []GuestQuery
	for _, q := range t.guests {
		all = append(all, *q)
	}
	return all
}

// findGuest returns the query that match accepts; nil if there is none. It needs the lock.
func (t *Server) findGuest(match func(*GuestQuery) bool) *GuestQuery {
	for _, q := range t.guests {
		if match(q) {
			return q
		}
	}
	return nil
}

// content reads input_message_content into the parameters of a message.
func (c *call) content() *reply {
	var result struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Title   string `json:"title"`
		Content struct {
			Text    string       `json:"message_text"`
			Mode    string       `json:"parse_mode"`
			Preview *wirePreview `json:"link_preview_options"`
		} `json:"input_message_content"`
	}
	given, bad := c.object("result", &result)
	switch {
	case bad != nil:
		return bad
	case !given:
		return badRequest("can't parse result: it is empty")
	case result.Type != "article" || result.ID == "" || len(result.ID) > 64:
		return badRequest("RESULT_ID_INVALID")
	case result.Title == "":
		return badRequest("ARTICLE_TITLE_EMPTY")
	}
	c.params.Set("text", result.Content.Text)
	c.params.Set("parse_mode", result.Content.Mode)
	return nil
}

func answerGuestQuery(t *Server, c *call) *reply {
	if bad := c.content(); bad != nil {
		return bad
	}
	text, _, bad := c.words()
	if bad != nil {
		return bad
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.findGuest(func(q *GuestQuery) bool { return q.ID == c.params.Get("guest_query_id") && q.bot == c.bot })
	if q == nil || q.message != "" || time.Since(q.at) > guestWait {
		return badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	q.Answer, q.message = text, "inline-"+q.ID
	return &reply{result: fake.EncodeJSON(map[string]any{"inline_message_id": q.message})}
}

// editGuest replaces the answer to a query.
func editGuest(t *Server, c *call, text string) *reply {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.findGuest(func(q *GuestQuery) bool { return q.message == c.params.Get("inline_message_id") && q.bot == c.bot })
	switch {
	case q == nil:
		return badRequest("MESSAGE_ID_INVALID")
	case q.Answer == text:
		return badRequest("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	q.Answer = text
	q.Edits++
	return &reply{result: yes}
}

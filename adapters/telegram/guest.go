package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/markup"
)

// A person may mention a bot in a chat that it is no member of, if its guest mode is on. The
// bot is then sent the message and may answer once, with one message that it can edit
// (core.telegram.org/bots/api#answerguestquery). Each such query is a chat of its own here:
// nothing that was said in another is shown in it.

// guestPrefix begins the id of the chat that a query is.
const guestPrefix = "guest:"

func isGuest(chat string) bool { return strings.HasPrefix(chat, guestPrefix) }

// readGuest reads guest_message. The message it replies to is what the person asks about, so
// its words are quoted.
func (r reader) readGuest(raw json.RawMessage) ([]adapters.Update, error) {
	var m message
	if err := m.read(raw); err != nil {
		return nil, err
	}
	if m.GuestQuery == "" {
		return nil, errors.New("it does not say which query it is")
	}
	u := m.update()
	u.Key = guestPrefix + m.GuestQuery
	u.Chat = adapters.Chat{ID: u.Key, Kind: adapters.Group, Title: guestTitle(&m), Guest: true}
	u.Thread = adapters.Thread{}
	said := r.said(&m)
	said.ToUs, said.ByReply, said.ReplyTo, said.ReplyFrom = true, false, "", adapters.Person{}
	if m.ReplyTo != nil && !m.answersTopic() {
		said.Text = r.repliedTo(m.ReplyTo) + said.Text
	}
	u.Body = said
	return []adapters.Update{u}, nil
}

// guestTitle names the chat of a query by the chat it was asked in, or by who asked.
func guestTitle(m *message) string {
	if m.Chat.Type != "private" && m.Chat.name() != "" {
		return "guest in " + m.Chat.name()
	}
	return "guest of " + m.sender().Name
}

// repliedTo returns the words of the message that a query replies to, as a quote.
func (r reader) repliedTo(m *message) string {
	quoted := r.said(m)
	words := quoted.Text
	for _, a := range quoted.Attachments {
		words = strings.TrimSpace("[" + markup.Escape(a.Kind) + "] " + words)
	}
	if words == "" {
		return ""
	}
	if who := m.sender().Name; who != "" {
		words = markup.Escape(who) + ": " + words
	}
	return "> " + strings.ReplaceAll(words, "\n", "\n> ") + "\n\n"
}

// guestAnswers are the answers to queries that this process has begun. They are kept in
// memory alone: after a restart an answer that was begun can be edited by the id that its
// receipt holds, but a sign that one is coming cannot become an answer any more.
type guestAnswers struct {
	mu  sync.Mutex
	all map[string]*guestAnswer // by the chat that the query is
}

// maxGuests bounds the answers that are kept.
const maxGuests = 1000

// of returns the answer to a query, which may not have begun.
func (a *guestAnswers) of(chat string) *guestAnswer {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := a.all[chat]
	if g == nil {
		if a.all == nil || len(a.all) >= maxGuests {
			a.all = map[string]*guestAnswer{}
		}
		g = new(guestAnswer)
		a.all[chat] = g
	}
	return g
}

// A guestAnswer is the one message that answers a query.
type guestAnswer struct {
	mu      sync.Mutex // held while it is sent
	message string     // its inline_message_id; empty before it has begun
	before  string     // the HTML of all parts but the latest
	latest  string
}

// join returns the HTML of two parts as that of one.
func join(before, latest string) string { return strings.Trim(before+"\n\n"+latest, "\n") }

// comingSign is what a query is answered with while the answer is not known: Telegram takes
// the first answer for a short time only.
const comingSign = "…"

// send answers a query, or adds a part to the answer that was begun.
func (a *guestAnswers) send(ctx context.Context, c *Client, p adapters.OutgoingMessage) (adapters.Receipt, error) {
	if len(p.Files) > 0 {
		return adapters.Receipt{}, guestError("sendDocument", "a bot that is a guest can send no file")
	}
	g := a.of(p.Chat)
	g.mu.Lock()
	defer g.mu.Unlock()
	before := join(g.before, g.latest)
	whole := join(before, p.Text)
	if len(utf16.Encode([]rune(stripHTML(whole)))) > maxUnits {
		return adapters.Receipt{}, guestError("editMessageText", "a bot that is a guest has one message to answer with, and it is full")
	}
	var err error
	if g.message == "" {
		g.message, err = answerGuest(ctx, c, p.Chat, whole)
	} else {
		err = editGuest(ctx, c, g.message, whole)
	}
	if err != nil {
		return adapters.Receipt{}, err
	}
	g.before, g.latest = before, p.Text
	return adapters.Receipt{Message: g.message, At: time.Now()}, nil
}

// begin shows in the chat of a query that an answer is coming.
func (a *guestAnswers) begin(ctx context.Context, c *Client, chat string) (err error) {
	g := a.of(chat)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.message == "" {
		g.message, err = answerGuest(ctx, c, chat, comingSign)
	}
	return err
}

// edit replaces the latest part of an answer.
func (a *guestAnswers) edit(ctx context.Context, c *Client, m adapters.MessageRef, text string) error {
	g := a.of(m.Chat)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := editGuest(ctx, c, m.Message, join(g.before, text)); err != nil {
		return err
	}
	g.message, g.latest = m.Message, text
	return nil
}

// answerGuest answers the query that a chat is, and returns the id of the answer. Telegram's
// refusal to parse our HTML is a definite no, so the text is then sent once more as plain text.
func answerGuest(ctx context.Context, c *Client, chat, text string) (string, error) {
	id, err := answerGuestOnce(ctx, c, chat, map[string]any{"message_text": text, "parse_mode": "HTML"})
	if !refusedFor(err, "can't parse entities", "can't parse message text") {
		return id, err
	}
	c.log.Warn("markup refused, sending plain text", "op", "answerGuestQuery", "error", err)
	return answerGuestOnce(ctx, c, chat, map[string]any{"message_text": stripHTML(text)})
}

// answerGuestOnce makes the call, with content as an InputTextMessageContent.
func answerGuestOnce(ctx context.Context, c *Client, chat string, content map[string]any) (string, error) {
	content["link_preview_options"] = json.RawMessage(noPreview)
	result, err := json.Marshal(map[string]any{"type": "article", "id": "answer", "title": "Answer", "input_message_content": content})
	if err != nil {
		panic("telegram: an answer does not encode: " + err.Error()) // it is made of strings
	}
	params := tgbotapi.Params{"guest_query_id": strings.TrimPrefix(chat, guestPrefix), "result": string(result)}
	sent, err := call[sentGuest](ctx, c, "answerGuestQuery", params, c.limit)
	return sent.ID, err
}

// sentGuest is a SentGuestMessage.
type sentGuest struct {
	ID string `json:"inline_message_id"`
}

// UnmarshalJSON reads the message and fails when it has no id: without one there is no
// receipt.
func (m *sentGuest) UnmarshalJSON(raw []byte) error {
	type plain sentGuest
	if err := json.Unmarshal(raw, (*plain)(m)); err != nil {
		return err
	}
	if m.ID == "" {
		return errors.New("the answer holds no message id")
	}
	return nil
}

// editGuest replaces the whole answer.
func editGuest(ctx context.Context, c *Client, message, text string) error {
	params := tgbotapi.Params{"inline_message_id": message, "text": text, "parse_mode": "HTML", "link_preview_options": noPreview}
	_, err := callHTML[json.RawMessage](ctx, c, "editMessageText", params)
	if refusedFor(err, "message is not modified") {
		return nil
	}
	return err
}

// guestError is the refusal of what a guest cannot do.
func guestError(op, reason string) error {
	return &adapters.Error{Kind: adapters.Invalid, Op: op, Err: errors.New(reason)}
}

package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
)

var (
	_ adapters.MessageEditor  = (*Client)(nil)
	_ adapters.MessageDeleter = (*Client)(nil)
	_ adapters.TypingNotifier = (*Client)(nil)
)

// noPreview keeps Telegram from fetching what a text links to: a fetch would send the
// URL's query to its host although no person clicked.
const noPreview = `{"is_disabled":true}`

// sentMessage is what we need of the message Telegram returns.
type sentMessage struct {
	ID   int64 `json:"message_id"`
	Date int64 `json:"date"`
}

// UnmarshalJSON reads the message and fails when it has no id: without one there
// is no receipt.
func (m *sentMessage) UnmarshalJSON(raw []byte) error {
	type plain sentMessage
	if err := json.Unmarshal(raw, (*plain)(m)); err != nil {
		return err
	}
	if m.ID <= 0 {
		return errors.New("the answer holds no message id")
	}
	return nil
}

// Send posts one part. Telegram's refusal to parse our HTML is a definite no, so
// the part is then sent once more as plain text; nothing else is ever repeated.
func (c *Client) Send(ctx context.Context, p adapters.OutgoingMessage) (adapters.Receipt, error) {
	if isGuest(p.Chat) {
		return c.guests.send(ctx, c, p)
	}
	if len(p.Files) > 0 {
		return c.sendFile(ctx, p)
	}
	params, err := postParams(p)
	if err != nil {
		return adapters.Receipt{}, err
	}
	sent, err := callHTML[sentMessage](ctx, c, "sendMessage", params)
	if err != nil {
		return adapters.Receipt{}, err
	}
	return adapters.Receipt{Message: formatID(sent.ID), At: at(sent.Date)}, nil
}

// postParams returns the parameters of sendMessage for p.
func postParams(p adapters.OutgoingMessage) (tgbotapi.Params, error) {
	params := tgbotapi.Params{
		"chat_id":              p.Chat,
		"text":                 linkMentions(p.Text, p.Mentions),
		"parse_mode":           "HTML",
		"link_preview_options": noPreview,
	}
	if p.Thread != "" {
		params["message_thread_id"] = p.Thread
	}
	if len(p.Choices) > 0 {
		params["reply_markup"] = keyboard(p.Choices)
	}
	if p.ReplyTo != "" && !strings.HasPrefix(p.ReplyTo, exported) { // which no live message answers to
		id, err := strconv.ParseInt(p.ReplyTo, 10, 64)
		if err != nil {
			return nil, &adapters.Error{
				Kind: adapters.Invalid, Op: "sendMessage",
				Err: fmt.Errorf("reply to %q, which is no message id of telegram's", p.ReplyTo),
			}
		}
		params["reply_parameters"] = fmt.Sprintf(`{"message_id":%d,"allow_sending_without_reply":true}`, id)
	}
	return params, nil
}

// callHTML makes a call whose text is HTML, and once more with plain text when
// Telegram cannot parse it.
func callHTML[T any](ctx context.Context, c *Client, method string, params tgbotapi.Params) (T, error) {
	result, err := call[T](ctx, c, method, params, c.limit)
	if !refusedFor(err, "can't parse entities", "can't parse message text") {
		return result, err
	}
	c.log.Warn("markup refused, sending plain text", "op", method, "error", err)
	plain := maps.Clone(params)
	delete(plain, "parse_mode")
	plain["text"] = stripHTML(params["text"])
	return call[T](ctx, c, method, plain, c.limit)
}

// Edit replaces the words of message m by text, one part as Split returned it. Without a
// reply_markup Telegram takes the message's buttons away. Telegram's "message is not modified" is success.
func (c *Client) Edit(ctx context.Context, m adapters.MessageRef, text string) error {
	return c.EditChoices(ctx, m, text, nil)
}

// EditChoices is Edit that gives the message these buttons.
func (c *Client) EditChoices(ctx context.Context, m adapters.MessageRef, text string, choices []adapters.ChoiceButton) error {
	if isGuest(m.Chat) {
		return c.guests.edit(ctx, c, m, text)
	}
	params := tgbotapi.Params{
		"chat_id":              m.Chat,
		"message_id":           m.Message,
		"text":                 text,
		"parse_mode":           "HTML",
		"link_preview_options": noPreview,
	}
	if len(choices) > 0 {
		params["reply_markup"] = keyboard(choices)
	}
	_, err := callHTML[json.RawMessage](ctx, c, "editMessageText", params)
	if refusedFor(err, "message is not modified") {
		return nil
	}
	return err
}

// Delete deletes message m. One that is gone already is success. Telegram lets a
// bot delete what is younger than 48 hours; later it is Forbidden. What a guest has said can
// only be edited: it becomes three dots.
func (c *Client) Delete(ctx context.Context, m adapters.MessageRef) error {
	if isGuest(m.Chat) {
		return c.guests.edit(ctx, c, m, comingSign)
	}
	_, err := call[bool](ctx, c, "deleteMessage", tgbotapi.Params{"chat_id": m.Chat, "message_id": m.Message}, c.limit)
	if refusedFor(err, "message to delete not found") {
		return nil
	}
	return err
}

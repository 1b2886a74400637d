package telegram

import (
	"context"
	"encoding/json"
	"errors"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.ChoiceOfferer = (*Client)(nil)

// keyboard returns an inline keyboard with the buttons in rows of three
// (core.telegram.org/bots/api#inlinekeyboardmarkup).
func keyboard(choices []adapters.ChoiceButton) string {
	const perRow = 3
	var rows [][]tgbotapi.InlineKeyboardButton
	for i, c := range choices {
		if i%perRow == 0 {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], tgbotapi.NewInlineKeyboardButtonData(c.Label, c.Value))
	}
	text, err := json.Marshal(tgbotapi.NewInlineKeyboardMarkup(rows...))
	if err != nil {
		panic("telegram: a keyboard does not encode: " + err.Error()) // it is made of strings
	}
	return string(text)
}

// pressed is a callback_query: a person pressed a button below a message of the bot.
type pressed struct {
	ID      string `json:"id"`
	From    user   `json:"from"`
	Message struct {
		ID       int64 `json:"message_id"`
		ThreadID int64 `json:"message_thread_id"`
		IsTopic  bool  `json:"is_topic_message"`
		Chat     chat  `json:"chat"`
	} `json:"message"` // of an old one Telegram sends the chat and the id alone
	Data string `json:"data"`
}

// readPress reads callback_query. A press below a message that is in no chat of the bot,
// which went through inline mode, says nothing that we offered.
func readPress(raw json.RawMessage) ([]adapters.Update, error) {
	var p pressed
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	if p.ID == "" || p.From.ID == 0 || p.Message.ID == 0 || p.Message.Chat.ID == 0 {
		return nil, errors.New("it does not say who pressed below which message")
	}
	m := message{ThreadID: p.Message.ThreadID, IsTopic: p.Message.IsTopic}
	u := adapters.Update{
		Key: "press:" + p.ID, Chat: p.Message.Chat.chat(), Thread: m.thread(), From: p.From.person(),
		Body: adapters.ChoicePicked{Message: formatID(p.Message.ID), Value: p.Data, Press: p.ID},
	}
	return []adapters.Update{u}, nil
}

// stoppedGeneration is a stopped_message_generation: a person pressed Stop below a draft,
// which only private chats have.
type stoppedGeneration struct {
	Chat     chat  `json:"chat"`
	ThreadID int64 `json:"message_thread_id"`
	DraftID  int64 `json:"draft_id"`
}

// readStop reads stopped_message_generation. The person of a private chat has its id.
func readStop(raw json.RawMessage) ([]adapters.Update, error) {
	var s stoppedGeneration
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	if s.Chat.ID <= 0 || s.DraftID == 0 {
		return nil, errors.New("it does not say which draft of a private chat")
	}
	m := message{ThreadID: s.ThreadID, IsTopic: s.ThreadID != 0}
	who := user{ID: s.Chat.ID, FirstName: s.Chat.FirstName, LastName: s.Chat.LastName, Username: s.Chat.Username}
	return []adapters.Update{{
		Key: "stop:" + formatID(s.Chat.ID) + ":" + formatID(s.DraftID), Chat: s.Chat.chat(), Thread: m.thread(), From: who.person(),
		Body: adapters.ChoicePicked{Stop: true},
	}}, nil
}

// AnswerPress ends the sign that a button is being worked on, which Telegram shows until
// then, and shows text to the person who pressed
// (core.telegram.org/bots/api#answercallbackquery).
func (c *Client) AnswerPress(ctx context.Context, press, text string) error {
	params := tgbotapi.Params{"callback_query_id": press}
	if text != "" {
		params["text"], params["show_alert"] = text, "true"
	}
	_, err := call[bool](ctx, c, "answerCallbackQuery", params, c.limit)
	return err
}

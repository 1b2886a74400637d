package telegram

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// wireKeyboard is an InlineKeyboardMarkup.
type wireKeyboard struct {
	Rows [][]ButtonData `json:"inline_keyboard"`
}

// A ButtonData is a button below a message.
type ButtonData struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

func (k *wireKeyboard) buttons() []ButtonData {
	if k == nil {
		return nil
	}
	return slices.Concat(k.Rows...)
}

// keyboard reads reply_markup; nil when there is none.
func (c *call) keyboard() (*wireKeyboard, *reply) {
	var k wireKeyboard
	given, bad := c.object("reply_markup", &k)
	if bad != nil || !given || len(k.buttons()) == 0 {
		return nil, bad
	}
	for _, b := range k.buttons() {
		switch {
		case b.Text == "":
			return nil, badRequest("Text buttons are unallowed in the inline keyboard")
		case b.Data == "" || len(b.Data) > 64:
			return nil, badRequest("BUTTON_DATA_INVALID")
		}
	}
	return &k, nil
}

// wirePress is a CallbackQuery.
type wirePress struct {
	ID       string       `json:"id"`
	From     *wireUser    `json:"from"`
	Message  *wireMessage `json:"message"`
	Instance string       `json:"chat_instance"`
	Data     string       `json:"data"`
}

// A ButtonPress is a press of a button and how the bot answered it.
type ButtonPress struct {
	Who      int64
	Message  int64
	Data     string
	Answered bool
	Text     string // shown to the person alone
	Alert    bool   // as a dialog

	bot *BotUser
	at  time.Time
}

// pressWait is how long the platform waits for the answer to a press.
const pressWait = 15 * time.Second

// Presses presses the button with that label or data below a message of a bot. It reports
// whether the message has it.
func (p *HumanUser) Presses(c *Chat, id int64, button string) bool {
	c.mu.Lock()
	defer c.of.ring()
	defer c.mu.Unlock()
	m := c.messages[id]
	if m == nil || m.bot == nil {
		return false
	}
	for _, b := range m.keyboard.buttons() {
		if b.Text == button || b.Data == button {
			press(c, p, m, b.Data)
			return true
		}
	}
	return false
}

// PressesData sends what a client of the person's own making may send: any data, below any
// message of a bot.
func (p *HumanUser) PressesData(c *Chat, id int64, data string) {
	c.mu.Lock()
	defer c.of.ring()
	defer c.mu.Unlock()
	if m := c.messages[id]; m != nil && m.bot != nil {
		press(c, p, m, data)
	}
}

// press tells the bot. It needs the lock.
func press(c *Chat, p *HumanUser, m *message, data string) {
	query := fmt.Sprintf("%d", 4_000_000_000_000+c.of.lastFile.Add(1))
	c.presses = append(c.presses, &ButtonPress{Who: p.ID, Message: m.id, Data: data, bot: m.bot, at: time.Now()})
	c.of.mu.Lock()
	c.of.presses[query] = pressPlace{c, len(c.presses) - 1}
	c.of.mu.Unlock()
	told := wirePress{ID: query, From: &p.user, Message: c.wireFor(m.bot, m), Instance: "1", Data: data}
	m.bot.deliver(delivery{kind: "callback_query", at: time.Now(), chat: c.wire.ID, message: told.Message.ID}, fake.EncodeJSON(told))
}

// A pressPlace says which press of a chat a query is.
type pressPlace struct {
	chat *Chat
	n    int
}

// PressedIn returns the presses of buttons in a chat, oldest first.
func PressedIn(c *Chat) []ButtonPress {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var all []ButtonPress
	for _, p := range c.presses {
		all = append(all, *p)
	}
	return all
}

func (t botAPI) answerCallbackQuery(c *call) *reply {
	t.mu.RLock()
	at, known := t.presses[c.params.Get("callback_query_id")]
	t.mu.RUnlock()
	invalid := badRequest("query is too old and response timeout expired or query ID is invalid")
	if !known {
		return invalid
	}
	at.chat.mu.Lock()
	defer at.chat.mu.Unlock()
	p := at.chat.presses[at.n]
	text := c.params.Get("text")
	switch {
	case p.bot != c.bot || p.Answered || time.Since(p.at) > pressWait:
		return invalid
	case utf8.RuneCountInString(text) > 200:
		return badRequest("MESSAGE_TOO_LONG")
	}
	p.Answered, p.Text, p.Alert = true, text, c.flag("show_alert")
	return &reply{result: yes}
}

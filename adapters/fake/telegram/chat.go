package telegram

import (
	"context"
	"slices"
	"sync"
	"time"
)

// The platform's words for its kinds of chat.
const (
	private    = "private"
	group      = "group"
	supergroup = "supergroup"
	channel    = "channel"
)

// A Chat is one conversation. What its methods make happen reaches, as updates,
// every bot that is in it and may see it.
type Chat struct {
	of     *Server
	nextID func() int64 // mints message ids; needs mu

	mu       sync.RWMutex // guards what follows
	wire     wireChat
	lastID   int64
	members  map[int64]*member
	topics   map[int64]*topic
	messages map[int64]*message
	order    []int64    // ids of messages, oldest first
	sent     []*message // by bots, oldest first, within the history's bound
	sentAll  int        // how many bots ever sent
	movedTo  int64
	pinned   int64
	actions  []ChatActivity
	drafts   []MessageDraft

	ephemeral []EphemeralMessage // oldest first
	presses   []*ButtonPress
}

// member is a person's standing in a chat.
type member struct {
	user   *wireUser
	bot    *BotUser // nil for people
	status string   // creator, administrator, member, left, kicked, restricted
	// numbers is by how much the ids of messages are larger for it: in a basic group
	// each account counts for itself.
	numbers int64
}

func (m *member) in() bool { return m != nil && m.status != "left" && m.status != "kicked" }

func (m *member) admin() bool {
	return m != nil && (m.status == "administrator" || m.status == "creator")
}

type topic struct {
	name   string
	root   int64 // the service message that made it; also its id
	closed bool
}

// message is one message of a chat. The chat's lock guards it.
type message struct {
	id, thread, replyTo int64
	topic               bool // thread is a forum topic
	from                *wireUser
	asChat              bool
	bot                 *BotUser // the bot that sent it
	date, edited        time.Time
	edits               int
	text                string
	entities            []TextEntity
	preview             wirePreview
	keyboard            *wireKeyboard
	file                *SharedFile
	origin              *wireOrigin
	service             *service
	reactions           map[int64][]string
}

// A ChatMessage is a message as the driving side sees it.
type ChatMessage struct {
	ID        int64        `json:"id"`
	Chat      int64        `json:"chat"`
	Thread    int64        `json:"thread,omitzero"`
	ReplyTo   int64        `json:"reply_to,omitzero"`
	From      int64        `json:"from"`
	Text      string       `json:"text"` // without markup
	Entities  []TextEntity `json:"entities,omitzero"`
	At        time.Time    `json:"at"`
	EditedAt  time.Time    `json:"edited_at,omitzero"`
	Edits     int          `json:"edits,omitzero"`
	NoPreview bool         `json:"no_preview,omitzero"`
	Deleted   bool         `json:"deleted,omitzero"`
	File      *SharedFile  `json:"file,omitzero"` // then the words are its caption
	// Buttons are those below it, by the data that a press sends.
	Buttons []ButtonData `json:"buttons,omitzero"`
	// Reactions are the emoji set on it, by the user id of who set them.
	Reactions map[int64][]string `json:"reactions,omitzero"`
}

// A ChatActivity is a sign of activity a bot showed, such as "typing".
type ChatActivity struct {
	At     time.Time `json:"at"`
	Bot    int64     `json:"bot"`
	Thread int64     `json:"thread,omitzero"`
	Action string    `json:"action"`
}

func newChat(t *Server, w wireChat) *Chat {
	c := &Chat{
		of:       t,
		wire:     w,
		members:  make(map[int64]*member),
		topics:   make(map[int64]*topic),
		messages: make(map[int64]*message),
	}
	c.nextID = func() int64 {
		c.lastID++
		return c.lastID
	}
	return c
}

// ID returns the chat's id: a person's in a direct chat, negative otherwise.
func (c *Chat) ID() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.wire.ID
}

// Title returns what the chat is called; empty in a direct chat.
func (c *Chat) Title() string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.wire.Title
}

func (c *Chat) username() string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.wire.Username
}

// Sent returns what bots sent here, oldest first, as it looks now.
func (c *Chat) Sent() []ChatMessage {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make([]ChatMessage, len(c.sent))
	for i, m := range c.sent {
		out[i] = c.view(m)
	}
	return out
}

// Actions returns the latest signs of activity bots showed here, oldest first.
func (c *Chat) Actions() []ChatActivity {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Clone(c.actions)
}

// AwaitSent waits until bots have sent at least n messages here in all, and
// returns what [Chat.Sent] then does.
func (c *Chat) AwaitSent(ctx context.Context, n int) ([]ChatMessage, error) {
	err := c.of.Until(ctx, func() bool {
		c.mu.RLock()
		defer c.mu.RUnlock()
		return c.sentAll >= n
	})
	return c.Sent(), err
}

func (c *Chat) view(m *message) ChatMessage {
	v := ChatMessage{
		ID: m.id, Chat: c.wire.ID, Thread: m.thread, ReplyTo: m.replyTo, From: m.from.ID,
		Text: m.text, Entities: m.entities, At: m.date, EditedAt: m.edited, Edits: m.edits,
		NoPreview: m.preview.IsDisabled, Deleted: c.messages[m.id] != m, File: m.file,
		Buttons: m.keyboard.buttons(),
	}
	if len(m.reactions) > 0 {
		v.Reactions = make(map[int64][]string, len(m.reactions))
		for who, emoji := range m.reactions {
			v.Reactions[who] = slices.Clone(emoji)
		}
	}
	return v
}

// add gives the message its id and stores it. It needs the lock.
func (c *Chat) add(m *message) {
	m.id = c.nextID()
	c.messages[m.id] = m
	c.order = append(c.order, m.id)
	if len(c.order) > c.of.opts.History {
		old := len(c.order) - c.of.opts.History*3/4
		for _, id := range c.order[:old] {
			delete(c.messages, id)
		}
		c.order = slices.Delete(c.order, 0, old)
	}
	if m.bot != nil {
		c.sentAll++
		c.sent = append(c.sent, m)
		if over := len(c.sent) - c.of.opts.History; over > c.of.opts.History/4 {
			c.sent = slices.Delete(c.sent, 0, over)
		}
	}
}

// place works out the thread of a message that is about to be added. In an
// ordinary supergroup every answer carries the id of the first message of its
// chain as thread, although there is no topic.
func (c *Chat) place(m *message, thread, replyTo int64) {
	m.replyTo = replyTo
	if _, ok := c.topics[thread]; ok {
		m.thread, m.topic = thread, true
		return
	}
	to := c.messages[replyTo]
	switch {
	case to == nil || c.wire.Type != supergroup:
	case to.topic:
		m.thread, m.topic = to.thread, true
	case c.wire.IsForum:
	case to.thread != 0:
		m.thread = to.thread
	default:
		m.thread = to.id
	}
}

// wireOf renders a message as bots see it. The message it answers is included
// once; in a topic a message that answers none refers to the topic's own.
func (c *Chat) wireOf(m *message, deep bool) *wireMessage {
	w := &wireMessage{
		ID: m.id, Thread: m.thread, IsTopic: m.topic, From: m.from, Date: m.date.Unix(), Chat: c.wire, Origin: m.origin,
	}
	if m.asChat {
		w.SenderChat = &c.wire
		w.From = &anonymous
		if c.wire.Type == channel {
			w.From = nil
		}
	}
	if !m.edited.IsZero() {
		w.EditDate = m.edited.Unix()
	}
	w.Keyboard = m.keyboard
	if m.preview != (wirePreview{}) {
		w.Preview = &m.preview
	}
	if m.service != nil {
		w.service = *m.service
	}
	if m.file == nil {
		w.Text, w.Entities = m.text, m.entities
	} else {
		m.file.attach(w)
		w.Caption, w.CaptionEnts = m.text, m.entities
	}
	if !deep {
		return w
	}
	to := m.replyTo
	if to == 0 && m.topic {
		to = m.thread
	}
	if r := c.messages[to]; r != nil && r != m {
		w.ReplyTo = c.wireOf(r, false)
	}
	return w
}

// wireFor renders a message as one bot sees it. It needs the lock.
func (c *Chat) wireFor(b *BotUser, m *message) *wireMessage {
	return c.wireOf(m, true).renumbered(c.members[b.user.ID].numbers)
}

// renumbered returns the message with larger ids.
func (w *wireMessage) renumbered(by int64) *wireMessage {
	if w == nil || by == 0 {
		return w
	}
	out := *w
	out.ID += by
	out.ReplyTo, out.Pinned = w.ReplyTo.renumbered(by), w.Pinned.renumbered(by)
	return &out
}

// numbersOf returns by how much ids are larger for a bot that comes now. It needs
// the lock.
func (c *Chat) numbersOf(b *BotUser) int64 {
	var others int64
	for _, m := range c.members {
		if m.bot != nil && m.bot != b {
			others++
		}
	}
	if c.wire.Type != group {
		others = 0
	}
	return 1000 * others
}

// anonymous is the user the platform puts before an administrator who speaks as the group.
var anonymous = wireUser{ID: 1087968824, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"}

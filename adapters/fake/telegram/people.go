package telegram

import (
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// PostOptions is what a message carries beside its words.
type PostOptions struct {
	ReplyTo   int64        `json:"reply_to,omitzero"`
	Thread    int64        `json:"thread,omitzero"`    // a forum's topic
	Entities  []TextEntity `json:"entities,omitzero"`  // Default: commands, mentions and addresses are found
	File      *SharedFile  `json:"file,omitzero"`      // then the words are its caption
	Forwarded string       `json:"forwarded,omitzero"` // the name of who said it first
	AsChat    bool         `json:"as_chat,omitzero"`   // an administrator speaks as the group
}

// A SharedFile is what a person attached.
type SharedFile struct {
	Kind string `json:"kind"` // photo, document, voice, video, audio, sticker
	Name string `json:"name,omitzero"`
	MIME string `json:"mime,omitzero"`
	Data []byte `json:"data,omitzero"`
	id   string
}

// Says posts a message of a person and returns its id. A person who was not in the
// group is taken for an old member. Nothing limits the length: the platform does so in
// its apps.
func (c *Chat) Says(p *HumanUser, text string, s PostOptions) int64 {
	m := &message{from: &p.user, date: time.Now(), text: text, entities: s.Entities, asChat: s.AsChat}
	if m.entities == nil {
		m.entities = detect(text, nil)
	}
	if s.Forwarded != "" {
		m.origin = &wireOrigin{Type: "hidden_user", Date: m.date.Unix(), Name: s.Forwarded}
	}
	if s.File != nil {
		m.file = keepFile(c.of, *s.File)
	}
	c.mu.Lock()
	if member, _ := c.standing(&p.user); !member.in() {
		member.status = "member"
	}
	if c.wire.Type == channel {
		m.asChat = true
	}
	c.place(m, s.Thread, s.ReplyTo)
	c.add(m)
	c.publish(m, "message")
	c.mu.Unlock()
	c.of.ring()
	return m.id
}

// Edits replaces the words of a message that a person said. It reports whether
// the chat has that message.
func (c *Chat) Edits(message int64, text string) bool {
	c.mu.Lock()
	m := c.messages[message]
	if m != nil {
		m.text, m.entities = text, detect(text, nil)
		m.edited = time.Now()
		m.edits++
		c.publish(m, "edited_message")
	}
	c.mu.Unlock()
	c.of.ring()
	return m != nil
}

// Deletes removes a message. As on the platform, bots are not told; they learn
// it when they answer it.
func (c *Chat) Deletes(message int64) {
	c.mu.Lock()
	delete(c.messages, message)
	c.mu.Unlock()
	c.of.ring()
}

// Reacts sets the person's reactions on a message, replacing the earlier ones;
// none takes them back. Bots learn it in direct chats, and elsewhere when they
// are administrators, if they asked for message_reaction.
func (c *Chat) Reacts(p *HumanUser, message int64, emoji ...string) {
	c.mu.Lock()
	if m := c.messages[message]; m != nil {
		before := m.react(p.ID, emoji)
		now := time.Now()
		told := wireReacted{Chat: c.wire, User: &p.user, Date: now.Unix(), Old: wireEmoji(before), New: wireEmoji(emoji)}
		for _, to := range c.members {
			if to.bot != nil && to.in() && (c.wire.Type == private || to.admin()) {
				told.Message = message + to.numbers
				to.bot.deliver(delivery{kind: "message_reaction", at: now, chat: c.wire.ID, message: told.Message}, fake.EncodeJSON(told))
			}
		}
	}
	c.mu.Unlock()
	c.of.ring()
}

func (m *message) react(who int64, emoji []string) (before []string) {
	before = m.reactions[who]
	if m.reactions == nil {
		m.reactions = make(map[int64][]string)
	}
	if len(emoji) == 0 {
		delete(m.reactions, who)
	} else {
		m.reactions[who] = slices.Clone(emoji)
	}
	return before
}

func wireEmoji(emoji []string) []wireReaction {
	list := make([]wireReaction, len(emoji))
	for i, e := range emoji {
		list[i] = wireReaction{Type: "emoji", Emoji: e}
	}
	return list
}

// keepFile stores the file so that bots can fetch it.
func keepFile(t *Server, f SharedFile) *SharedFile {
	f.id = fmt.Sprintf("file_%d", t.lastFile.Add(1))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files[f.path()] = f
	return &f
}

func (f SharedFile) path() string { return f.Kind + "/" + f.id }

func (f SharedFile) wire() wireFile {
	return wireFile{ID: f.id, UniqueID: "u" + f.id, Size: len(f.Data), Name: f.Name, MIME: f.MIME}
}

// attach puts the file where its kind goes.
func (f SharedFile) attach(m *wireMessage) {
	w := f.wire()
	switch f.Kind {
	case "photo":
		w.Name, w.MIME, w.Width, w.Height = "", "", 1280, 720
		m.Photo = []wireFile{w}
	case "voice":
		w.Name, w.Duration = "", 3
		m.Voice = &w
	case "video":
		w.Width, w.Height, w.Duration = 1280, 720, 3
		m.Video = &w
	case "audio":
		w.Duration = 3
		m.Audio = &w
	case "sticker":
		w.Name, w.MIME, w.Width, w.Height, w.Kind, w.Emoji = "", "", 512, 512, "regular", "👍"
		m.Sticker = &w
	default:
		m.Document = &w
	}
}

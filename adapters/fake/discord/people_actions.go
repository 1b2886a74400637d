package discord

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// message is a message as the platform keeps it.
type message struct {
	wire      wireMessage
	by        *BotUser // nil: a person
	avatar    string   // the address a webhook was given
	reactions []reaction
	deleted   bool
}

// PostOptions is what a line has beside its words.
type PostOptions struct {
	ReplyTo SnowflakeID
	Files   []SharedFile
	// Type is the kind of message. Default: an ordinary one, or a reply.
	Type int
}

// A SharedFile is attached to a message.
type SharedFile struct {
	Name, MIME string
	Data       []byte
}

// SentMessage is a bot's message as it is now.
type SentMessage struct {
	ID        SnowflakeID
	ReplyTo   SnowflakeID
	Content   string
	Name      string      // shown as its author
	Webhook   SnowflakeID // 0: the bot's own
	Avatar    string      // the address of the picture that the webhook was given
	Flags     int
	Deleted   bool
	Edited    bool
	Files     []string
	Reactions []string // of the bot given
	Buttons   []string // the labels of those below it
}

// Sent returns what bots posted to the channel, oldest first, with the reactions
// of b.
func (c *GuildChannel) Sent(b *BotUser) []SentMessage {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	var all []SentMessage
	for _, m := range c.messages {
		if m.by == nil {
			continue
		}
		s := SentMessage{
			ID: m.wire.ID, Content: m.wire.Content, Name: m.wire.Author.name(), Webhook: m.wire.WebhookID, Avatar: m.avatar, Flags: m.wire.Flags,
			Deleted: m.deleted, Edited: m.wire.EditedTimestamp != nil,
		}
		if m.wire.Reference != nil {
			s.ReplyTo = m.wire.Reference.MessageID
		}
		for _, b := range m.buttons() {
			s.Buttons = append(s.Buttons, b.Label)
		}
		for _, f := range m.wire.Attachments {
			s.Files = append(s.Files, f.Filename)
		}
		for _, r := range m.reactions {
			if r.who == b.ID {
				s.Reactions = append(s.Reactions, r.emoji.Name)
			}
		}
		all = append(all, s)
	}
	return all
}

func (u wireUser) name() string {
	if u.GlobalName != nil {
		return *u.GlobalName
	}
	return u.Username
}

// Says has a person write in the channel.
func (c *GuildChannel) Says(p *HumanUser, content string, s PostOptions) SnowflakeID {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	m := &message{wire: wireMessage{Author: p.user, Content: content, Type: s.Type}}
	if s.ReplyTo != 0 {
		m.wire.Reference = &wireReference{MessageID: s.ReplyTo, ChannelID: c.ID, GuildID: c.wire.GuildID}
		m.wire.Type = reply
	}
	for _, f := range s.Files {
		m.wire.Attachments = append(m.wire.Attachments, c.of.keepFile(c, f))
	}
	c.add(m)
	return m.wire.ID
}

// SaysUnheard is Says for a message of which no session is ever told.
func (c *GuildChannel) SaysUnheard(p *HumanUser, content string) SnowflakeID {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	m := &message{wire: wireMessage{Author: p.user, Content: content}}
	keepMessage(c, m)
	return m.wire.ID
}

// add keeps a new message and tells of it. It needs the lock.
func (c *GuildChannel) add(m *message) {
	keepMessage(c, m)
	if threadArchived(c) {
		reopenThread(c)
	}
	c.tell("MESSAGE_CREATE", m)
}

// keepMessage gives a message its id and place. It needs the lock.
func keepMessage(c *GuildChannel, m *message) {
	w := &m.wire
	if w.ID == 0 {
		w.ID = c.of.id()
	}
	w.ChannelID, w.Timestamp = c.ID, time.Now()
	if w.Attachments == nil {
		w.Attachments = []wireAttachment{}
	}
	w.Embeds = []struct{}{}
	if w.Components == nil {
		w.Components = []wireRow{}
	}
	c.mention(w)
	c.wire.LastMessageID = &w.ID
	c.messages = append(c.messages, m)
}

var (
	userSign = regexp.MustCompile(`<@!?(\d+)>`)
	roleSign = regexp.MustCompile(`<@&(\d+)>`)
)

// mention notes whom the words of w name. It needs the lock.
func (c *GuildChannel) mention(w *wireMessage) {
	w.Mentions, w.MentionRoles = []wireMention{}, []SnowflakeID{}
	w.MentionEveryone = strings.Contains(w.Content, "@everyone") || strings.Contains(w.Content, "@here")
	if c.guild != nil {
		for _, found := range roleSign.FindAllStringSubmatch(w.Content, -1) {
			w.MentionRoles = append(w.MentionRoles, parseID(found[1]))
		}
	}
	add := func(id SnowflakeID) {
		u, ok := userLocked(c.of, id)
		if !ok || slices.ContainsFunc(w.Mentions, func(m wireMention) bool { return m.ID == id }) {
			return
		}
		one := wireMention{wireUser: u}
		if c.guild != nil {
			if m := c.guild.members[id]; m != nil {
				partial := *m
				partial.User = nil
				one.Member = &partial
			}
		}
		w.Mentions = append(w.Mentions, one)
	}
	for _, found := range userSign.FindAllStringSubmatch(w.Content, -1) {
		add(parseID(found[1]))
	}
	if w.Reference != nil {
		if target := findMessage(c, w.Reference.MessageID); target != nil && target.by == nil && w.Type == reply {
			add(target.wire.Author.ID)
		}
	}
}

func parseID(s string) SnowflakeID {
	n, _ := strconv.ParseInt(s, 10, 64) // text that is no number is not an id
	return SnowflakeID(n)
}

// userLocked returns a person or bot. It needs the lock.
func userLocked(d *Server, id SnowflakeID) (wireUser, bool) {
	if p := d.people[id]; p != nil {
		return p.user, true
	}
	for _, b := range d.bots {
		if b.ID == id {
			return b.user, true
		}
	}
	return wireUser{}, false
}

// findMessage returns a message that is still there. It needs the lock.
func findMessage(c *GuildChannel, id SnowflakeID) *message {
	for _, m := range c.messages {
		if m.wire.ID == id && !m.deleted {
			return m
		}
	}
	return nil
}

// shownMessage returns m as a person sees it who has these intents, with what it
// answers. It needs the lock.
func shownMessage(c *GuildChannel, m *message, b *BotUser, intents int, event bool) wireMessage {
	w := m.wire
	if m.by != b {
		w.Nonce = ""
	}
	if w.Reference != nil {
		if target := findMessage(c, w.Reference.MessageID); target != nil {
			inner := target.wire
			inner.Reference = nil
			w.Referenced = &inner
		}
	}
	for _, r := range m.reactions {
		i := slices.IndexFunc(w.Reactions, func(have wireReaction) bool { return have.Emoji.same(r.emoji) })
		if i < 0 {
			w.Reactions, i = append(slices.Clone(w.Reactions), wireReaction{Emoji: r.emoji}), len(w.Reactions)
		}
		w.Reactions[i].Count++
		w.Reactions[i].Me = w.Reactions[i].Me || r.who == b.ID
	}
	if event {
		w.GuildID = c.wire.GuildID
		if c.guild != nil {
			if member := c.guild.members[w.Author.ID]; member != nil {
				partial := *member
				partial.User = nil
				w.Member = &partial
			}
		}
	}
	w.Attachments = slices.Clone(w.Attachments)
	for i, a := range w.Attachments {
		w.Attachments[i] = a.sign(c.of.origin)
	}
	named := slices.ContainsFunc(w.Mentions, func(one wireMention) bool { return one.ID == b.ID })
	if intents&intentContent == 0 && m.by != b && c.guild != nil && !named {
		w.Content, w.Attachments = "", []wireAttachment{}
	}
	return w
}

// tell tells every session that may know of it. It needs the lock.
func (c *GuildChannel) tell(event string, m *message) {
	for _, ses := range c.of.sessions {
		if ses.dead || !ses.hears(c, intentMessages, intentDirect) {
			continue
		}
		ses.add(event, encode(shownMessage(c, m, ses.bot, ses.intents, true)))
	}
	c.of.ring()
}

// hears reports whether a session is told of what happens in a channel.
func (ses *session) hears(c *GuildChannel, inGuild, direct int) bool {
	if c.guild == nil {
		return ses.bot == c.bot && ses.intents&direct != 0 && ses.shard[0] == 0
	}
	if n := ses.shard[1]; n > 1 && int(c.guild.ID>>22)%n != ses.shard[0] {
		return false
	}
	return c.guild.bots[ses.bot.ID] != nil && ses.intents&inGuild != 0
}

// tellAll tells every session that may know of it the same. It needs the lock.
func (c *GuildChannel) tellAll(event string, inGuild, direct int, data any) {
	for _, ses := range c.of.sessions {
		if !ses.dead && ses.hears(c, inGuild, direct) {
			ses.add(event, encode(data))
		}
	}
	c.of.ring()
}

// Edits has the author of a message change its words.
func (c *GuildChannel) Edits(id SnowflakeID, content string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if m := findMessage(c, id); m != nil {
		m.wire.Content, m.wire.EditedTimestamp = content, new(time.Now())
		c.mention(&m.wire)
		c.tell("MESSAGE_UPDATE", m)
	}
}

// Deletes has messages deleted, several at once as one event.
func (c *GuildChannel) Deletes(ids ...SnowflakeID) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	deleteMessageLocked(c, ids)
}

func deleteMessageLocked(c *GuildChannel, ids []SnowflakeID) {
	for _, id := range ids {
		if m := findMessage(c, id); m != nil {
			m.deleted = true
		}
	}
	type gone struct {
		ID        SnowflakeID   `json:"id,omitzero"`
		IDs       []SnowflakeID `json:"ids,omitempty"`
		ChannelID SnowflakeID   `json:"channel_id"`
		GuildID   SnowflakeID   `json:"guild_id,omitzero"`
	}
	said := gone{ChannelID: c.ID, GuildID: c.wire.GuildID}
	event := "MESSAGE_DELETE"
	if said.ID = ids[0]; len(ids) > 1 {
		said.ID, said.IDs, event = 0, ids, "MESSAGE_DELETE_BULK"
	}
	c.tellAll(event, intentMessages, intentDirect, said)
}

// Pins pins a message, which the channel tells.
func (c *GuildChannel) Pins(p *HumanUser, id SnowflakeID) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if m := findMessage(c, id); m != nil {
		m.wire.Pinned = true
		c.add(&message{wire: wireMessage{
			Author: p.user, Type: pinning, Reference: &wireReference{MessageID: id, ChannelID: c.ID, GuildID: c.wire.GuildID},
		}})
	}
}

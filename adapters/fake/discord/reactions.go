package discord

import "slices"

// reaction is one person's emoji.
type reaction struct {
	who   SnowflakeID
	emoji wireEmoji
}

func (e wireEmoji) same(other wireEmoji) bool {
	if (e.ID == nil) != (other.ID == nil) {
		return false
	}
	return e.Name == other.Name && (e.ID == nil || *e.ID == *other.ID)
}

// Reacts sets the emoji that a person has on a message: one event for each that
// is taken away, and for each that is new.
func (c *GuildChannel) Reacts(p *HumanUser, id SnowflakeID, emoji ...string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	m := findMessage(c, id)
	if m == nil {
		return
	}
	for _, r := range slices.Clone(m.reactions) {
		if r.who == p.ID && !slices.Contains(emoji, r.emoji.Name) {
			c.unreact(m, r)
		}
	}
	for _, name := range emoji {
		c.react(m, reaction{p.ID, wireEmoji{Name: name}})
	}
}

// react puts an emoji on a message, once. It needs the lock.
func (c *GuildChannel) react(m *message, r reaction) {
	if slices.ContainsFunc(m.reactions, func(have reaction) bool { return have.who == r.who && have.emoji.same(r.emoji) }) {
		return
	}
	m.reactions = append(m.reactions, r)
	c.tellReaction("MESSAGE_REACTION_ADD", m, r)
}

// unreact takes an emoji away. It needs the lock.
func (c *GuildChannel) unreact(m *message, r reaction) {
	i := slices.IndexFunc(m.reactions, func(have reaction) bool { return have.who == r.who && have.emoji.same(r.emoji) })
	if i < 0 {
		return
	}
	m.reactions = slices.Delete(m.reactions, i, i+1)
	c.tellReaction("MESSAGE_REACTION_REMOVE", m, r)
}

// Clears takes everybody's reactions off a message: those with one emoji, or all
// when it is empty.
func (c *GuildChannel) Clears(id SnowflakeID, emoji string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	m := findMessage(c, id)
	if m == nil {
		return
	}
	m.reactions = slices.DeleteFunc(m.reactions, func(r reaction) bool { return emoji == "" || r.emoji.Name == emoji })
	said := struct {
		ChannelID SnowflakeID `json:"channel_id"`
		MessageID SnowflakeID `json:"message_id"`
		GuildID   SnowflakeID `json:"guild_id,omitzero"`
		Emoji     *wireEmoji  `json:"emoji,omitempty"`
	}{ChannelID: c.ID, MessageID: id, GuildID: c.wire.GuildID}
	event := "MESSAGE_REACTION_REMOVE_ALL"
	if emoji != "" {
		said.Emoji, event = &wireEmoji{Name: emoji}, "MESSAGE_REACTION_REMOVE_EMOJI"
	}
	c.tellAll(event, intentReactions, intentDirectReactions, said)
}

func (c *GuildChannel) tellReaction(event string, m *message, r reaction) {
	said := struct {
		UserID    SnowflakeID `json:"user_id"`
		ChannelID SnowflakeID `json:"channel_id"`
		MessageID SnowflakeID `json:"message_id"`
		GuildID   SnowflakeID `json:"guild_id,omitzero"`
		Member    *wireMember `json:"member,omitempty"`
		Emoji     wireEmoji   `json:"emoji"`
		Type      int         `json:"type"`
		Burst     bool        `json:"burst"`
	}{UserID: r.who, ChannelID: c.ID, MessageID: m.wire.ID, GuildID: c.wire.GuildID, Emoji: r.emoji}
	if c.guild != nil && event == "MESSAGE_REACTION_ADD" {
		said.Member = c.guild.members[r.who]
	}
	c.tellAll(event, intentReactions, intentDirectReactions, said)
}

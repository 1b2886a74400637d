package telegram

import "time"

// NewGroup makes a basic group with these people in it, the first as its owner.
// Bots come in through [Chat.Adds].
func (t *Server) NewGroup(title string, people ...*HumanUser) *Chat {
	return t.newRoom(wireChat{ID: -4_000_000_000 - t.lastGroup.Add(1), Type: group, Title: title}, people)
}

// NewSupergroup makes a supergroup with these people in it, the first as its owner.
func (t *Server) NewSupergroup(title string, people ...*HumanUser) *Chat {
	return t.newRoom(wireChat{ID: t.superID(), Type: supergroup, Title: title}, people)
}

// NewForum makes a supergroup whose messages live in topics.
func (t *Server) NewForum(title string, people ...*HumanUser) *Chat {
	return t.newRoom(wireChat{ID: t.superID(), Type: supergroup, Title: title, IsForum: true}, people)
}

// NewChannel makes a broadcast channel, which speaks only as itself.
func (t *Server) NewChannel(title string, people ...*HumanUser) *Chat {
	return t.newRoom(wireChat{ID: t.superID(), Type: channel, Title: title}, people)
}

func (t *Server) superID() int64 { return -1_001_000_000_000 - t.lastGroup.Add(1) }

func (t *Server) newRoom(w wireChat, people []*HumanUser) *Chat {
	c := newChat(t, w)
	for i, p := range people {
		status := "member"
		if i == 0 {
			status = "creator"
		}
		c.members[p.ID] = &member{user: &p.user, status: status}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chats[w.ID] = c
	return c
}

// Adds lets a bot in. The bot is told twice, as on the platform: that its
// standing changed, and by the message everybody sees.
func (c *Chat) Adds(by *HumanUser, b *BotUser) {
	c.mu.Lock()
	m, before := c.standing(&b.user)
	m.bot, m.status, m.numbers = b, "member", c.numbersOf(b)
	if c.wire.Type == channel {
		m.status = "administrator" // bots can be nothing else in a channel
	}
	c.tellMember(&by.user, m, before)
	if c.wire.Type != private && c.wire.Type != channel {
		c.announce(&by.user, service{NewMembers: []*wireUser{&b.user}})
	}
	c.mu.Unlock()
	c.of.ring()
}

// Promotes makes the bot an administrator, so that it sees everything and
// reactions, and may delete other people's messages.
func (c *Chat) Promotes(by *HumanUser, b *BotUser) { c.change(by, b, "administrator") }

// Restricts takes the bot's right to write.
func (c *Chat) Restricts(by *HumanUser, b *BotUser) { c.change(by, b, "restricted") }

// Kicks removes the bot; what it sends is forbidden from then on.
func (c *Chat) Kicks(by *HumanUser, b *BotUser) { c.change(by, b, "kicked") }

// Blocks has the person of a direct chat block the bot.
func (c *Chat) Blocks(by *HumanUser, b *BotUser) { c.change(by, b, "kicked") }

// Unblocks takes that back.
func (c *Chat) Unblocks(by *HumanUser, b *BotUser) { c.change(by, b, "member") }

func (c *Chat) change(by *HumanUser, b *BotUser, status string) {
	c.mu.Lock()
	m, before := c.standing(&b.user)
	m.bot, m.status = b, status
	c.tellMember(&by.user, m, before)
	c.mu.Unlock()
	c.of.ring()
}

// standing returns a person's member entry, made if there was none, and the
// status before. It needs the lock.
func (c *Chat) standing(u *wireUser) (*member, string) {
	m := c.members[u.ID]
	if m == nil {
		m = &member{user: u, status: "left"}
		c.members[u.ID] = m
	}
	return m, m.status
}

// Joins has a person enter the group.
func (c *Chat) Joins(p *HumanUser) {
	c.mu.Lock()
	m, before := c.standing(&p.user)
	m.status = "member"
	c.tellMember(&p.user, m, before)
	c.announce(&p.user, service{NewMembers: []*wireUser{&p.user}})
	c.mu.Unlock()
	c.of.ring()
}

// Leaves has a person go. by is who removed them: themselves when they left.
func (c *Chat) Leaves(p, by *HumanUser) {
	c.mu.Lock()
	m, before := c.standing(&p.user)
	m.status = "left"
	if by != p {
		m.status = "kicked"
	}
	c.tellMember(&by.user, m, before)
	c.announce(&by.user, service{LeftMember: &p.user})
	c.mu.Unlock()
	c.of.ring()
}

// Renames gives the group another title.
func (c *Chat) Renames(by *HumanUser, title string) {
	c.mu.Lock()
	c.wire.Title = title
	c.announce(&by.user, service{NewTitle: title})
	c.mu.Unlock()
	c.of.ring()
}

// Pins pins a message.
func (c *Chat) Pins(by *HumanUser, message int64) {
	c.mu.Lock()
	if m := c.messages[message]; m != nil {
		c.pinned = message
		c.announce(&by.user, service{Pinned: c.wireOf(m, false)})
	}
	c.mu.Unlock()
	c.of.ring()
}

// Migrates turns a basic group into a supergroup and returns that. Calls for
// the old id are refused with the new one from then on.
func (c *Chat) Migrates(by *HumanUser) *Chat {
	c.mu.Lock()
	to := newChat(c.of, wireChat{ID: c.of.superID(), Type: supergroup, Title: c.wire.Title})
	for id, m := range c.members {
		to.members[id] = new(*m)
	}
	c.movedTo = to.wire.ID
	c.announce(&by.user, service{MigrateTo: to.wire.ID})
	from := c.wire.ID
	c.mu.Unlock()

	c.of.mu.Lock()
	c.of.chats[to.wire.ID] = to
	c.of.mu.Unlock()

	to.mu.Lock()
	to.announce(&by.user, service{MigrateFrom: from})
	to.mu.Unlock()
	c.of.ring()
	return to
}

// NewTopic opens a topic of a forum and returns its id.
func (c *Chat) NewTopic(by *HumanUser, name string) int64 {
	c.mu.Lock()
	m := &message{from: &by.user, date: time.Now(), topic: true, service: &service{TopicCreated: &wireTopic{Name: name, Color: 7322096}}}
	c.add(m)
	m.thread = m.id
	c.topics[m.id] = &topic{name: name, root: m.id}
	c.publish(m, "message")
	c.mu.Unlock()
	c.of.ring()
	return m.id
}

// RenamesTopic gives a topic another name.
func (c *Chat) RenamesTopic(by *HumanUser, thread int64, name string) {
	c.inTopic(by, thread, service{TopicEdited: &wireTopic{Name: name}}, func(tp *topic) { tp.name = name })
}

// ClosesTopic lets only administrators write in a topic.
func (c *Chat) ClosesTopic(by *HumanUser, thread int64) {
	c.inTopic(by, thread, service{TopicClosed: &wireTopic{}}, func(tp *topic) { tp.closed = true })
}

// DropsTopic deletes a topic with all that was said in it. Bots are not told.
func (c *Chat) DropsTopic(thread int64) {
	c.mu.Lock()
	delete(c.topics, thread)
	for id, m := range c.messages {
		if m.topic && m.thread == thread {
			delete(c.messages, id)
		}
	}
	c.mu.Unlock()
	c.of.ring()
}

func (c *Chat) inTopic(by *HumanUser, thread int64, s service, change func(*topic)) {
	c.mu.Lock()
	if tp := c.topics[thread]; tp != nil {
		change(tp)
		m := &message{from: &by.user, date: time.Now(), thread: thread, topic: true, service: &s}
		c.add(m)
		c.publish(m, "message")
	}
	c.mu.Unlock()
	c.of.ring()
}

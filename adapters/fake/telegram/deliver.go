package telegram

import (
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// publish queues the message for every bot that may see it. It needs the lock.
func (c *Chat) publish(m *message, kind string) {
	if c.wire.Type == channel {
		kind = strings.Replace(kind, "message", "channel_post", 1)
	}
	for _, to := range c.members {
		if to.bot == nil || !to.in() || !c.sees(to, m) {
			continue
		}
		d := delivery{kind: kind, at: m.date, chat: c.wire.ID, message: m.id + to.numbers}
		if !m.edited.IsZero() {
			d.at, d.editDate = m.edited, m.edited.Unix()
		}
		to.bot.deliver(d, fake.EncodeJSON(c.wireFor(to.bot, m)))
	}
}

// sees applies privacy mode and bot-to-bot mode.
func (c *Chat) sees(to *member, m *message) bool {
	b := to.bot
	switch {
	case m.bot == b:
		return false
	case c.wire.Type == private || c.wire.Type == channel || m.service != nil && m.bot == nil:
		return true
	}
	all := !b.profile.Privacy || to.admin()
	named, commanded := c.addresses(b, m)
	answers := false
	if r := c.messages[m.replyTo]; r != nil {
		answers = r.bot == b
	}
	if m.bot != nil {
		return b.profile.SeesBots && all || (b.profile.SeesBots || m.bot.profile.SeesBots) && (commanded || answers)
	}
	return all || named || commanded || answers || strings.HasPrefix(m.text, "/") && !strings.Contains(firstWord(m.text), "@")
}

// addresses reports whether the message mentions the bot, and whether it is a
// command for it by name.
func (c *Chat) addresses(b *BotUser, m *message) (named, commanded bool) {
	handle := "@" + b.user.Username
	for _, e := range m.entities {
		switch e.Type {
		case "mention":
			named = named || strings.EqualFold(cutUTF16(m.text, e.Offset, e.Length), handle)
		case "text_mention":
			named = named || e.User != nil && e.User.ID == b.user.ID
		case "bot_command":
			word := cutUTF16(m.text, e.Offset, e.Length)
			commanded = commanded || len(word) > len(handle) && strings.EqualFold(word[len(word)-len(handle):], handle)
		}
	}
	return named, commanded
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// announce adds a service message and publishes it. It needs the lock.
func (c *Chat) announce(by *wireUser, s service) {
	m := &message{from: by, date: time.Now(), service: &s}
	c.add(m)
	c.publish(m, "message")
}

// tellMember queues a change of standing: to the bot itself as my_chat_member,
// to the administrators among the other bots as chat_member. It needs the lock.
func (c *Chat) tellMember(by *wireUser, m *member, before string) {
	now := time.Now()
	body := fake.EncodeJSON(wireMemberChange{
		Chat: c.wire, From: by, Date: now.Unix(), Old: standing(m.user, before), New: standing(m.user, m.status),
	})
	if m.bot != nil {
		m.bot.deliver(delivery{kind: "my_chat_member", at: now, chat: c.wire.ID}, body)
	}
	for _, other := range c.members {
		if other.bot != nil && other != m && other.admin() {
			other.bot.deliver(delivery{kind: "chat_member", at: now, chat: c.wire.ID}, body)
		}
	}
}

func standing(u *wireUser, status string) wireMember {
	w := wireMember{Status: status, User: u}
	switch status {
	case "kicked":
		w.Until = new(int64(0))
	case "restricted":
		w.IsMember, w.CanSend, w.Until = new(true), new(false), new(int64(0))
	}
	return w
}

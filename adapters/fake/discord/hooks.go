package discord

import (
	"crypto/md5"
	"fmt"
	"net/http"
	"strings"
)

// webhook speaks in a channel under any name.
type webhook struct {
	id    SnowflakeID
	token string
	name  string
	bot   *BotUser
	in    *GuildChannel
}

type wireHook struct {
	ID            SnowflakeID `json:"id"`
	Type          int         `json:"type"`
	ChannelID     SnowflakeID `json:"channel_id"`
	GuildID       SnowflakeID `json:"guild_id,omitzero"`
	Name          string      `json:"name"`
	Token         string      `json:"token"`
	ApplicationID SnowflakeID `json:"application_id"`
}

func (h *webhook) wire() wireHook {
	return wireHook{h.id, 1, h.in.ID, h.in.wire.GuildID, h.name, h.token, h.bot.ID}
}

func (d restAPI) getWebhooks(_ *call, ch *GuildChannel) answer {
	all := []wireHook{}
	for _, h := range d.hooks {
		if h.in == ch {
			all = append(all, h.wire())
		}
	}
	return ok(all)
}

// forbidden reports whether a name is none for a webhook.
func forbidden(name string) bool {
	lower := strings.ToLower(name)
	return len([]rune(name)) > 80 || strings.Contains(lower, "discord") || strings.Contains(lower, "clyde")
}

func (d restAPI) createWebhook(c *call, ch *GuildChannel) answer {
	var said struct {
		Name string `json:"name"`
	}
	if !c.into(&said) || said.Name == "" || forbidden(said.Name) {
		return badForm("name", "USERNAME_INVALID_CONTAINS", "Username cannot contain \"discord\"")
	}
	if ch.isThread() {
		return refuse(http.StatusBadRequest, 50024, "Cannot execute action on this channel type")
	}
	h := &webhook{id: d.id(), name: said.Name, bot: c.bot, in: ch}
	h.token = fmt.Sprintf("hook-secret-%d", h.id)
	d.hooks[h.id] = h
	return ok(h.wire())
}

// DropWebhooks deletes the channel's webhooks.
func (c *GuildChannel) DropWebhooks() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	for id, h := range c.of.hooks {
		if h.in == c {
			delete(c.of.hooks, id)
		}
	}
}

// onWebhook finds the webhook of a call, and the channel or thread it means. f
// runs under the lock.
func (d restAPI) onWebhook(f func(*call, *webhook, *GuildChannel) answer) func(*call) answer {
	return func(c *call) answer {
		d.mu.Lock()
		defer d.mu.Unlock()
		h := d.hooks[parseID(c.r.PathValue("webhook"))]
		if h == nil {
			return noWebhook
		}
		if h.token != c.r.PathValue("token") {
			return refuse(http.StatusUnauthorized, 50027, "Invalid Webhook Token")
		}
		in := h.in
		if thread := c.r.URL.Query().Get("thread_id"); thread != "" {
			in = d.channels[parseID(thread)]
			if in == nil || in.wire.ParentID == nil || *in.wire.ParentID != h.in.ID {
				return noChannel
			}
		}
		if in.gone {
			return noChannel
		}
		c.entry.Channel, c.entry.Bot = in.ID, h.bot.ID
		return f(c, h, in)
	}
}

// postThrough posts through a webhook, or follows an interaction up: its token stands in
// place of a webhook's, with the application's id.
func (d restAPI) postThrough(c *call) answer {
	d.mu.Lock()
	_, hook := d.hooks[parseID(c.r.PathValue("webhook"))]
	d.mu.Unlock()
	if hook {
		return d.onWebhook(d.executeWebhook)(c)
	}
	return d.followUp(c)
}

func (d restAPI) executeWebhook(c *call, h *webhook, in *GuildChannel) answer {
	var p postedMessage
	if !c.into(&p) {
		return badForm("content", "BASE_TYPE_BAD_TYPE", "Could not interpret the message.")
	}
	if forbidden(p.Username) {
		return badForm("username", "USERNAME_INVALID_CONTAINS", "Username cannot contain \"discord\"")
	}
	if a, refused := p.check(len(c.files)); refused {
		return a
	}
	begins := in.wire.Type == Forum
	if begins {
		if p.Thread == "" {
			return refuse(http.StatusBadRequest, 220001, "Webhooks posted to forum channels must have a thread_name or thread_id")
		}
		if a, refused := untaggedForum(in, p.Tags); refused {
			return a
		}
		in = openThreadOn(in, h.id, 0, p.Thread)
		in.wire.Applied = p.Tags
	}
	name := h.name
	if p.Username != "" {
		name = p.Username
	}
	c.entry.Text = *p.Content
	m := &message{by: h.bot, wire: wireMessage{
		Author: wireUser{ID: h.id, Username: name, Discriminator: "0000", Bot: true}, Content: *p.Content, Flags: p.Flags,
		WebhookID: h.id, ApplicationID: h.bot.ID, Components: p.rows(nil),
	}}
	if p.Avatar != "" {
		m.avatar, m.wire.Author.Avatar = p.Avatar, new(fmt.Sprintf("%x", md5.Sum([]byte(p.Avatar)))) // Discord keeps a copy
	}
	if begins {
		m.wire.ID = in.ID
	}
	d.deliver(c, in, m, &p)
	if c.r.URL.Query().Get("wait") != "true" {
		return done
	}
	return ok(shownMessage(in, m, h.bot, intentContent, false))
}

func (d restAPI) getAs(c *call, h *webhook, in *GuildChannel) answer {
	m := findMessage(in, parseID(c.r.PathValue("message")))
	if m == nil || m.wire.WebhookID != h.id {
		return noMessage
	}
	return ok(shownMessage(in, m, h.bot, intentContent, false))
}

func (d restAPI) editAs(c *call, h *webhook, in *GuildChannel) answer {
	m := findMessage(in, parseID(c.r.PathValue("message")))
	if m == nil || m.wire.WebhookID != h.id {
		return noMessage
	}
	return d.edit(c, in, m)
}

func (d restAPI) deleteAs(c *call, h *webhook, in *GuildChannel) answer {
	m := findMessage(in, parseID(c.r.PathValue("message")))
	if m == nil || m.wire.WebhookID != h.id {
		return noMessage
	}
	if threadArchived(in) {
		return archived
	}
	deleteMessageLocked(in, []SnowflakeID{m.wire.ID})
	return done
}

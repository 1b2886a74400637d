package discord

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// webhook speaks in a channel under any name.
type webhook struct {
	id    ID
	token string
	name  string
	bot   *Bot
	in    *Channel
}

type wireHook struct {
	ID            ID     `json:"id"`
	Type          int    `json:"type"`
	ChannelID     ID     `json:"channel_id"`
	GuildID       ID     `json:"guild_id,omitzero"`
	Name          string `json:"name"`
	Token         string `json:"token"`
	ApplicationID ID     `json:"application_id"`
}

func (h *webhook) wire() wireHook {
	return wireHook{h.id, 1, h.in.ID, h.in.wire.GuildID, h.name, h.token, h.bot.ID}
}

func (d *Discord) getWebhooks(_ *call, ch *Channel) answer {
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

func (d *Discord) createWebhook(c *call, ch *Channel) answer {
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
func (c *Channel) DropWebhooks() {
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
func (d *Discord) onWebhook(f func(*call, *webhook, *Channel) answer) func(*call) answer {
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

func (d *Discord) executeWebhook(c *call, h *webhook, in *Channel) answer {
	var p posted
	if !c.into(&p) {
		return badForm("content", "BASE_TYPE_BAD_TYPE", "Could not interpret the message.")
	}
	if forbidden(p.Username) {
		return badForm("username", "USERNAME_INVALID_CONTAINS", "Username cannot contain \"discord\"")
	}
	if a, refused := p.check(len(c.files)); refused {
		return a
	}
	if in.wire.Type == Forum {
		if p.Thread == "" {
			return refuse(http.StatusBadRequest, 220001, "Webhooks posted to forum channels must have a thread_name or thread_id")
		}
		in = in.openThread(h.id, p.Thread)
	}
	name := h.name
	if p.Username != "" {
		name = p.Username
	}
	c.entry.Text = *p.Content
	m := &message{by: h.bot, wire: wireMessage{
		Author: wireUser{ID: h.id, Username: name, Discriminator: "0000", Bot: true}, Content: *p.Content, Flags: p.Flags,
		WebhookID: h.id, ApplicationID: h.bot.ID,
	}}
	if p.Avatar != "" {
		m.wire.Author.Avatar = &p.Avatar
	}
	d.deliver(c, in, m, &p)
	if c.r.URL.Query().Get("wait") != "true" {
		return done
	}
	return ok(in.shown(m, h.bot, intentContent, false))
}

func (d *Discord) editAs(c *call, h *webhook, in *Channel) answer {
	m := in.find(parseID(c.r.PathValue("message")))
	if m == nil || m.wire.WebhookID != h.id {
		return noMessage
	}
	return d.edit(c, in, m)
}

func (d *Discord) deleteAs(c *call, h *webhook, in *Channel) answer {
	m := in.find(parseID(c.r.PathValue("message")))
	if m == nil || m.wire.WebhookID != h.id {
		return noMessage
	}
	in.deleteLocked([]ID{m.wire.ID})
	return done
}

// interaction is a slash command or a pressed button.
type interaction struct {
	made  time.Time
	reply int // the kind of the first answer; 0: none yet
	said  string
}

// patience is how long Discord waits for the first answer.
const patience = 3 * time.Second

// Invokes has a person use a slash command of the bot's. The returned function
// tells the kind of the bot's first answer, 0 if there was none in time.
func (c *Channel) Invokes(p *Person, b *Bot, command, text string) func() int {
	type option struct {
		Type  int    `json:"type"`
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	data := struct {
		ID      ID       `json:"id"`
		Name    string   `json:"name"`
		Type    int      `json:"type"`
		Options []option `json:"options,omitempty"`
	}{ID: 1, Name: command, Type: 1}
	if text != "" {
		data.Options = []option{{3, "text", text}}
	}
	return c.interact(p, b, 2, data, 0)
}

// Presses has a person press a button under a message.
func (c *Channel) Presses(p *Person, b *Bot, under ID, button string) func() int {
	return c.interact(p, b, 3, struct {
		CustomID  string `json:"custom_id"`
		Component int    `json:"component_type"`
	}{button, 2}, under)
}

func (c *Channel) interact(p *Person, b *Bot, kind int, data any, under ID) func() int {
	d := c.of
	d.mu.Lock()
	defer d.mu.Unlock()
	id := d.id()
	token := fmt.Sprintf("act-secret-%d", id)
	i := &interaction{made: time.Now()}
	d.acts[id.String()+"/"+token] = i
	told := struct {
		ID            ID           `json:"id"`
		ApplicationID ID           `json:"application_id"`
		Type          int          `json:"type"`
		Token         string       `json:"token"`
		Version       int          `json:"version"`
		GuildID       ID           `json:"guild_id,omitzero"`
		ChannelID     ID           `json:"channel_id"`
		Channel       wireChannel  `json:"channel"`
		Member        *wireMember  `json:"member,omitempty"`
		User          *wireUser    `json:"user,omitempty"`
		Message       *wireMessage `json:"message,omitempty"`
		Data          any          `json:"data"`
		Permissions   string       `json:"app_permissions"`
		Locale        string       `json:"locale"`
		Entitlements  []struct{}   `json:"entitlements"`
		Owners        struct{}     `json:"authorizing_integration_owners"`
		Limit         int          `json:"attachment_size_limit"`
	}{Permissions: "0", Locale: "en-US", Entitlements: []struct{}{}, Limit: 10 << 20, ID: id, ApplicationID: b.ID, Type: kind, Token: token, Version: 1, GuildID: c.wire.GuildID, ChannelID: c.ID, Channel: c.wire, Data: data}
	if c.guild != nil {
		told.Member = c.guild.members[p.ID]
	} else {
		told.User = &p.user
	}
	if m := c.find(under); m != nil {
		told.Message = new(c.shown(m, b, intentContent, false))
	}
	d.dispatchTo(b, "INTERACTION_CREATE", 0, told)
	return func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		return i.reply
	}
}

func (d *Discord) answerInteraction(c *call) answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.acts[c.r.PathValue("interaction")+"/"+c.r.PathValue("token")]
	var said struct {
		Type int `json:"type"`
		Data struct {
			Content string `json:"content"`
		} `json:"data"`
	}
	switch {
	case i == nil || time.Since(i.made) > patience:
		return refuse(http.StatusNotFound, 10062, "Unknown interaction")
	case i.reply != 0:
		return refuse(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
	case !c.into(&said) || said.Type == 0:
		return badForm("type", "BASE_TYPE_REQUIRED", "This field is required")
	case said.Type == 4 && said.Data.Content == "":
		return refuse(http.StatusBadRequest, 50006, "Cannot send an empty message")
	}
	i.reply, i.said = said.Type, said.Data.Content
	return done
}

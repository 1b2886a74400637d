package discord

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.ChatLister = (*Client)(nil)

// Chats returns the channels of a server in which we can read what people write.
func (c *Client) Chats(ctx context.Context, group string) ([]adapters.Chat, error) {
	groups := []string{group}
	if group == "" {
		var err error
		if groups, err = c.servers(ctx); err != nil {
			return nil, err
		}
	}
	var all []adapters.Chat
	for _, id := range groups {
		g, me, err := c.standing(ctx, id)
		if err != nil {
			return nil, err
		}
		var channels []channel
		if err := c.readWithRetry(ctx, guildRoute("get channels", id, "/channels"), &channels); err != nil {
			return nil, err
		}
		for _, ch := range channels {
			if holdsMessages(ch.Type) && !isThread(ch.Type) && g.shows(me, ch) {
				ch.GuildID = id
				all = append(all, ch.chat())
			}
		}
	}
	return all, nil
}

// servers returns the ids of the servers that we are on.
func (c *guildDirectory) servers(ctx context.Context) ([]string, error) {
	const most = 200
	var all []string
	for after := ""; ; {
		var page []guild
		path := "/users/@me/guilds?limit=" + strconv.Itoa(most) + after
		if err := c.readWithRetry(ctx, route{op: "get guilds", method: http.MethodGet, path: path}, &page); err != nil {
			return nil, err
		}
		for _, g := range page {
			all = append(all, g.ID)
		}
		if len(page) < most {
			return all, nil
		}
		after = "&after=" + page[len(page)-1].ID
	}
}

// guildDirectory returns what is known of guilds, channels and threads, and asks Discord
// for the rest.
type guildDirectory struct {
	*apiClient

	known directory
}

// channelOf returns a channel, asking Discord when it is not known. One that
// Discord does not show us is returned with its id alone.
func (c *guildDirectory) channelOf(ctx context.Context, id, guild string) (channel, error) {
	if guild != "" && !c.known.knowsGuild(guild) {
		if err := c.askGuild(ctx, guild); err != nil {
			return channel{}, err
		}
	}
	if ch, ok := c.known.channel(id); ok {
		return ch, nil
	}
	var ch channel
	err := c.readWithRetry(ctx, channelRoute("get channel", http.MethodGet, id, ""), leniently(&ch))
	return c.learnt(ch, id, guild, err)
}

// lookUp is channelOf for those who cannot wait: it asks once.
func (c *guildDirectory) lookUp(ctx context.Context, id string) (channel, error) {
	if ch, ok := c.known.channel(id); ok {
		return ch, nil
	}
	var ch channel
	err := c.call(ctx, channelRoute("get channel", http.MethodGet, id, ""), nil, leniently(&ch))
	return c.learnt(ch, id, "", err)
}

// learnt notes what was answered of a channel.
func (c *guildDirectory) learnt(ch channel, id, guild string, err error) (channel, error) {
	if err == nil && ch.ID == "" {
		err = &adapters.Error{Kind: adapters.Invalid, Op: "get channel", Err: errUnread}
	}
	switch {
	case err != nil && adapters.KindOf(err).Permanent() && guild == "":
		ch = channel{Type: discordgo.ChannelTypeDM}
	case err != nil && adapters.KindOf(err).Permanent():
		ch = channel{Type: discordgo.ChannelTypeGuildText}
	case err != nil:
		return channel{}, err
	}
	ch.ID, ch.GuildID = id, cmp.Or(ch.GuildID, guild)
	if err == nil || guild != "" {
		c.known.learnChannel(ch)
	}
	return ch, nil
}

// askGuild learns a server's names, which a resumed session is not told again.
func (c *guildDirectory) askGuild(ctx context.Context, id string) error {
	var g guild
	err := c.readWithRetry(ctx, guildRoute("get guild", id, ""), leniently(&g))
	if err == nil {
		err = c.readWithRetry(ctx, guildRoute("get channels", id, "/channels"), &g.Channels)
	}
	if err == nil {
		var active struct {
			Threads []channel `json:"threads"`
		}
		err = c.readWithRetry(ctx, guildRoute("get threads", id, "/threads/active"), &active)
		g.Threads = active.Threads
	}
	if err == nil {
		if self := c.self.Load(); self != nil {
			var me member
			err = c.readWithRetry(ctx, guildRoute("get member", id, "/members/"+self.ID), leniently(&me))
			me.User = &self.user
			g.Members = []member{me}
		}
	}
	if err != nil && !adapters.KindOf(err).Permanent() {
		return err
	}
	g.ID = id // what we are not shown stays without names
	self := ""
	if a := c.self.Load(); a != nil {
		self = a.ID
	}
	c.known.learnGuild(g, self)
	return nil
}

// place returns where a channel's messages are said, in the contract's form: a
// thread belongs to the chat that it was opened in.
func (c *guildDirectory) place(ctx context.Context, id, guild string) (adapters.Chat, adapters.Thread, error) {
	ch, err := c.channelOf(ctx, id, guild)
	if err != nil {
		return adapters.Chat{}, adapters.Thread{}, err
	}
	if !isThread(ch.Type) || ch.isPrivate() || ch.ParentID == "" {
		return ch.chat(), adapters.Thread{}, nil
	}
	parent, err := c.channelOf(ctx, ch.ParentID, ch.GuildID)
	if err != nil {
		return adapters.Chat{}, adapters.Thread{}, err
	}
	return parent.chat(), adapters.Thread{ID: ch.ID, Title: ch.Name}, nil
}

// chat returns ch in the contract's form.
func (ch channel) chat() adapters.Chat {
	out := adapters.Chat{ID: ch.ID, Kind: adapters.Channel, Title: ch.Name, Group: ch.GuildID}
	switch {
	case ch.Type == discordgo.ChannelTypeDM:
		out.Kind = adapters.Direct
	case ch.Type == discordgo.ChannelTypeGroupDM || ch.GuildID == "":
		out.Kind = adapters.Group
	}
	if ch.GuildID == "" && ch.Name == "" {
		var names []string
		for _, u := range ch.Recipients {
			names = append(names, u.name())
		}
		out.Title = strings.Join(names, ", ")
	}
	return out
}

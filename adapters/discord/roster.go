package discord

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/trestle-bridge/trestle/adapters"
)

var (
	_ adapters.Lister = (*Client)(nil)
	_ adapters.Roster = (*Client)(nil)
)

// permission is a right on a server, as a bit (docs.discord.com, topics/permissions).
type permission uint64

// The rights that matter here.
const (
	administrator   permission = 1 << 3
	addReactions    permission = 1 << 6
	viewChannel     permission = 1 << 10
	sendMessages    permission = 1 << 11
	embedLinks      permission = 1 << 14
	attachFiles     permission = 1 << 15
	readHistory     permission = 1 << 16
	externalEmoji   permission = 1 << 18
	manageWebhooks  permission = 1 << 29
	publicThreads   permission = 1 << 35
	sendInThreads   permission = 1 << 38
	allPermissions  permission = 1<<63 - 1
	roleOverwrite              = 0
	memberOverwrite            = 1
)

// bits reads a permission as Discord writes it.
func bits(s string) permission {
	n, _ := strconv.ParseUint(s, 10, 64) // what is no number gives no right
	return permission(n)
}

// rights returns what a member may do in a channel, by Discord's own algorithm.
func (g guild) rights(who member, ch channel) permission {
	if who.User != nil && who.User.ID == g.OwnerID && g.OwnerID != "" {
		return allPermissions
	}
	var all permission
	for _, r := range g.Roles {
		if r.ID == g.ID || slices.Contains(who.Roles, r.ID) { // everybody's role has the server's id
			all |= bits(r.Permissions)
		}
	}
	if all&administrator != 0 {
		return allPermissions
	}
	var allow, deny permission
	for _, o := range ch.Overwrites {
		if o.Type == roleOverwrite && o.ID == g.ID {
			all = all&^bits(o.Deny) | bits(o.Allow)
		}
	}
	for _, o := range ch.Overwrites {
		if o.Type == roleOverwrite && o.ID != g.ID && slices.Contains(who.Roles, o.ID) {
			allow, deny = allow|bits(o.Allow), deny|bits(o.Deny)
		}
	}
	all = all&^deny | allow
	for _, o := range ch.Overwrites {
		if o.Type == memberOverwrite && who.User != nil && o.ID == who.User.ID {
			all = all&^bits(o.Deny) | bits(o.Allow)
		}
	}
	return all
}

// shows reports whether a member sees a channel.
func (g guild) shows(who member, ch channel) bool { return g.rights(who, ch)&viewChannel != 0 }

// open reports whether every member sees a channel, whatever their roles are.
func (g guild) open(ch channel) bool {
	return g.shows(member{}, ch) && !slices.ContainsFunc(ch.Overwrites, func(o overwrite) bool { return bits(o.Deny)&viewChannel != 0 })
}

// standing returns a server with its roles, and ourselves on it.
func (c *Client) standing(ctx context.Context, id string) (guild, member, error) {
	self, err := c.me(ctx)
	if err != nil {
		return guild{}, member{}, err
	}
	var g guild
	if err := c.patiently(ctx, guildRoute("get guild", id, ""), leniently(&g)); err != nil {
		return guild{}, member{}, err
	}
	var me member
	if err := c.patiently(ctx, guildRoute("get member", id, "/members/"+self.ID), leniently(&me)); err != nil {
		return guild{}, member{}, err
	}
	me.User = &self.user
	g.ID = id
	return g, me, nil
}

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
		if err := c.patiently(ctx, guildRoute("get channels", id, "/channels"), &channels); err != nil {
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
func (c *Client) servers(ctx context.Context) ([]string, error) {
	const most = 200
	var all []string
	for after := ""; ; {
		var page []guild
		path := "/users/@me/guilds?limit=" + strconv.Itoa(most) + after
		if err := c.patiently(ctx, route{op: "get guilds", method: http.MethodGet, path: path}, &page); err != nil {
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

// Members returns everybody who can read a chat. For a channel Discord tells that
// only to bots with the Server Members intent.
func (c *Client) Members(ctx context.Context, chat string) ([]adapters.Person, error) {
	var ch channel
	if err := c.patiently(ctx, channelRoute("get channel", http.MethodGet, chat, ""), leniently(&ch)); err != nil {
		return nil, err
	}
	var all []adapters.Person
	if ch.GuildID == "" {
		self, err := c.me(ctx)
		if err != nil {
			return nil, err
		}
		for _, u := range append([]user{self.user}, ch.Recipients...) {
			all = append(all, u.person(""))
		}
		return all, nil
	}
	g, _, err := c.standing(ctx, ch.GuildID)
	if err != nil {
		return nil, err
	}
	err = c.members(ctx, ch.GuildID, func(m member) {
		if g.shows(m, ch) {
			all = append(all, m.person())
		}
	})
	if adapters.KindOf(err) == adapters.Forbidden {
		err = &adapters.Error{Kind: adapters.Invalid, Op: "get members", Err: err}
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// members calls f with every member of a server.
func (c *Client) members(ctx context.Context, id string, f func(member)) error {
	const most = 1000
	for after := "0"; ; {
		var page []member
		path := "/members?limit=" + strconv.Itoa(most) + "&after=" + after
		if err := c.patiently(ctx, guildRoute("get members", id, path), &page); err != nil {
			return err
		}
		for _, m := range page {
			if m.User != nil {
				f(m)
			}
		}
		if len(page) < most || page[len(page)-1].User == nil {
			return nil
		}
		after = page[len(page)-1].User.ID
	}
}

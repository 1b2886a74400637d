package discord

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/trestle-bridge/trestle/adapters"
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

// showsTo reports whether a person sees a channel, as far as is known of them and of
// the server.
func (g guild) showsTo(id string, ch channel) bool {
	i := slices.IndexFunc(g.Members, func(m member) bool { return m.User != nil && m.User.ID == id })
	return i < 0 || len(g.Roles) == 0 || g.shows(g.Members[i], ch)
}

// open reports whether every member sees a channel, whatever their roles are.
func (g guild) open(ch channel) bool {
	return g.shows(member{}, ch) && !slices.ContainsFunc(ch.Overwrites, func(o overwrite) bool { return bits(o.Deny)&viewChannel != 0 })
}

// standing returns a server with its roles, and ourselves on it.
func (c *guildDirectory) standing(ctx context.Context, id string) (guild, member, error) {
	self, err := c.me(ctx)
	if err != nil {
		return guild{}, member{}, err
	}
	var g guild
	if err := c.readWithRetry(ctx, guildRoute("get guild", id, ""), leniently(&g)); err != nil {
		return guild{}, member{}, err
	}
	var me member
	if err := c.readWithRetry(ctx, guildRoute("get member", id, "/members/"+self.ID), leniently(&me)); err != nil {
		return guild{}, member{}, err
	}
	me.User = &self.user
	g.ID = id
	return g, me, nil
}

// errUnshown is why a channel seems to hold no messages.
var errUnshown = errors.New("the bot has no right Read Message History there")

// unshown returns an error where a channel seems to hold no messages because we may
// not read what was said before: Discord then shows none, and does not refuse
// (docs.discord.com/developers/resources/message#get-channel-messages).
func (c *guildDirectory) unshown(ctx context.Context, id, guild string) error {
	ch, err := c.channelOf(ctx, id, guild)
	if err != nil || ch.GuildID == "" {
		return err
	}
	if isThread(ch.Type) {
		id = cmp.Or(ch.ParentID, id) // a thread has its channel's rights
	}
	if ch, err = c.channelOf(ctx, id, ch.GuildID); err != nil {
		return err
	}
	on, known := c.known.standing(ch.GuildID)
	if !known || len(on.Members) == 0 || on.rights(on.Members[0], ch)&readHistory != 0 {
		return nil
	}
	return &adapters.Error{Kind: adapters.Forbidden, Op: "get messages", Err: errUnshown}
}

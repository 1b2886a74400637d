package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
)

// Discord sends no event when a person loses sight of a channel: it sends changes of
// their roles, of a role's permissions, or of the channel's overwrites. This file
// computes who sees which channel from those. It needs the Server Members intent.

// readRole learns a role as it is now, and tells whom its channels are hidden from.
func (r *receiver) readRole(ctx context.Context, e event) ([]adapters.Update, error) {
	var said struct {
		GuildID string `json:"guild_id"`
		Role    role   `json:"role"`
	}
	if err := json.Unmarshal(e.RawData, &said); err != nil || said.GuildID == "" {
		return r.unreadable(e.Type, e.RawData, reasonOf(err, "it names no server")), nil
	}
	r.learn(e)
	if e.Type == "GUILD_ROLE_UPDATE" && r.told.is(said.Role.rights()) {
		return nil, nil
	}
	updates, err := r.unseenLater(ctx, e, said.GuildID, everyChat)
	if err == nil {
		r.told.note(said.Role.rights())
	}
	return updates, err
}

// A visibilityChange is what events told last of what decides who sees a channel: its rights, a
// role's, and the roles of a member. What Discord answers may be ahead of what its
// events have told, so an answer is none.
type visibilityChange map[string]string

// maxTellings bounds what is remembered; what is forgotten is reckoned once more.
const maxTellings = 10_000

func (t visibilityChange) is(what, now string) bool {
	last, told := t[what]
	return told && last == now
}

func (t visibilityChange) note(what, now string) {
	if len(t) >= maxTellings {
		clear(t)
	}
	t[what] = now
}

func (ch channel) rights() (what, now string) { return "channel " + ch.ID, fmt.Sprint(ch.Overwrites) }
func (r role) rights() (what, now string)     { return "role " + r.ID, r.Permissions }

// readRoles tells which channels are hidden from a member whose roles have changed.
func (r *receiver) readRoles(ctx context.Context, e event) ([]adapters.Update, error) {
	var said struct {
		member
		GuildID string `json:"guild_id"`
	}
	if err := json.Unmarshal(e.RawData, &said); err != nil || said.User == nil || said.GuildID == "" {
		return r.unreadable(e.Type, e.RawData, reasonOf(err, "it names nobody")), nil
	}
	if said.User.ID == r.self.ID {
		return nil, nil
	}
	who, roles := "member "+said.GuildID+" "+said.User.ID, fmt.Sprint(said.Roles)
	if r.told.is(who, roles) {
		return nil, nil // something else has changed
	}
	chats, err := r.chatsOf(ctx, said.GuildID)
	if err != nil {
		return nil, err
	}
	on, known := r.client.known.standing(said.GuildID)
	if !known {
		return nil, nil
	}
	r.told.note(who, roles)
	return r.hidden(e, on, chats, []member{said.member}), nil
}

// chatsOf returns every chat of a server that we are in. A resumed session tells
// neither of the server nor, like every other, of private threads that were put away:
// those are asked for once.
func (r *receiver) chatsOf(ctx context.Context, guild string) ([]channel, error) {
	known := &r.client.known
	if !known.knowsGuild(guild) {
		if err := r.client.askGuild(ctx, guild); err != nil {
			return nil, err
		}
	}
	aside := false
	known.of(guild, func(g *knownGuild) { aside = g.aside })
	on, _ := known.standing(guild)
	for _, ch := range known.chatsOf(guild) {
		if aside || ch.Type != discordgo.ChannelTypeGuildText || !on.showsTo(r.self.ID, ch) { // there are none elsewhere
			continue
		}
		if _, err := r.client.archivedPrivate(ctx, ch); err != nil {
			return nil, err
		}
	}
	known.of(guild, func(g *knownGuild) { g.aside = true })
	return known.chatsOf(guild), nil
}

// everyChat is a wish for all chats of a server.
func everyChat(channel) bool { return true }

// readReckoning tells whom the chats of a server are hidden from.
func (r *receiver) readReckoning(ctx context.Context, e event) ([]adapters.Update, error) {
	var of struct {
		GuildID string `json:"guild_id"`
	}
	if err := json.Unmarshal(e.RawData, &of); err != nil || of.GuildID == "" {
		return r.unreadable(e.Type, e.RawData, reasonOf(err, "it names no server")), nil
	}
	return r.unseen(ctx, e, of.GuildID, everyChat)
}

// unseen tells whom those chats that are wanted are hidden from.
func (r *receiver) unseen(ctx context.Context, e event, id string, wanted func(channel) bool) ([]adapters.Update, error) {
	if intents(r.self)&discordgo.IntentGuildMembers == 0 {
		return nil, nil
	}
	chats, err := r.chatsOf(ctx, id)
	if err != nil {
		return nil, err
	}
	on, known := r.client.known.standing(id)
	chats = slices.DeleteFunc(chats, func(ch channel) bool { return !known || !wanted(ch) || on.open(ch) })
	if len(chats) == 0 {
		return nil, nil
	}
	var all []member
	err = r.client.members(ctx, id, func(m member) { all = append(all, m) })
	switch {
	case err != nil && adapters.KindOf(err).Permanent():
		r.client.log.Warn("who sees the channels is not told", "server", id, "error", err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	return r.hidden(e, on, chats, all), nil
}

// members calls f with every member of a server.
func (c *guildDirectory) members(ctx context.Context, id string, f func(member)) error {
	const most = 1000
	for after := "0"; ; {
		var page []member
		path := "/members?limit=" + strconv.Itoa(most) + "&after=" + after
		if err := c.readWithRetry(ctx, guildRoute("get members", id, path), &page); err != nil {
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

// hidden returns, channel by channel, which of the members it is hidden from.
func (r *receiver) hidden(e event, on guild, chats []channel, all []member) (updates []adapters.Update) {
	for _, ch := range chats {
		var gone []adapters.Person
		for _, m := range all {
			if m.User.ID != r.self.ID && !on.shows(m, ch) {
				gone = append(gone, m.person())
			}
		}
		if len(gone) > 0 {
			updates = append(updates, e.tells("unseen", ch, adapters.PeopleLeft{People: gone, Unseen: true}))
		}
	}
	return updates
}

// readThreadMembers reads who came into a private thread, or is no longer in it.
func (r *receiver) readThreadMembers(ctx context.Context, e event) ([]adapters.Update, error) {
	var said struct {
		ID      string `json:"id"`
		GuildID string `json:"guild_id"`
		Added   elements[struct {
			ID     string  `json:"user_id"`
			Member *member `json:"member"`
		}] `json:"added_members"`
		Removed elements[string] `json:"removed_member_ids"`
	}
	if err := json.Unmarshal(e.RawData, &said); err != nil || said.ID == "" {
		return r.unreadable(e.Type, e.RawData, reasonOf(err, "it names no thread")), nil
	}
	ch, err := r.client.channelOf(ctx, said.ID, said.GuildID)
	if err != nil && adapters.KindOf(err).Permanent() || err == nil && !ch.isPrivate() {
		return nil, nil // it is not shown to us, or to everybody
	}
	if err != nil {
		return nil, err
	}
	if slices.Contains(said.Removed, r.self.ID) {
		return []adapters.Update{e.tells("unlinked", ch, adapters.ChatLost{Reason: "the bot was taken out of the thread"})}, nil
	}
	var joined, left []adapters.Person
	for _, m := range said.Added {
		switch {
		case m.ID == r.self.ID:
		case m.Member != nil && m.Member.User != nil:
			joined = append(joined, m.Member.person())
		default:
			joined = append(joined, r.userByID(ctx, m.ID))
		}
	}
	for _, id := range said.Removed {
		left = append(left, r.userByID(ctx, id))
	}
	var updates []adapters.Update
	if len(joined) > 0 {
		updates = append(updates, e.tells("joined", ch, adapters.PeopleJoined{People: joined}))
	}
	if len(left) > 0 {
		updates = append(updates, e.tells("left", ch, adapters.PeopleLeft{People: left}))
	}
	return updates, nil
}

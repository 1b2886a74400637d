package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
)

// maxTold bounds the chats of a server that are told of who comes, or that we do.
const maxTold = 100

// chatsToTell returns the chats of a server, the oldest first.
func (r *receiver) chatsToTell(guild string) []channel {
	all := r.client.known.chatsOf(guild)
	return all[:min(len(all), maxTold)]
}

// readGuild stores a server that is available now. Messages posted in it while no
// process was connected are read from history; for a server that is new, the channels
// that the bot may see are reported as joined.
func (r *receiver) readGuild(ctx context.Context, e event) ([]adapters.Update, error) {
	var g guild
	if err := adapters.DecodeFields(e.RawData, &g, "id"); err != nil || g.ID == "" {
		return r.unreadable(e.Type, e.RawData, reasonOf(err, "it has no id")), nil
	}
	if g.Unavailable {
		return nil, nil
	}
	known := r.client.known.knowsGuild(g.ID)
	r.client.known.learnGuild(g, r.self.ID)
	if r.pending[g.ID] {
		if err := r.fillGuild(ctx, g); err != nil {
			return nil, err
		}
		delete(r.pending, g.ID)
		updates, err := r.unseenLater(ctx, e, g.ID, everyChat) // rights may have changed meanwhile
		if err != nil {
			return nil, err
		}
		for _, ch := range g.Channels {
			r.told.note(ch.rights())
		}
		for _, one := range g.Roles {
			r.told.note(one.rights())
		}
		return updates, nil
	}
	if known {
		return nil, nil
	}
	var updates []adapters.Update
	for _, ch := range r.chatsToTell(g.ID) {
		if !g.showsTo(r.self.ID, ch) {
			continue
		}
		updates = append(updates, adapters.Update{
			ID: ch.ID, Key: "linked:" + ch.ID + ":" + adapters.HashContent(string(e.RawData)), Chat: ch.chat(), At: time.Now().UTC(), Body: adapters.ChatGained{},
		})
	}
	return updates, nil
}

// readEnd reads that a server, channel or thread is gone, or that we are gone from it.
func (r *receiver) readEnd(e event) []adapters.Update {
	var said struct {
		ID          string                `json:"id"`
		Type        discordgo.ChannelType `json:"type"`
		Unavailable bool                  `json:"unavailable"`
	}
	if err := json.Unmarshal(e.RawData, &said); err != nil || said.ID == "" {
		return r.unreadable(e.Type, e.RawData, reasonOf(err, "it has no id"))
	}
	var gone []channel
	reason := "the channel was deleted"
	switch {
	case said.Unavailable: // Discord has trouble; it will be back
		return nil
	case e.Type == "THREAD_DELETE":
		gone, reason = r.client.known.dropChannel(said.ID), "the thread was deleted"
		gone[0].Type = said.Type
	case e.Type == "CHANNEL_DELETE":
		gone = r.client.known.dropChannel(said.ID)
	default:
		reason = "the bot is no longer on the server"
		delete(r.pending, said.ID)
		gone = r.client.known.dropGuild(said.ID)
	}
	var updates []adapters.Update
	for _, ch := range gone {
		if isThread(ch.Type) && !ch.isPrivate() || !holdsMessages(ch.Type) {
			continue
		}
		updates = append(updates, e.tells("unlinked", ch, adapters.ChatLost{Reason: reason}))
	}
	return updates
}

// readChannel learns a channel or thread as it is now, and tells of its new name.
// A thread that begins tells nothing: its first message does.
func (r *receiver) readChannel(ctx context.Context, e event) ([]adapters.Update, error) {
	var ch channel
	if err := adapters.DecodeFields(e.RawData, &ch, "id", "type", "guild_id", "parent_id"); err != nil || ch.ID == "" {
		return r.unreadable(e.Type, e.RawData, reasonOf(err, "it has no id")), nil
	}
	before := r.client.known.learnChannel(ch)
	if !holdsMessages(ch.Type) {
		return nil, nil
	}
	var updates []adapters.Update
	if before.ID != "" && before.Name != ch.Name {
		var err error
		if updates, err = r.renamed(ctx, e, ch); err != nil {
			return nil, err
		}
	}
	if e.Type != "CHANNEL_UPDATE" || r.told.is(ch.rights()) {
		return updates, nil
	}
	more, err := r.unseenLater(ctx, e, ch.GuildID, func(inside channel) bool { return inside.ID == ch.ID || inside.ParentID == ch.ID })
	if err != nil {
		return nil, err
	}
	r.told.note(ch.rights())
	return append(updates, more...), nil
}

// renamed tells of a channel's or thread's new name; when Discord does not say where a
// thread belongs, that is recorded unread.
func (r *receiver) renamed(ctx context.Context, e event, ch channel) ([]adapters.Update, error) {
	asking, cancel := r.boundedContext(ctx)
	defer cancel()
	chat, thread, err := r.client.place(asking, ch.ID, ch.GuildID)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		r.unanswered(true)
		return r.unreadable(e.Type, e.RawData, err.Error()), nil
	}
	u := e.tells("renamed", ch, adapters.ChatRenamed{Title: ch.Name})
	u.Chat, u.Thread = chat, thread
	return []adapters.Update{u}, nil
}

// readMember reads that a person came to a server, and so into each of its chats
// that they see, or left it, and so all of them.
func (r *receiver) readMember(ctx context.Context, e event) ([]adapters.Update, error) {
	var said struct {
		member
		GuildID string `json:"guild_id"`
	}
	if err := json.Unmarshal(e.RawData, &said); err != nil || said.User == nil || said.GuildID == "" {
		return r.unreadable(e.Type, e.RawData, reasonOf(err, "it names nobody")), nil
	}
	who := said.person()
	var body adapters.UpdateBody = adapters.PeopleJoined{People: []adapters.Person{who}}
	chats := r.chatsToTell(said.GuildID)
	if e.Type == "GUILD_MEMBER_REMOVE" {
		var err error
		if chats, err = r.chatsOf(ctx, said.GuildID); err != nil {
			return nil, err
		}
		body = adapters.PeopleLeft{People: []adapters.Person{who}}
	}
	on, known := r.client.known.standing(said.GuildID)
	var updates []adapters.Update
	for _, ch := range chats {
		if e.Type == "GUILD_MEMBER_ADD" && (ch.isPrivate() || known && !on.shows(said.member, ch)) {
			continue
		}
		u := e.tells("member", ch, body)
		u.From = who
		updates = append(updates, u)
	}
	return updates, nil
}

// learn takes what only changes how things are called.
func (r *receiver) learn(e event) {
	var said struct {
		ID      string            `json:"id"`
		GuildID string            `json:"guild_id"`
		Owner   string            `json:"owner_id"`
		Role    *role             `json:"role"`
		RoleID  string            `json:"role_id"`
		Emojis  []customEmoji     `json:"emojis"`
		Threads []channel         `json:"threads"`
		User    *user             `json:"user"`
		Roles   []json.RawMessage `json:"roles"` // of a member: ids; of a server: roles
	}
	if err := json.Unmarshal(e.RawData, &said); err != nil {
		r.client.log.Warn("event not readable", "kind", e.Type, "reason", err)
		return
	}
	for _, th := range said.Threads {
		th.GuildID = said.GuildID
		r.client.known.learnChannel(th)
	}
	r.client.known.of(cmp.Or(said.GuildID, said.ID), func(g *knownGuild) {
		switch e.Type {
		case "GUILD_UPDATE":
			g.owner = cmp.Or(said.Owner, g.owner)
		case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE":
			if said.Role != nil {
				g.roles[said.Role.ID] = *said.Role
			}
		case "GUILD_ROLE_DELETE":
			delete(g.roles, said.RoleID)
		case "GUILD_EMOJIS_UPDATE":
			clear(g.emojis)
			for _, one := range said.Emojis {
				g.emojis[one.Name] = one
			}
		case "GUILD_MEMBER_UPDATE":
			if said.User == nil || said.User.ID != r.self.ID {
				return
			}
			g.mine = nil
			for _, raw := range said.Roles {
				var id string
				if json.Unmarshal(raw, &id) == nil {
					g.mine = append(g.mine, id)
				}
			}
		}
	})
}

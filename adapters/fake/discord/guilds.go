package discord

import (
	"slices"
	"time"
)

// A Guild is a server.
type Guild struct {
	ID      SnowflakeID
	of      *Server
	name    string
	owner   SnowflakeID
	roles   []wireRole
	emojis  []wireEmoji
	members map[SnowflakeID]*wireMember
	bots    map[SnowflakeID]*BotUser
}

// Rights that a new server gives everybody: to see, write, read back, react, attach,
// and to open threads.
const everybody = 1<<6 | 1<<10 | 1<<11 | 1<<14 | 1<<15 | 1<<16 | 1<<18 | 1<<35 | 1<<38

// ManageWebhooks is the right to speak under other names.
const ManageWebhooks = 1 << 29

// NewGuild makes a server with these people on it, the first as its owner.
func (d *Server) NewGuild(name string, people ...*HumanUser) *Guild {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := &Guild{ID: d.id(), of: d, name: name, members: map[SnowflakeID]*wireMember{}, bots: map[SnowflakeID]*BotUser{}}
	g.roles = []wireRole{{ID: g.ID, Name: "@everyone", Permissions: SnowflakeID(everybody).String()}}
	for i, p := range people {
		if i == 0 {
			g.owner = p.ID
		}
		g.members[p.ID] = &wireMember{User: &p.user, Roles: []SnowflakeID{}, JoinedAt: time.Now()}
	}
	d.guilds[g.ID] = g
	return g
}

// Adds lets a bot in, with a role of its own that has these rights on top.
func (g *Guild) Adds(b *BotUser, rights int64) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	role := wireRole{ID: g.of.id(), Name: b.user.Username, Permissions: SnowflakeID(rights).String(), Managed: true}
	g.roles = append(g.roles, role)
	g.members[b.ID] = &wireMember{User: &b.user, Roles: []SnowflakeID{role.ID}, JoinedAt: time.Now()}
	g.bots[b.ID] = b
	dispatchEvent(g.of, b, "GUILD_CREATE", intentGuilds, g.created(b))
	g.of.ring()
}

// Role returns the id of the bot's own role.
func (g *Guild) Role(b *BotUser) SnowflakeID {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if m := g.members[b.ID]; m != nil && len(m.Roles) > 0 {
		return m.Roles[0]
	}
	return 0
}

// Kicks removes a bot.
func (g *Guild) Kicks(b *BotUser) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	dispatchEvent(g.of, b, "GUILD_DELETE", intentGuilds, struct {
		ID SnowflakeID `json:"id"`
	}{g.ID})
	delete(g.bots, b.ID)
	delete(g.members, b.ID)
	g.of.ring()
}

// Joins has a person come to the server.
func (g *Guild) Joins(p *HumanUser) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	m := &wireMember{User: &p.user, Roles: []SnowflakeID{}, JoinedAt: time.Now()}
	g.members[p.ID] = m
	told := *m
	told.GuildID = g.ID
	g.dispatch("GUILD_MEMBER_ADD", intentMembers, told)
}

// Leaves has a person go.
func (g *Guild) Leaves(p *HumanUser) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	delete(g.members, p.ID)
	g.dispatch("GUILD_MEMBER_REMOVE", intentMembers, struct {
		GuildID SnowflakeID `json:"guild_id"`
		User    wireUser    `json:"user"`
	}{g.ID, p.user})
}

// Renames gives a person a nickname on the server.
func (g *Guild) Renames(p *HumanUser, nick string) {
	g.changes(p, func(m *wireMember) { m.Nick = &nick })
}

// changes changes a member, and tells of it.
func (g *Guild) changes(p *HumanUser, f func(*wireMember)) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if m := g.members[p.ID]; m != nil {
		f(m)
		told := *m
		told.GuildID = g.ID
		g.dispatch("GUILD_MEMBER_UPDATE", intentMembers, told)
	}
}

// AddRole makes a role that gives these rights.
func (g *Guild) AddRole(name string, rights int64) SnowflakeID {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	role := wireRole{ID: g.of.id(), Name: name, Permissions: SnowflakeID(rights).String()}
	g.roles = append(g.roles, role)
	g.dispatchRole("GUILD_ROLE_CREATE", role)
	return role.ID
}

// ChangesRole gives a role other rights; everybody's has the server's id.
func (g *Guild) ChangesRole(id SnowflakeID, rights int64) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	for i := range g.roles {
		if g.roles[i].ID == id {
			g.roles[i].Permissions = SnowflakeID(rights).String()
			g.dispatchRole("GUILD_ROLE_UPDATE", g.roles[i])
		}
	}
}

func (g *Guild) dispatchRole(event string, role wireRole) {
	g.dispatch(event, intentGuilds, struct {
		GuildID SnowflakeID `json:"guild_id"`
		Role    wireRole    `json:"role"`
	}{g.ID, role})
}

// DropsRole deletes a role and takes it from its members.
func (g *Guild) DropsRole(id SnowflakeID) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	g.roles = slices.DeleteFunc(g.roles, func(r wireRole) bool { return r.ID == id })
	for _, m := range g.members {
		m.Roles = slices.DeleteFunc(slices.Clone(m.Roles), func(r SnowflakeID) bool { return r == id })
	}
	g.dispatch("GUILD_ROLE_DELETE", intentGuilds, struct {
		GuildID SnowflakeID `json:"guild_id"`
		Role    SnowflakeID `json:"role_id"`
	}{g.ID, id})
}

// Gives has a person have these roles and no others.
func (g *Guild) Gives(p *HumanUser, roles ...SnowflakeID) {
	g.changes(p, func(m *wireMember) { m.Roles = append([]SnowflakeID{}, roles...) })
}

// AddEmoji gives the server an emoji of its own.
func (g *Guild) AddEmoji(name string) SnowflakeID {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	id := g.of.id()
	g.emojis = append(g.emojis, wireEmoji{ID: &id, Name: name})
	g.dispatch("GUILD_EMOJIS_UPDATE", 1<<3, struct {
		GuildID SnowflakeID `json:"guild_id"`
		Emojis  []wireEmoji `json:"emojis"`
	}{g.ID, g.emojis})
	return id
}

// dispatch tells every bot on the server. It needs the lock.
func (g *Guild) dispatch(event string, intent int, data any) {
	for _, b := range g.bots {
		dispatchEvent(g.of, b, event, intent, data)
	}
	g.of.ring()
}

// wire returns the server without its channels. It needs the lock.
func (g *Guild) wire() wireGuild {
	return wireGuild{
		ID: g.ID, Name: g.name, OwnerID: g.owner, Roles: slices.Clone(g.roles), Emojis: slices.Clone(g.emojis),
		Features: []string{}, MemberCount: len(g.members),
	}
}

// created returns all that a bot is told of a server. It needs the lock.
func (g *Guild) created(b *BotUser) wireGuild {
	w := g.wire()
	for _, ch := range g.of.sorted() {
		switch {
		case ch.guild != g:
		case ch.isThread():
			if !ch.wire.Thread.Archived {
				w.Threads = append(w.Threads, ch.wire)
			}
		default:
			own := ch.wire
			own.GuildID = 0 // the event names it once
			w.Channels = append(w.Channels, own)
		}
	}
	if m := g.members[b.ID]; m != nil {
		w.Members = append(w.Members, *m)
		w.JoinedAt = &m.JoinedAt
	}
	w.Presences, w.VoiceStates = []struct{}{}, []struct{}{}
	return w
}

// sorted returns every channel, the oldest first. It needs the lock.
func (d *Server) sorted() []*GuildChannel {
	var all []*GuildChannel
	for _, ch := range d.channels {
		all = append(all, ch)
	}
	slices.SortFunc(all, func(a, b *GuildChannel) int { return int(a.ID - b.ID) })
	return all
}

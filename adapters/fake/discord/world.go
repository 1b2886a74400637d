package discord

import (
	"slices"
	"strings"
	"time"
)

// A Person is somebody who writes.
type Person struct {
	ID   ID
	user wireUser
}

// Profile is what a new person is called.
type Profile struct {
	Name     string
	Username string // default: the name in lower case
	ID       ID     // default: a new one
	Avatar   string // the hash of their picture; default: none
}

// AddPerson makes a person.
func (d *Discord) AddPerson(p Profile) *Person {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.Username == "" {
		p.Username = strings.ToLower(p.Name)
	}
	if p.ID == 0 {
		p.ID = d.id()
	}
	one := &Person{ID: p.ID}
	one.user = wireUser{ID: one.ID, Username: p.Username, Discriminator: "0", GlobalName: new(p.Name)}
	if p.Avatar != "" {
		one.user.Avatar = &p.Avatar
	}
	d.people[one.ID] = one
	return one
}

// A Bot is an account that a program uses.
type Bot struct {
	ID      ID
	of      *Discord
	token   string
	user    wireUser
	profile BotProfile
	direct  map[ID]*Channel // by person
	nonces  map[string]nonced
	revoked bool
	begun   time.Time // when it last began a session
	beats   []int64   // the numbers that its last heartbeats named
}

// nonced is a message that a nonce made.
type nonced struct {
	message *message
	until   time.Time
}

// BotProfile is a bot's account and what the developer portal allows it.
type BotProfile struct {
	Token string
	Name  string
	// NoContent and NoMembers switch the privileged intents off. Default: on.
	NoContent, NoMembers bool
	// Shards is how many connections are recommended. Default: 1.
	Shards int
	// Begun is how many sessions other programs began with the token today. Default: none.
	Begun int
	// InteractionsURL is where the bot is called with interactions. Default: they
	// come over the gateway.
	InteractionsURL string
}

// AddBot makes a bot.
func (d *Discord) AddBot(p BotProfile) *Bot {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := &Bot{ID: d.id(), of: d, token: p.Token, profile: p, direct: map[ID]*Channel{}, nonces: map[string]nonced{}}
	b.user = wireUser{ID: b.ID, Username: p.Name, Discriminator: "0001", Bot: true}
	d.bots[p.Token] = b
	return b
}

// Revoke makes the bot's token invalid, and ends its connections with 4004.
func (b *Bot) Revoke() {
	b.of.mu.Lock()
	b.revoked = true
	b.of.mu.Unlock()
	b.Close(4004)
}

// Direct returns the direct chat between the bot and a person.
func (b *Bot) Direct(p *Person) *Channel {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	return b.directLocked(p)
}

func (b *Bot) directLocked(p *Person) *Channel {
	ch := b.direct[p.ID]
	if ch == nil {
		ch = b.of.newChannel(wireChannel{Type: DirectChat, Recipients: []wireUser{p.user}})
		ch.bot, ch.person = b, p
		b.direct[p.ID] = ch
	}
	return ch
}

// A Guild is a server.
type Guild struct {
	ID      ID
	of      *Discord
	name    string
	owner   ID
	roles   []wireRole
	emojis  []wireEmoji
	members map[ID]*wireMember
	bots    map[ID]*Bot
}

// Rights that a new server gives everybody: to see, write, read back, react, attach,
// and to open threads.
const everybody = 1<<6 | 1<<10 | 1<<11 | 1<<14 | 1<<15 | 1<<16 | 1<<18 | 1<<35 | 1<<38

// ManageWebhooks is the right to speak under other names.
const ManageWebhooks = 1 << 29

// NewGuild makes a server with these people on it, the first as its owner.
func (d *Discord) NewGuild(name string, people ...*Person) *Guild {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := &Guild{ID: d.id(), of: d, name: name, members: map[ID]*wireMember{}, bots: map[ID]*Bot{}}
	g.roles = []wireRole{{ID: g.ID, Name: "@everyone", Permissions: ID(everybody).String()}}
	for i, p := range people {
		if i == 0 {
			g.owner = p.ID
		}
		g.members[p.ID] = &wireMember{User: &p.user, Roles: []ID{}, JoinedAt: time.Now()}
	}
	d.guilds[g.ID] = g
	return g
}

// Adds lets a bot in, with a role of its own that has these rights on top.
func (g *Guild) Adds(b *Bot, rights int64) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	role := wireRole{ID: g.of.id(), Name: b.user.Username, Permissions: ID(rights).String(), Managed: true}
	g.roles = append(g.roles, role)
	g.members[b.ID] = &wireMember{User: &b.user, Roles: []ID{role.ID}, JoinedAt: time.Now()}
	g.bots[b.ID] = b
	g.of.dispatchTo(b, "GUILD_CREATE", intentGuilds, g.created(b))
	g.of.ring()
}

// Role returns the id of the bot's own role.
func (g *Guild) Role(b *Bot) ID {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if m := g.members[b.ID]; m != nil && len(m.Roles) > 0 {
		return m.Roles[0]
	}
	return 0
}

// Kicks removes a bot.
func (g *Guild) Kicks(b *Bot) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	g.of.dispatchTo(b, "GUILD_DELETE", intentGuilds, struct {
		ID ID `json:"id"`
	}{g.ID})
	delete(g.bots, b.ID)
	delete(g.members, b.ID)
	g.of.ring()
}

// Joins has a person come to the server.
func (g *Guild) Joins(p *Person) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	m := &wireMember{User: &p.user, Roles: []ID{}, JoinedAt: time.Now()}
	g.members[p.ID] = m
	told := *m
	told.GuildID = g.ID
	g.dispatch("GUILD_MEMBER_ADD", intentMembers, told)
}

// Leaves has a person go.
func (g *Guild) Leaves(p *Person) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	delete(g.members, p.ID)
	g.dispatch("GUILD_MEMBER_REMOVE", intentMembers, struct {
		GuildID ID       `json:"guild_id"`
		User    wireUser `json:"user"`
	}{g.ID, p.user})
}

// Renames gives a person a nickname on the server.
func (g *Guild) Renames(p *Person, nick string) {
	g.changes(p, func(m *wireMember) { m.Nick = &nick })
}

// changes changes a member, and tells of it.
func (g *Guild) changes(p *Person, f func(*wireMember)) {
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
func (g *Guild) AddRole(name string, rights int64) ID {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	role := wireRole{ID: g.of.id(), Name: name, Permissions: ID(rights).String()}
	g.roles = append(g.roles, role)
	g.dispatchRole("GUILD_ROLE_CREATE", role)
	return role.ID
}

// ChangesRole gives a role other rights; everybody's has the server's id.
func (g *Guild) ChangesRole(id ID, rights int64) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	for i := range g.roles {
		if g.roles[i].ID == id {
			g.roles[i].Permissions = ID(rights).String()
			g.dispatchRole("GUILD_ROLE_UPDATE", g.roles[i])
		}
	}
}

func (g *Guild) dispatchRole(event string, role wireRole) {
	g.dispatch(event, intentGuilds, struct {
		GuildID ID       `json:"guild_id"`
		Role    wireRole `json:"role"`
	}{g.ID, role})
}

// DropsRole deletes a role, which nobody has any more.
func (g *Guild) DropsRole(id ID) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	g.roles = slices.DeleteFunc(g.roles, func(r wireRole) bool { return r.ID == id })
	for _, m := range g.members {
		m.Roles = slices.DeleteFunc(slices.Clone(m.Roles), func(r ID) bool { return r == id })
	}
	g.dispatch("GUILD_ROLE_DELETE", intentGuilds, struct {
		GuildID ID `json:"guild_id"`
		Role    ID `json:"role_id"`
	}{g.ID, id})
}

// Gives has a person have these roles and no others.
func (g *Guild) Gives(p *Person, roles ...ID) {
	g.changes(p, func(m *wireMember) { m.Roles = append([]ID{}, roles...) })
}

// AddEmoji gives the server an emoji of its own.
func (g *Guild) AddEmoji(name string) ID {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	id := g.of.id()
	g.emojis = append(g.emojis, wireEmoji{ID: &id, Name: name})
	g.dispatch("GUILD_EMOJIS_UPDATE", 1<<3, struct {
		GuildID ID          `json:"guild_id"`
		Emojis  []wireEmoji `json:"emojis"`
	}{g.ID, g.emojis})
	return id
}

// dispatch tells every bot on the server. It needs the lock.
func (g *Guild) dispatch(event string, intent int, data any) {
	for _, b := range g.bots {
		g.of.dispatchTo(b, event, intent, data)
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
func (g *Guild) created(b *Bot) wireGuild {
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
func (d *Discord) sorted() []*Channel {
	var all []*Channel
	for _, ch := range d.channels {
		all = append(all, ch)
	}
	slices.SortFunc(all, func(a, b *Channel) int { return int(a.ID - b.ID) })
	return all
}

// A Channel is a channel, a thread, a forum or a direct chat.
type Channel struct {
	ID       ID
	of       *Discord
	guild    *Guild // nil for a direct chat
	bot      *Bot   // of a direct chat
	person   *Person
	wire     wireChannel
	messages []*message
	typed    []ID
	gone     bool
}

func (d *Discord) newChannel(w wireChannel) *Channel {
	if w.ID == 0 {
		w.ID = d.id()
	}
	ch := &Channel{ID: w.ID, of: d, wire: w}
	d.channels[ch.ID] = ch
	return ch
}

// NewChannel makes a channel of a kind.
func (g *Guild) NewChannel(name string, kind int) *Channel {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	ch := g.of.newChannel(wireChannel{Type: kind, GuildID: g.ID, Name: name})
	ch.guild = g
	g.dispatch("CHANNEL_CREATE", intentGuilds, ch.wire)
	return ch
}

// NewThread opens a thread.
func (c *Channel) NewThread(by *Person, name string) *Channel {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.openThread(by.ID, 0, name)
}

// ThreadOn returns the thread that hangs on a message, which somebody opens if
// there is none.
func (c *Channel) ThreadOn(by *Person, message ID, name string) *Channel {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if th := c.of.channels[message]; th != nil {
		return th
	}
	return c.openThread(by.ID, message, name)
}

// openThread opens a thread, on a message unless on is 0. It needs the lock.
func (c *Channel) openThread(by, on ID, name string) *Channel {
	return c.open(PublicThread, by, on, name)
}

func (c *Channel) open(kind int, by, on ID, name string) *Channel {
	w := wireChannel{
		ID: on, Type: kind, GuildID: c.wire.GuildID, Name: name, ParentID: &c.ID, OwnerID: by,
		Thread: &wireArchive{Minutes: 1440, At: time.Now()},
	}
	th := c.of.newChannel(w)
	th.guild = c.guild
	told := th.wire
	told.Newly = true
	c.guild.dispatch("THREAD_CREATE", intentGuilds, told)
	return th
}

// Threads returns the threads of a channel, by name.
func (c *Channel) Threads() map[string]*Channel {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	all := map[string]*Channel{}
	for _, th := range c.of.channels {
		if th.isThread() && *th.wire.ParentID == c.ID {
			all[th.wire.Name] = th
		}
	}
	return all
}

// Archive puts a thread away. A message brings it back.
func (c *Channel) Archive() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.isThread() {
		c.wire.Thread = &wireArchive{Archived: true, Minutes: 1440, At: time.Now()}
		c.guild.dispatch("THREAD_UPDATE", intentGuilds, c.wire)
	}
}

// Renames gives the channel another name.
func (c *Channel) Renames(name string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.wire.Name = name
	event := "CHANNEL_UPDATE"
	if c.isThread() {
		event = "THREAD_UPDATE"
	}
	c.guild.dispatch(event, intentGuilds, c.wire)
}

// Drops deletes the channel with all that was said in it.
func (c *Channel) Drops() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	delete(c.of.channels, c.ID)
	c.gone = true
	event := "CHANNEL_DELETE"
	if c.isThread() {
		event = "THREAD_DELETE"
	}
	c.guild.dispatch(event, intentGuilds, c.wire)
}

// Denies takes rights from everybody in the channel.
func (c *Channel) Denies(rights int64) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.wire.Overwrites = []wireOverwrite{{ID: c.guild.ID, Allow: "0", Deny: ID(rights).String()}}
	c.guild.dispatch("CHANNEL_UPDATE", intentGuilds, c.wire)
}

// ViewChannel is the right to see a channel.
const ViewChannel = 1 << 10

// ShowsTo hides the channel from all but those roles.
func (c *Channel) ShowsTo(roles ...ID) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	view := ID(ViewChannel).String()
	c.wire.Overwrites = []wireOverwrite{{ID: c.guild.ID, Allow: "0", Deny: view}}
	for _, r := range roles {
		c.wire.Overwrites = append(c.wire.Overwrites, wireOverwrite{ID: r, Allow: view, Deny: "0"})
	}
	c.guild.dispatch("CHANNEL_UPDATE", intentGuilds, c.wire)
}

// HidesFrom hides the channel from one person.
func (c *Channel) HidesFrom(p *Person) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.wire.Overwrites = append(slices.Clone(c.wire.Overwrites), wireOverwrite{ID: p.ID, Type: 1, Allow: "0", Deny: ID(ViewChannel).String()})
	c.guild.dispatch("CHANNEL_UPDATE", intentGuilds, c.wire)
}

func (c *Channel) isThread() bool { return c.wire.Type == PublicThread || c.wire.Type == PrivateThread }

// Typists returns the bots that were seen typing, in order.
func (c *Channel) Typists() []ID {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return slices.Clone(c.typed)
}

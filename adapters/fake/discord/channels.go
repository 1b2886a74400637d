package discord

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// A GuildChannel is a channel, a thread, a forum or a direct chat.
type GuildChannel struct {
	ID       SnowflakeID
	of       *Server
	guild    *Guild   // nil for a direct chat
	bot      *BotUser // of a direct chat
	person   *HumanUser
	wire     wireChannel
	messages []*message
	typed    []SnowflakeID
	presses  []*interaction // oldest first
	commands []*interaction // oldest first
	gone     bool
}

func (d *Server) newChannel(w wireChannel) *GuildChannel {
	if w.ID == 0 {
		w.ID = d.id()
	}
	ch := &GuildChannel{ID: w.ID, of: d, wire: w}
	d.channels[ch.ID] = ch
	return ch
}

// NewChannel makes a channel of a kind.
func (g *Guild) NewChannel(name string, kind int) *GuildChannel {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	ch := g.of.newChannel(wireChannel{Type: kind, GuildID: g.ID, Name: name})
	ch.guild = g
	g.dispatch("CHANNEL_CREATE", intentGuilds, ch.wire)
	return ch
}

// tagNeeded is the flag of a forum whose threads need a tag.
const tagNeeded = 1 << 4

// NeedsTag has the threads of a forum need one of some tags. A name that begins with
// "!" is of a tag that only moderators give.
func (c *GuildChannel) NeedsTag(names ...string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.wire.Flags |= tagNeeded
	for _, name := range names {
		name, moderated := strings.CutPrefix(name, "!")
		c.wire.Tags = append(c.wire.Tags, wireTag{c.of.id(), name, moderated})
	}
	c.guild.dispatch("CHANNEL_UPDATE", intentGuilds, c.wire)
}

// Tagged returns the names of a thread's tags.
func (c *GuildChannel) Tagged(forum *GuildChannel) (names []string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	for _, t := range forum.wire.Tags {
		if slices.Contains(c.wire.Applied, t.ID) {
			names = append(names, t.Name)
		}
	}
	return names
}

// untaggedForum refuses a thread of a forum that lacks the tag that the forum needs.
func untaggedForum(c *GuildChannel, tags []SnowflakeID) (answer, bool) {
	if c.wire.Flags&tagNeeded == 0 || len(tags) > 0 {
		return answer{}, false
	}
	return refuse(http.StatusBadRequest, 40067, "A tag is required to create a forum post in this channel"), true
}

// NewThread opens a thread.
func (c *GuildChannel) NewThread(by *HumanUser, name string) *GuildChannel {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return openThreadOn(c, by.ID, 0, name)
}

// ThreadOn returns the thread that hangs on a message, which a person opens if
// there is none.
func (c *GuildChannel) ThreadOn(by *HumanUser, message SnowflakeID, name string) *GuildChannel {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if th := c.of.channels[message]; th != nil {
		return th
	}
	return openThreadOn(c, by.ID, message, name)
}

// openThreadOn opens a thread, on a message unless on is 0. It needs the lock.
func openThreadOn(c *GuildChannel, by, on SnowflakeID, name string) *GuildChannel {
	return c.open(PublicThread, by, on, name)
}

func (c *GuildChannel) open(kind int, by, on SnowflakeID, name string) *GuildChannel {
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

// NewPrivateThread opens a thread that only those see who are in it, the bots among them.
func (c *GuildChannel) NewPrivateThread(by *HumanUser, name string) *GuildChannel {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.open(PrivateThread, by.ID, 0, name)
}

// TakesIn has a person join a thread.
func (c *GuildChannel) TakesIn(p *HumanUser) { tellThreadMembers(c, []*HumanUser{p}, nil) }

// PutsOut has a person leave a thread.
func (c *GuildChannel) PutsOut(p *HumanUser) { tellThreadMembers(c, nil, []*HumanUser{p}) }

func tellThreadMembers(c *GuildChannel, in, out []*HumanUser) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	type comer struct {
		ID     SnowflakeID `json:"user_id"`
		Thread SnowflakeID `json:"id"`
		Member *wireMember `json:"member"`
	}
	told := struct {
		ID      SnowflakeID   `json:"id"`
		GuildID SnowflakeID   `json:"guild_id"`
		Count   int           `json:"member_count"`
		Added   []comer       `json:"added_members,omitempty"`
		Removed []SnowflakeID `json:"removed_member_ids,omitempty"`
	}{ID: c.ID, GuildID: c.guild.ID, Count: 2}
	for _, p := range in {
		told.Added = append(told.Added, comer{p.ID, c.ID, c.guild.members[p.ID]})
	}
	for _, p := range out {
		told.Removed = append(told.Removed, p.ID)
	}
	c.guild.dispatch("THREAD_MEMBERS_UPDATE", intentMembers, told)
}

// Threads returns the threads of a channel, by name.
func (c *GuildChannel) Threads() map[string]*GuildChannel {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	all := map[string]*GuildChannel{}
	for _, th := range c.of.channels {
		if th.isThread() && *th.wire.ParentID == c.ID {
			all[th.wire.Name] = th
		}
	}
	return all
}

// Archive puts a thread away. A message brings it back.
func (c *GuildChannel) Archive() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.isThread() {
		c.wire.Thread = &wireArchive{Archived: true, Minutes: 1440, At: time.Now()}
		c.guild.dispatch("THREAD_UPDATE", intentGuilds, c.wire)
	}
}

// Locks puts a thread away so that only moderators bring it back.
func (c *GuildChannel) Locks() {
	c.Archive()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.wire.Thread.Locked = true
}

// threadArchived reports whether the channel is an archived thread: but for new messages,
// which bring it back, nothing in it can be changed. It needs the lock.
func threadArchived(c *GuildChannel) bool { return c.isThread() && c.wire.Thread.Archived }

// editChannel brings an archived thread back; nothing else of a channel is changed here.
func (d restAPI) editChannel(c *call, ch *GuildChannel) answer {
	var said struct {
		Archived *bool `json:"archived"`
	}
	switch {
	case !c.into(&said) || said.Archived == nil || *said.Archived || !ch.isThread():
		return badForm("archived", "BASE_TYPE_BAD_TYPE", "Only this is played here.")
	case ch.wire.Thread.Locked:
		return noRight
	}
	reopenThread(ch)
	return ok(ch.wire)
}

// reopenThread ends that a thread is archived. It needs the lock.
func reopenThread(c *GuildChannel) {
	c.wire.Thread = &wireArchive{Minutes: 1440, At: time.Now()}
	c.guild.dispatch("THREAD_UPDATE", intentGuilds, c.wire)
}

// Renames gives the channel another name.
func (c *GuildChannel) Renames(name string) {
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
func (c *GuildChannel) Drops() {
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
func (c *GuildChannel) Denies(rights int64) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.wire.Overwrites = []wireOverwrite{{ID: c.guild.ID, Allow: "0", Deny: SnowflakeID(rights).String()}}
	c.guild.dispatch("CHANNEL_UPDATE", intentGuilds, c.wire)
}

// ViewChannel is the right to see a channel.
const ViewChannel = 1 << 10

// ShowsTo hides the channel from all but those roles.
func (c *GuildChannel) ShowsTo(roles ...SnowflakeID) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	view := SnowflakeID(ViewChannel).String()
	c.wire.Overwrites = []wireOverwrite{{ID: c.guild.ID, Allow: "0", Deny: view}}
	for _, r := range roles {
		c.wire.Overwrites = append(c.wire.Overwrites, wireOverwrite{ID: r, Allow: view, Deny: "0"})
	}
	c.guild.dispatch("CHANNEL_UPDATE", intentGuilds, c.wire)
}

// HidesFrom hides the channel from one person.
func (c *GuildChannel) HidesFrom(p *HumanUser) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.wire.Overwrites = append(slices.Clone(c.wire.Overwrites), wireOverwrite{ID: p.ID, Type: 1, Allow: "0", Deny: SnowflakeID(ViewChannel).String()})
	c.guild.dispatch("CHANNEL_UPDATE", intentGuilds, c.wire)
}

// ShowsAgain takes back what hid the channel from one person.
func (c *GuildChannel) ShowsAgain(p *HumanUser) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.wire.Overwrites = slices.DeleteFunc(slices.Clone(c.wire.Overwrites), func(o wireOverwrite) bool { return o.ID == p.ID })
	c.guild.dispatch("CHANNEL_UPDATE", intentGuilds, c.wire)
}

func (c *GuildChannel) isThread() bool {
	return c.wire.Type == PublicThread || c.wire.Type == PrivateThread
}

// Typists returns the bots that were seen typing, in order.
func (c *GuildChannel) Typists() []SnowflakeID {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return slices.Clone(c.typed)
}

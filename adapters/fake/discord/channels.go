package discord

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

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

// tagNeeded is the flag of a forum whose threads need a tag.
const tagNeeded = 1 << 4

// NeedsTag has the threads of a forum need one of some tags. A name that begins with
// "!" is of a tag that only moderators give.
func (c *Channel) NeedsTag(names ...string) {
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
func (c *Channel) Tagged(forum *Channel) (names []string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	for _, t := range forum.wire.Tags {
		if slices.Contains(c.wire.Applied, t.ID) {
			names = append(names, t.Name)
		}
	}
	return names
}

// untagged refuses a thread of a forum that lacks the tag that the forum needs.
func (c *Channel) untagged(tags []ID) (answer, bool) {
	if c.wire.Flags&tagNeeded == 0 || len(tags) > 0 {
		return answer{}, false
	}
	return refuse(http.StatusBadRequest, 40067, "A tag is required to create a forum post in this channel"), true
}

// NewThread opens a thread.
func (c *Channel) NewThread(by *Person, name string) *Channel {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.openThread(by.ID, 0, name)
}

// ThreadOn returns the thread that hangs on a message, which a person opens if
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

// NewPrivateThread opens a thread that only those see who are in it, the bots among them.
func (c *Channel) NewPrivateThread(by *Person, name string) *Channel {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.open(PrivateThread, by.ID, 0, name)
}

// TakesIn has a person join a thread.
func (c *Channel) TakesIn(p *Person) { c.tellMembers([]*Person{p}, nil) }

// PutsOut has a person leave a thread.
func (c *Channel) PutsOut(p *Person) { c.tellMembers(nil, []*Person{p}) }

func (c *Channel) tellMembers(in, out []*Person) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	type comer struct {
		ID     ID          `json:"user_id"`
		Thread ID          `json:"id"`
		Member *wireMember `json:"member"`
	}
	told := struct {
		ID      ID      `json:"id"`
		GuildID ID      `json:"guild_id"`
		Count   int     `json:"member_count"`
		Added   []comer `json:"added_members,omitempty"`
		Removed []ID    `json:"removed_member_ids,omitempty"`
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

// Locks puts a thread away so that only moderators bring it back.
func (c *Channel) Locks() {
	c.Archive()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.wire.Thread.Locked = true
}

// putAway reports whether the channel is an archived thread: but for new messages,
// which bring it back, nothing in it can be changed. It needs the lock.
func (c *Channel) putAway() bool { return c.isThread() && c.wire.Thread.Archived }

// editChannel brings an archived thread back; nothing else of a channel is changed here.
func (d *Discord) editChannel(c *call, ch *Channel) answer {
	var said struct {
		Archived *bool `json:"archived"`
	}
	switch {
	case !c.into(&said) || said.Archived == nil || *said.Archived || !ch.isThread():
		return badForm("archived", "BASE_TYPE_BAD_TYPE", "Only this is played here.")
	case ch.wire.Thread.Locked:
		return noRight
	}
	ch.bringBack()
	return ok(ch.wire)
}

// bringBack ends that a thread is archived. It needs the lock.
func (c *Channel) bringBack() {
	c.wire.Thread = &wireArchive{Minutes: 1440, At: time.Now()}
	c.guild.dispatch("THREAD_UPDATE", intentGuilds, c.wire)
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

// ShowsAgain takes back what hid the channel from one person.
func (c *Channel) ShowsAgain(p *Person) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.wire.Overwrites = slices.DeleteFunc(slices.Clone(c.wire.Overwrites), func(o wireOverwrite) bool { return o.ID == p.ID })
	c.guild.dispatch("CHANNEL_UPDATE", intentGuilds, c.wire)
}

func (c *Channel) isThread() bool { return c.wire.Type == PublicThread || c.wire.Type == PrivateThread }

// Typists returns the bots that were seen typing, in order.
func (c *Channel) Typists() []ID {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return slices.Clone(c.typed)
}

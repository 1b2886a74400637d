package discord

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/trestle-bridge/trestle/adapters"
)

// directory is what we know of servers and channels. It is filled by what the
// gateway tells and, after a resumed session, by asking. The zero value knows
// nothing.
type directory struct {
	mu       sync.Mutex // guards what follows
	guilds   map[string]*knownGuild
	channels map[string]channel             // threads and direct chats, too
	kinds    map[string]adapters.PersonKind // of those whom anything told of
}

// knownGuild is a server without its channels.
type knownGuild struct {
	owner  string
	roles  map[string]role
	emojis map[string]customEmoji // by name
	self   string                 // we
	mine   []string               // the roles that we have; nil: not known yet
	aside  bool                   // the private threads that were put away are known, too
}

// maxChannels is from when on public threads and direct chats are forgotten.
const maxChannels = 100_000

// maxKinds is from when on it is forgotten who is a person.
const maxKinds = 100_000

// learnGuild takes all that is told of a server.
func (d *directory) learnGuild(g guild, self string) {
	known := &knownGuild{owner: g.OwnerID, self: self, roles: map[string]role{}, emojis: map[string]customEmoji{}}
	for _, r := range g.Roles {
		known.roles[r.ID] = r
	}
	for _, e := range g.Emojis {
		known.emojis[e.Name] = e
	}
	for _, m := range g.Members {
		if m.User != nil && m.User.ID == self {
			known.mine = m.Roles
		}
	}
	d.mu.Lock()
	if d.guilds == nil {
		d.guilds = map[string]*knownGuild{}
	}
	if before := d.guilds[g.ID]; before != nil && known.mine == nil {
		known.mine = before.mine
	}
	d.guilds[g.ID] = known
	d.mu.Unlock()
	for _, list := range [][]channel{g.Channels, g.Threads} {
		for _, ch := range list {
			ch.GuildID = g.ID
			d.learnChannel(ch)
		}
	}
}

// learnChannel notes a channel, thread or direct chat as it is now, and returns
// how it was known; zero when it was not.
func (d *directory) learnChannel(ch channel) channel {
	if ch.ID == "" {
		return channel{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.channels == nil {
		d.channels = map[string]channel{}
	}
	if len(d.channels) >= maxChannels { // which chats a server has must be known; of others Discord can be asked
		maps.DeleteFunc(d.channels, func(_ string, ch channel) bool { return ch.GuildID == "" || isThread(ch.Type) && !ch.isPrivate() })
	}
	before := d.channels[ch.ID]
	d.channels[ch.ID] = ch
	return before
}

// dropChannel forgets a channel and its threads, and returns what they were; of one
// that is not known only the id.
func (d *directory) dropChannel(id string) []channel {
	d.mu.Lock()
	defer d.mu.Unlock()
	first := d.channels[id]
	first.ID = id
	gone := []channel{first}
	for other, ch := range d.channels {
		if isThread(ch.Type) && ch.ParentID == id {
			gone = append(gone, ch)
			delete(d.channels, other)
		}
	}
	delete(d.channels, id)
	return gone
}

// dropGuild forgets a server and returns its channels.
func (d *directory) dropGuild(id string) []channel {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.guilds, id)
	var gone []channel
	for other, ch := range d.channels {
		if ch.GuildID == id {
			gone = append(gone, ch)
			delete(d.channels, other)
		}
	}
	return gone
}

// guildIDs returns the known servers, in order.
func (d *directory) guildIDs() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.guilds))
}

// of calls f with what is known of a server, if anything is.
func (d *directory) of(guild string, f func(*knownGuild)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.guilds[guild]; g != nil {
		f(g)
	}
}

// channel returns what is known of a channel.
func (d *directory) channel(id string) (channel, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ch, ok := d.channels[id]
	return ch, ok
}

// chatsOf returns the known chats of a server, the oldest first: the channels in which
// people write, and the private threads, each with who may see the channel it is in.
func (d *directory) chatsOf(guild string) []channel {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []channel
	for _, ch := range d.channels {
		if ch.GuildID != guild || isThread(ch.Type) && !ch.isPrivate() || !holdsMessages(ch.Type) {
			continue
		}
		if ch.isPrivate() {
			ch.Overwrites = d.channels[ch.ParentID].Overwrites
		}
		all = append(all, ch)
	}
	slices.SortFunc(all, func(a, b channel) int { return cmp.Compare(flake(a.ID), flake(b.ID)) })
	return all
}

// standing returns a server's owner and roles, by which rights are reckoned, with us as
// its only member if our roles are known; false when the roles are not.
func (d *directory) standing(id string) (on guild, known bool) {
	d.of(id, func(g *knownGuild) {
		on, known = guild{ID: id, OwnerID: g.owner, Roles: slices.Collect(maps.Values(g.roles))}, len(g.roles) > 0
		if g.mine != nil {
			on.Members = []member{{User: &user{ID: g.self}, Roles: g.mine}}
		}
	})
	return on, known
}

// role returns the name of a server's role; empty when it is not known.
func (d *directory) role(guild, id string) (name string) {
	d.of(guild, func(g *knownGuild) { name = g.roles[id].Name })
	return name
}

// mine reports whether one of the roles is ours on that server.
func (d *directory) mine(guild string, roles []string) (ours bool) {
	d.of(guild, func(g *knownGuild) {
		ours = slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(g.mine, r) })
	})
	return ours
}

// customEmoji returns a server's own emoji of that name.
func (d *directory) customEmoji(guild, name string) (e customEmoji, ok bool) {
	d.of(guild, func(g *knownGuild) { e, ok = g.emojis[name] })
	return e, ok
}

// meet notes whether a person is a person.
func (d *directory) meet(p adapters.Person) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kinds == nil || len(d.kinds) >= maxKinds {
		d.kinds = map[string]adapters.PersonKind{}
	}
	d.kinds[p.ID] = p.Kind
}

// met returns what a person is, if anything has told of them.
func (d *directory) met(id string) (adapters.PersonKind, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kind, ok := d.kinds[id]
	return kind, ok
}

func (d *directory) knowsGuild(id string) (known bool) {
	d.of(id, func(*knownGuild) { known = true })
	return known
}

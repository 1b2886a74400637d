package discord

import (
	"strings"
	"time"
)

// A HumanUser is a person who writes.
type HumanUser struct {
	ID   SnowflakeID
	user wireUser
}

// UserProfile is what a new person is called.
type UserProfile struct {
	Name     string
	Username string      // default: the name in lower case
	ID       SnowflakeID // default: a new one
	Avatar   string      // the hash of their picture; default: none
}

// AddPerson makes a person.
func (d *Server) AddPerson(p UserProfile) *HumanUser {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.Username == "" {
		p.Username = strings.ToLower(p.Name)
	}
	if p.ID == 0 {
		p.ID = d.id()
	}
	one := &HumanUser{ID: p.ID}
	one.user = wireUser{ID: one.ID, Username: p.Username, Discriminator: "0", GlobalName: new(p.Name)}
	if p.Avatar != "" {
		one.user.Avatar = &p.Avatar
	}
	d.people[one.ID] = one
	return one
}

// A BotUser is an account that a program uses.
type BotUser struct {
	ID      SnowflakeID
	of      *Server
	token   string
	user    wireUser
	profile BotProfile
	direct  map[SnowflakeID]*GuildChannel // by person
	nonces  map[string]noncePost
	revoked bool
	begun   time.Time // when it last began a session
	beats   []int64   // the numbers that its last heartbeats named
}

// noncePost is a message that a nonce made.
type noncePost struct {
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
func (d *Server) AddBot(p BotProfile) *BotUser {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := &BotUser{ID: d.id(), of: d, token: p.Token, profile: p, direct: map[SnowflakeID]*GuildChannel{}, nonces: map[string]noncePost{}}
	b.user = wireUser{ID: b.ID, Username: p.Name, Discriminator: "0001", Bot: true}
	d.bots[p.Token] = b
	return b
}

// Revoke makes the bot's token invalid, and ends its connections with 4004.
func (b *BotUser) Revoke() {
	b.of.mu.Lock()
	b.revoked = true
	b.of.mu.Unlock()
	b.Close(4004)
}

// Direct returns the direct chat between the bot and a person.
func (b *BotUser) Direct(p *HumanUser) *GuildChannel {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	return b.directLocked(p)
}

func (b *BotUser) directLocked(p *HumanUser) *GuildChannel {
	ch := b.direct[p.ID]
	if ch == nil {
		ch = b.of.newChannel(wireChannel{Type: DirectChat, Recipients: []wireUser{p.user}})
		ch.bot, ch.person = b, p
		b.direct[p.ID] = ch
	}
	return ch
}

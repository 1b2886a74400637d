package discord

import (
	"strings"
	"time"
)

// A Person is a person who writes.
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
func (d *Discord) AddBot(p BotProfile) *Bot {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := &Bot{ID: d.id(), of: d, token: p.Token, profile: p, direct: map[ID]*Channel{}, nonces: map[string]noncePost{}}
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

package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An UserProfile describes a new person.
type UserProfile struct {
	ID       int64  `json:"id,omitzero"` // Default: the next free one
	Name     string `json:"name"`
	LastName string `json:"last_name,omitzero"`
	Username string `json:"username,omitzero"` // without @
	Language string `json:"language,omitzero"`
}

// A HumanUser is a human being on the platform.
type HumanUser struct {
	ID   int64
	user wireUser
}

// Name returns the person's first name.
func (p *HumanUser) Name() string { return p.user.FirstName }

// AddPerson makes a person.
func (t *Server) AddPerson(p UserProfile) *HumanUser {
	if p.ID == 0 {
		p.ID = 5_000_000_000 + t.lastPerson.Add(1) // real ids do not fit 32 bits either
	}
	who := &HumanUser{ID: p.ID, user: wireUser{
		ID: p.ID, FirstName: p.Name, LastName: p.LastName, Username: p.Username, Language: p.Language,
	}}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.people[p.ID] = who
	return who
}

// A BotProfile describes a new bot.
type BotProfile struct {
	Token    string `json:"token"` // "<id>:<secret>"; the id is the bot's user id
	Name     string `json:"name"`
	Username string `json:"username"`
	// Privacy hides from the bot what is not meant for it in groups. Default: it sees everything.
	Privacy bool `json:"privacy,omitzero"`
	// SeesBots is the bot-to-bot mode. Default: other bots' messages are hidden from it.
	SeesBots bool `json:"sees_bots,omitzero"`
	// Inline is the mode in which people type behind the bot's name in any chat.
	// Default: it is off.
	Inline bool `json:"inline,omitzero"`
}

// A BotUser is one account with a token: its queue of updates and its direct chats.
type BotUser struct {
	of      *Server
	user    wireUser
	profile BotProfile
	queue   queue

	mu      sync.Mutex // guards what follows; taken after a chat's
	direct  map[int64]*Chat
	lastMsg int64 // message ids count per account in direct chats
	webhook webhook
	menu    json.RawMessage
}

// AddBot makes a bot. It panics when the token does not begin with a number and
// a colon, since that is the caller's own mistake.
func (t *Server) AddBot(p BotProfile) *BotUser {
	id, err := botID(p.Token)
	if err != nil {
		panic("fake: " + err.Error())
	}
	b := &BotUser{
		of:      t,
		user:    wireUser{ID: id, IsBot: true, FirstName: p.Name, Username: p.Username},
		profile: p,
		direct:  make(map[int64]*Chat),
	}
	b.queue.open(id, &t.ledger, t.opts.Seed)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bots[p.Token] = b
	t.byID[id] = b
	return b
}

func botID(token string) (int64, error) {
	head, _, ok := strings.Cut(token, ":")
	id, err := strconv.ParseInt(head, 10, 64)
	if !ok || err != nil {
		return 0, errors.New("a bot's token is <number>:<secret>")
	}
	return id, nil
}

// ID returns the bot's user id.
func (b *BotUser) ID() int64 { return b.user.ID }

// Token returns what the bot signs in with.
func (b *BotUser) Token() string { return b.profile.Token }

// Username returns what people write after @.
func (b *BotUser) Username() string { return b.user.Username }

// Direct returns the bot's chat with the person, opening it when they had none.
func (b *BotUser) Direct(p *HumanUser) *Chat {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.direct[p.ID]; c != nil {
		return c
	}
	c := newChat(b.of, wireChat{
		ID: p.ID, Type: private, FirstName: p.user.FirstName, LastName: p.user.LastName, Username: p.user.Username,
	})
	c.nextID = b.nextMessage
	c.members[p.ID] = &member{user: &p.user, status: "member"}
	c.members[b.user.ID] = &member{user: &b.user, bot: b, status: "member"}
	b.direct[p.ID] = c
	return c
}

func (b *BotUser) nextMessage() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastMsg++
	return b.lastMsg
}

// Revoke makes the token worthless, as @BotFather does: every later call is unauthorized.
func (b *BotUser) Revoke() {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	delete(b.of.bots, b.profile.Token)
}

func (b *BotUser) self() wireSelf {
	return wireSelf{wireUser: b.user, CanJoinGroups: true, ReadsAll: !b.profile.Privacy, InlineQueries: b.profile.Inline}
}

// chatID reads a chat parameter: a number, or the @name of a public group.
func (b *BotUser) chatID(s string) (int64, bool) {
	if name, ok := strings.CutPrefix(s, "@"); ok {
		return b.of.publicChat(name)
	}
	id, err := strconv.ParseInt(s, 10, 64)
	return id, err == nil
}

// publicChat finds a group or channel by its public name.
func (t *Server) publicChat(name string) (int64, bool) {
	t.mu.RLock()
	all := maps.Clone(t.chats)
	t.mu.RUnlock()
	for id, c := range all {
		if strings.EqualFold(c.username(), name) {
			return id, true
		}
	}
	return 0, false
}

// chat finds the chat as this bot sees it.
func (b *BotUser) chat(id int64) (*Chat, bool) {
	if id > 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		c, ok := b.direct[id]
		return c, ok
	}
	return b.of.Chat(id)
}

// Inject puts an update of any shape into the bot's queue and returns its id.
// The members are those of an Update without its update_id, such as
// {"message":{…}} or {"brand_new_kind":{…}}; they need not make sense, only be
// a JSON object.
func (b *BotUser) Inject(members json.RawMessage) (update int64, err error) {
	var named map[string]json.RawMessage
	if err := json.Unmarshal(members, &named); err != nil {
		return 0, fmt.Errorf("inject an update: %w", err)
	}
	if named == nil {
		return 0, errors.New("inject an update: null is not an object")
	}
	kind := strings.Join(slices.Sorted(maps.Keys(named)), "+")
	update = b.queue.put(delivery{kind: kind, members: members, at: time.Now()})
	b.of.ring()
	return update, nil
}

// deliver queues one update for the bot, when its allowed_updates let it.
func (b *BotUser) deliver(d delivery, body json.RawMessage) {
	m := make([]byte, 0, len(d.kind)+len(body)+5)
	m = append(m, `{"`...)
	m = append(m, d.kind...)
	m = append(m, `":`...)
	m = append(m, body...)
	d.members = append(m, '}')
	b.queue.offer(d)
}

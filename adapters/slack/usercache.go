package slack

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

const (
	maxNames   = 16384           // of each sort, before all are forgotten
	namesKept  = time.Hour       // how long a name is believed without an event about it
	namesRetry = time.Minute     // between questions that were not answered
	nameLimit  = 2 * time.Second // for one question: a message waits for it
	hastyLimit = 300 * time.Millisecond
	mutePause  = 10 * time.Second
	maxMute    = 3 // questions in a row that Slack may leave unanswered before it is let be
)

// names is what is known of people and channels: events carry ids alone. It
// asks Slack once for each, believes the answer for an hour, and hears of
// changes from events. An id that Slack does not explain represents itself.
type names struct {
	c *apiClient

	mu    sync.Mutex // guards what follows
	users map[string]knownUser
	chats map[string]knownChat
	mutes map[string]silentAPI // by method
}

type knownUser struct {
	person adapters.Person
	until  time.Time
}

type knownChat struct {
	chat  adapters.Chat
	until time.Time
	vague bool // neither Slack nor an event has said what kind of conversation it is
}

func newNames(c *apiClient) *names {
	return &names{c: c, users: map[string]knownUser{}, chats: map[string]knownChat{}, mutes: map[string]silentAPI{}}
}

// user returns the person with that id. Their scope is empty when Slack did not
// say of which team they are.
func (n *names) user(ctx context.Context, id string) adapters.Person {
	n.mu.Lock()
	known, ok := n.users[id]
	n.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.person
	}
	switch {
	case id == slackbot:
		return user{ID: id, Name: "slackbot", RealName: "Slackbot"}.person()
	case strings.HasPrefix(id, "B"): // a bot without a user; messages bring its name
		return adapters.Person{ID: id, Kind: adapters.Bot, Name: id}
	}
	answer, err := asked[struct {
		User user `json:"user"`
	}](ctx, n, "users.info", func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.GetUserInfoContext(ctx, id)
		return err
	})
	if err != nil || answer.User.ID == "" {
		n.c.log.Debug("name not learned", "user", id, "error", err)
		if !ok {
			known.person = adapters.Person{ID: id, Kind: adapters.Human, Name: id}
		}
		n.keepUser(id, known.person, n.retry("users.info"))
		return known.person
	}
	return n.learned(answer.User)
}

// learned keeps what Slack says of a person.
func (n *names) learned(u user) adapters.Person {
	p := u.person()
	n.keepUser(u.ID, p, namesKept)
	return p
}

func (n *names) keepUser(id string, p adapters.Person, believed time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.users) >= maxNames {
		clear(n.users)
	}
	n.users[id] = knownUser{p, time.Now().Add(believed)}
}

// slackbot is Slack itself, in every workspace.
const slackbot = "USLACKBOT"

// person returns u in the contract's form. Only the id decides who they are.
func (u user) person() adapters.Person {
	p := adapters.Person{ID: u.ID, Scope: cmp.Or(u.Team, u.Profile.Team), Kind: adapters.Human, Handle: u.Name}
	switch {
	case u.ID == slackbot:
		p.Kind = adapters.Service
	case u.IsBot:
		p.Kind = adapters.Bot
	}
	p.Name = cmp.Or(u.Profile.DisplayName, u.Profile.RealName, u.RealName, u.Name, u.ID)
	p.Portrait, p.Zone = portrait(u.Profile.Image), u.Zone
	return p
}

// portrait returns the address of a picture that Slack itself keeps. One that is
// kept elsewhere may tell who looks at it, and of whom: Gravatar's addresses are
// made of people's mail addresses.
func portrait(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || !strings.HasSuffix(u.Host, ".slack-edge.com") {
		return ""
	}
	return address
}

// chat returns the conversation with that id. kind is its channel_type, when the event
// says it. A conversation of unknown kind gets no workspace, since it may be a group
// chat.
func (n *names) chat(ctx context.Context, id, kind, team string) adapters.Chat {
	n.mu.Lock()
	known, ok := n.chats[id]
	n.mu.Unlock()
	if ok && time.Now().Before(known.until) && (!known.vague || kind == "") {
		return known.chat
	}
	if kind == "im" {
		chat := chatOf(channel{ID: id, IsIM: true}, team)
		n.keepChat(knownChat{chat: chat}, namesKept)
		return chat
	}
	answer, err := asked[channelInfo](ctx, n, infoMethod, infoOf(id))
	if err != nil || answer.Channel.ID == "" {
		n.c.log.Debug("name not learned", "chat", id, "error", err)
		if !ok || known.vague {
			known = guessed(id, kind, team)
		}
		n.keepChat(known, n.retry(infoMethod))
		return known.chat
	}
	chat := chatOf(answer.Channel, team)
	n.keepChat(knownChat{chat: chat}, namesKept)
	return chat
}

// known returns the conversation without asking anybody.
func (n *names) known(id, team string) adapters.Chat {
	n.mu.Lock()
	defer n.mu.Unlock()
	if k, ok := n.chats[id]; ok {
		return k.chat
	}
	return guessed(id, "", team).chat
}

// rooms returns the conversations of several people that are known, in the order of
// their ids.
func (n *names) rooms() []adapters.Chat {
	n.mu.Lock()
	defer n.mu.Unlock()
	var rooms []adapters.Chat
	for _, id := range slices.Sorted(maps.Keys(n.chats)) {
		if k := n.chats[id]; k.chat.Kind != adapters.Direct {
			rooms = append(rooms, k.chat)
		}
	}
	return rooms
}

// guessed returns what the id and the channel_type, if there is one, say of a
// conversation that Slack says nothing about.
func guessed(id, kind, team string) knownChat {
	ch := channel{ID: id, IsIM: strings.HasPrefix(id, "D"), IsMPIM: kind == "mpim", IsPrivate: kind == "group" || kind == "G"}
	k := knownChat{chat: chatOf(ch, team), vague: kind == "" && !ch.IsIM}
	if k.vague {
		k.chat.Group = ""
	}
	return k
}

func (n *names) keepChat(k knownChat, believed time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.chats) >= maxNames {
		clear(n.chats)
	}
	k.until = time.Now().Add(believed)
	n.chats[k.chat.ID] = k
}

// renamed keeps a channel's new name.
func (n *names) renamed(id, title string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if k, ok := n.chats[id]; ok {
		k.chat.Title = title
		n.chats[id] = k
	}
}

// chatOf returns ch in the contract's form. Direct chats and group chats of a
// few belong to no group: what the configuration says of a workspace's channels
// is not said of them.
func chatOf(ch channel, team string) adapters.Chat {
	switch {
	case ch.IsIM:
		return adapters.Chat{ID: ch.ID, Kind: adapters.Direct}
	case ch.IsMPIM:
		return adapters.Chat{ID: ch.ID, Kind: adapters.Group, Title: strings.Trim(strings.TrimPrefix(ch.Name, "mpdm-"), "-")}
	case ch.IsPrivate, ch.IsGroup:
		return adapters.Chat{ID: ch.ID, Kind: adapters.Group, Title: ch.Name, Group: team}
	default:
		return adapters.Chat{ID: ch.ID, Kind: adapters.Channel, Title: ch.Name, Group: team}
	}
}

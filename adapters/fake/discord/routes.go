package discord

import (
	"crypto/ed25519"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A restAPI applies the calls of Discord's REST API to the server's guilds.
type restAPI struct{ *Server }

// table lists the calls that are answered. The names are those of the [Record].
func (d restAPI) table() *http.ServeMux {
	mux := http.NewServeMux()
	for _, one := range []struct {
		pattern, name string
		open          bool
		f             func(*call) answer
	}{
		{"GET /gateway", "get gateway", true, d.getGateway},
		{"GET /gateway/bot", "get gateway bot", false, d.getGateway},
		{"GET /users/@me", "get me", false, func(c *call) answer { return ok(c.bot.user) }},
		{"GET /users/@me/guilds", "get guilds", false, d.getGuilds},
		{"POST /users/@me/channels", "open direct chat", false, d.openDirect},
		{"GET /users/{user}", "get user", false, d.getUser},
		{"GET /applications/@me", "get application", false, func(c *call) answer { return ok(c.bot.application()) }},
		{"GET /oauth2/applications/@me", "get application", false, func(c *call) answer { return ok(c.bot.application()) }},
		{"PUT /applications/{application}/commands", "set commands", false, d.setCommands},

		{"GET /guilds/{guild}", "get guild", false, d.inGuild(func(_ *call, g *Guild) answer { return ok(g.wire()) })},
		{"GET /guilds/{guild}/channels", "get channels", false, d.inGuild(d.getChannels)},
		{"GET /guilds/{guild}/threads/active", "get threads", false, d.inGuild(d.getActive)},
		{"GET /guilds/{guild}/members", "get members", false, d.inGuild(getMembers)},
		{"GET /guilds/{guild}/members/{user}", "get member", false, d.inGuild(getMember)},

		{"GET /channels/{channel}", "get channel", false, d.inChannel(viewing, func(_ *call, ch *GuildChannel) answer { return ok(ch.wire) })},
		{"PATCH /channels/{channel}", "edit channel", false, d.inChannel(writing, d.editChannel)},
		{"GET /channels/{channel}/messages", "get messages", false, d.inChannel(viewing, getMessages)},
		{"POST /channels/{channel}/messages", "create message", false, d.inChannel(writing, d.createMessage)},
		{"GET /channels/{channel}/messages/{message}", "get message", false, d.onMessage(reading, func(c *call, ch *GuildChannel, m *message) answer {
			return ok(shownMessage(ch, m, c.bot, intentContent, false))
		})},
		{"PATCH /channels/{channel}/messages/{message}", "edit message", false, d.onMessage(viewing, d.editMessage)},
		{"DELETE /channels/{channel}/messages/{message}", "delete message", false, d.onMessage(viewing, deleteMessage)},
		{"PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me", "react", false, d.onMessage(reacting, d.putReaction)},
		{"DELETE /channels/{channel}/messages/{message}/reactions/{emoji}/@me", "take reaction back", false, d.onMessage(viewing, d.dropReaction)},
		{"POST /channels/{channel}/typing", "type", false, d.inChannel(writing, startTyping)},
		{"POST /channels/{channel}/messages/{message}/threads", "open thread", false, d.onMessage(writing|1<<35, openOn)},
		{"POST /channels/{channel}/threads", "begin thread", false, d.inChannel(writing, d.beginThread)},
		{"GET /channels/{channel}/threads/archived/public", "get archived threads", false, d.inChannel(reading, d.getArchived)},
		{"GET /channels/{channel}/users/@me/threads/archived/private", "get our archived threads", false, d.inChannel(reading, d.getPrivate)},
		{"GET /channels/{channel}/webhooks", "get webhooks", false, d.inChannel(ManageWebhooks, d.getWebhooks)},
		{"POST /channels/{channel}/webhooks", "create webhook", false, d.inChannel(ManageWebhooks, d.createWebhook)},

		{"POST /webhooks/{webhook}/{token}", "execute webhook", true, d.postThrough},
		{"GET /webhooks/{webhook}/{token}/messages/{message}", "get webhook message", true, d.onWebhook(d.getAs)},
		{"PATCH /webhooks/{webhook}/{token}/messages/{message}", "edit webhook message", true, d.onWebhook(d.editAs)},
		{"DELETE /webhooks/{webhook}/{token}/messages/{message}", "delete webhook message", true, d.onWebhook(d.deleteAs)},
		{"POST /interactions/{interaction}/{token}/callback", "answer interaction", true, d.answerInteraction},
	} {
		mux.HandleFunc(one.pattern, d.handle(one.name, one.open, one.f))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		write(w, refuse(http.StatusNotFound, 0, "404: Not Found"))
	})
	return mux
}

// Rights that calls need.
const (
	viewing  = 1 << 10
	writing  = viewing | 1<<11
	reading  = viewing | 1<<16
	reacting = reading | 1<<6

	attaching = viewing | 1<<15
)

// wireApp is a bot's application.
type wireApp struct {
	ID    SnowflakeID `json:"id"`
	Name  string      `json:"name"`
	Flags int         `json:"flags"`
	Key   string      `json:"verify_key"`
}

// application returns what the developer portal says of the bot.
func (b *BotUser) application() wireApp {
	flags := 0
	if !b.profile.NoMembers {
		flags |= 1 << 15
	}
	if !b.profile.NoContent {
		flags |= 1 << 19
	}
	return wireApp{b.ID, b.user.Username, flags, hex.EncodeToString(b.key().Public().(ed25519.PublicKey))}
}

// wireStart is how many sessions a bot may begin, as Discord counts them.
type wireStart struct {
	Total       int `json:"total"`
	Remaining   int `json:"remaining"`
	ResetAfter  int `json:"reset_after"` // milliseconds
	Concurrency int `json:"max_concurrency"`
}

// mayStart returns what is left of today's sessions.
func (b *BotUser) mayStart() *wireStart {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	const total, fourHours = 1000, 14_400_000
	return &wireStart{total, max(total-b.profile.Begun, 0), fourHours, 1}
}

func (d restAPI) getGateway(c *call) answer {
	w := struct {
		URL    string     `json:"url"`
		Shards int        `json:"shards,omitempty"`
		Start  *wireStart `json:"session_start_limit,omitempty"`
	}{URL: gatewayOf(c.r)}
	if strings.HasSuffix(c.r.URL.Path, "/bot") {
		w.Shards, w.Start = max(c.bot.profile.Shards, 1), c.bot.mayStart()
	}
	return ok(w)
}

func (d restAPI) getGuilds(c *call) answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	after := parseID(c.r.URL.Query().Get("after"))
	all := []wireGuild{}
	for _, g := range d.guilds {
		if g.bots[c.bot.ID] != nil && g.ID > after {
			all = append(all, g.wire())
		}
	}
	slices.SortFunc(all, func(a, b wireGuild) int { return int(a.ID - b.ID) })
	return ok(all[:min(len(all), atMost(c, 200, 200))])
}

// atMost returns the limit that a call asks for.
func atMost(c *call, usual, most int) int {
	n, err := strconv.Atoi(c.r.URL.Query().Get("limit"))
	if err != nil || n < 1 {
		return usual
	}
	return min(n, most)
}

func (d restAPI) openDirect(c *call) answer {
	var said struct {
		Recipient SnowflakeID `json:"recipient_id"`
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !c.into(&said) || d.people[said.Recipient] == nil {
		return noUser
	}
	return ok(c.bot.directLocked(d.people[said.Recipient]).wire)
}

func (d restAPI) getUser(c *call) answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	u, known := userLocked(d.Server, parseID(c.r.PathValue("user")))
	if !known {
		return noUser
	}
	return ok(u)
}

func (d restAPI) setCommands(c *call) answer {
	var list []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	if !c.into(&list) || len(list) > 100 {
		return badForm("_", "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.")
	}
	for _, one := range list {
		if one.Name == "" || len(one.Name) > 32 || one.Name != strings.ToLower(one.Name) || one.Description == "" {
			return badForm("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
		}
	}
	return ok(list)
}

// inGuild finds the server of a call, which the bot has to be on. f runs under the lock.
func (d restAPI) inGuild(f func(*call, *Guild) answer) func(*call) answer {
	return func(c *call) answer {
		d.mu.Lock()
		defer d.mu.Unlock()
		g := d.guilds[parseID(c.r.PathValue("guild"))]
		if g == nil {
			return noGuild
		}
		if g.bots[c.bot.ID] == nil {
			return noAccess
		}
		return f(c, g)
	}
}

func (d restAPI) getChannels(_ *call, g *Guild) answer {
	all := []wireChannel{}
	for _, ch := range d.sorted() {
		if ch.guild == g && !ch.isThread() {
			all = append(all, ch.wire)
		}
	}
	return ok(all)
}

type threadList struct {
	Threads []wireChannel `json:"threads"`
	Members []struct{}    `json:"members"`
	More    bool          `json:"has_more"`
}

func (d restAPI) getActive(_ *call, g *Guild) answer {
	list := threadList{Threads: []wireChannel{}, Members: []struct{}{}}
	for _, ch := range d.sorted() {
		if ch.guild == g && ch.isThread() && !ch.wire.Thread.Archived {
			list.Threads = append(list.Threads, ch.wire)
		}
	}
	return ok(list)
}

func getMembers(c *call, g *Guild) answer {
	if c.bot.profile.NoMembers {
		return noAccess
	}
	after := parseID(c.r.URL.Query().Get("after"))
	all := []wireMember{}
	for id, m := range g.members {
		if id > after {
			all = append(all, *m)
		}
	}
	slices.SortFunc(all, func(a, b wireMember) int { return int(a.User.ID - b.User.ID) })
	return ok(all[:min(len(all), atMost(c, 1, 1000))])
}

func getMember(c *call, g *Guild) answer {
	m := g.members[parseID(c.r.PathValue("user"))]
	if m == nil {
		return refuse(http.StatusNotFound, 10007, "Unknown Member")
	}
	return ok(*m)
}

// inChannel finds the channel of a call, in which the bot has to have rights. f
// runs under the lock.
func (d restAPI) inChannel(rights int64, f func(*call, *GuildChannel) answer) func(*call) answer {
	return func(c *call) answer {
		d.mu.Lock()
		defer d.mu.Unlock()
		ch := d.channels[parseID(c.r.PathValue("channel"))]
		if ch == nil {
			return noChannel
		}
		if a, refused := refusedIn(ch, c.bot, rights); refused {
			return a
		}
		return f(c, ch)
	}
}

// refusedIn says why the bot may not do something in the channel.
func refusedIn(c *GuildChannel, b *BotUser, rights int64) (answer, bool) {
	if c.guild == nil {
		return noAccess, c.bot != b
	}
	if c.guild.bots[b.ID] == nil {
		return noAccess, true
	}
	has := rightsIn(c, b)
	switch {
	case has&viewing == 0:
		return noAccess, true
	case has&rights != rights:
		return noRight, true
	}
	return answer{}, false
}

// rightsIn returns what the bot may do in the channel. It needs the lock.
func rightsIn(c *GuildChannel, b *BotUser) int64 {
	of := c
	if c.isThread() {
		if parent := c.of.channels[*c.wire.ParentID]; parent != nil {
			of = parent
		}
	}
	var all int64
	mine := c.guild.members[b.ID]
	for _, r := range c.guild.roles {
		if r.ID == c.guild.ID || mine != nil && slices.Contains(mine.Roles, r.ID) {
			all |= int64(parseID(r.Permissions))
		}
	}
	for _, o := range of.wire.Overwrites {
		if o.Type == 1 && o.ID != b.ID {
			continue // another's
		}
		all = all&^int64(parseID(o.Deny)) | int64(parseID(o.Allow))
	}
	if c.isThread() && all&(1<<38) != 0 {
		all |= writing // the right to write in threads is one of its own
	}
	return all
}

func (d restAPI) onMessage(rights int64, f func(*call, *GuildChannel, *message) answer) func(*call) answer {
	return d.inChannel(rights, func(c *call, ch *GuildChannel) answer {
		m := findMessage(ch, parseID(c.r.PathValue("message")))
		if m == nil {
			return noMessage
		}
		return f(c, ch, m)
	})
}

func startTyping(c *call, ch *GuildChannel) answer {
	ch.typed = append(ch.typed, c.bot.ID)
	return done
}

func (d restAPI) getArchived(c *call, ch *GuildChannel) answer {
	before, err := time.Parse(time.RFC3339Nano, c.r.URL.Query().Get("before"))
	all := d.putAway(ch, PublicThread, func(th wireChannel) bool { return err != nil || th.Thread.At.Before(before) })
	slices.SortStableFunc(all, func(a, b wireChannel) int { return b.Thread.At.Compare(a.Thread.At) })
	return pageOf(all, atMost(c, 50, 100))
}

// getPrivate lists the private threads that the bot is in: here, all of them.
func (d restAPI) getPrivate(c *call, ch *GuildChannel) answer {
	before := parseID(c.r.URL.Query().Get("before"))
	all := d.putAway(ch, PrivateThread, func(th wireChannel) bool { return before == 0 || th.ID < before })
	slices.Reverse(all)
	return pageOf(all, atMost(c, 50, 100))
}

// putAway returns the archived threads of a kind, the oldest first.
func (d restAPI) putAway(ch *GuildChannel, kind int, wanted func(wireChannel) bool) []wireChannel {
	all := []wireChannel{}
	for _, th := range d.sorted() {
		if th.wire.Type == kind && *th.wire.ParentID == ch.ID && th.wire.Thread.Archived && wanted(th.wire) {
			all = append(all, th.wire)
		}
	}
	return all
}

func pageOf(all []wireChannel, most int) answer {
	n := min(len(all), most)
	return ok(threadList{Threads: all[:n], Members: []struct{}{}, More: len(all) > n})
}

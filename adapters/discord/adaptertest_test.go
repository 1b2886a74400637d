package discord_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/adaptertest"
	"github.com/trestle-bridge/trestle/adapters/discord"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/adapters/fake/faketest"
)

// DELIVERY 2.6.
func TestDiscordPassesTheSuite(t *testing.T) { adaptertest.Run(t, openRig) }

// rig is the suite's hand on the fake Discord: a server with a channel and a
// thread, a direct chat, a person.
type rig struct {
	*fakediscord.Server
	t      *testing.T
	bot    *fakediscord.BotUser
	maya   *fakediscord.HumanUser
	guild  *fakediscord.Guild
	room   *fakediscord.GuildChannel
	thread *fakediscord.GuildChannel
	direct *fakediscord.GuildChannel
	host   *faketest.FakeHost
}

const rigToken = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.very-secret-words-of-a-token"

func openRig(t *testing.T) adaptertest.SuiteFixture {
	t.Helper()
	r := &rig{Server: fakediscord.New(fakediscord.Options{}), t: t}
	r.bot = r.AddBot(fakediscord.BotProfile{Token: rigToken, Name: "ada"})
	r.maya = r.AddPerson(fakediscord.UserProfile{Name: "Maya", Username: "maya"})
	r.guild = r.NewGuild("Family", r.maya)
	r.room = r.guild.NewChannel("general", fakediscord.TextChannel)
	r.thread = r.room.NewThread(r.maya, "Food")
	r.guild.Adds(r.bot, fakediscord.ManageWebhooks)
	r.direct = r.bot.Direct(r.maya)
	r.host = faketest.Serve(t, new(fake.MemoryNetwork), "discord.test", r.Serve)
	return adaptertest.SuiteFixture{
		Adapter: r.adapter(),
		Restart: r.adapter,
		Chat:    r.room.ID.String(), Other: r.direct.ID.String(), Thread: r.thread.ID.String(),
		Keeps:   true,
		Mention: "<@" + r.bot.ID.String() + ">", Secret: rigToken,
		Say: r.say,
		Edit: func(chat, message, words string) {
			r.chat(chat, "").Edits(number(message), words)
		},
		EditUnseen: r.editUnseen,
		Delete:     func(chat, message string) { r.chat(chat, "").Deletes(number(message)) },
		DeleteUnseen: func(chat string) string {
			r.chat(chat, "").Deletes(900)
			return "900"
		},
		React: func(chat, message string, emoji ...string) {
			r.chat(chat, "").Reacts(r.maya, number(message), emoji...)
		},
		Comes: func(string) string {
			r.online()
			kai := r.AddPerson(fakediscord.UserProfile{Name: "Kai"})
			r.guild.Joins(kai)
			return kai.ID.String()
		},
		Goes: func(string) string {
			r.guild.Leaves(r.maya)
			return r.maya.ID.String()
		},
		Unknown:   func() { r.inject("BRAND_NEW_KIND", `{"date":1}`) },
		Malformed: func() { r.inject("MESSAGE_CREATE", `"not an object"`) },
		Fail:      r.fail,
		Requests:  r.requests,
		Sent:      r.sent,
		Gone: func(chat string) string {
			ch := r.chat(chat, "")
			id := ch.Says(r.maya, "soon gone", fakediscord.PostOptions{})
			ch.Deletes(id)
			return id.String()
		},
		Typed: func(chat string) bool { return len(r.chat(chat, "").Typists()) > 0 },
		Logs:  r.host.Log.String,
		Press: func(chat, message, label string) {
			where := r.chat(chat, "")
			for _, ch := range []*fakediscord.GuildChannel{where, r.thread} {
				for _, m := range ch.Sent(r.bot) {
					if m.ID == number(message) {
						where = ch
					}
				}
			}
			r.online()
			where.Presses(r.maya, r.bot, number(message), label)
		},
		Told: func(chat string) (all []string) {
			for _, p := range append(r.chat(chat, "").PressedButtons(), r.thread.PressedButtons()...) {
				for _, words := range p.Told {
					all = append(all, discord.Words(words))
				}
			}
			for _, words := range append(fakediscord.FollowUpsIn(r.chat(chat, "")), fakediscord.FollowUpsIn(r.thread)...) {
				all = append(all, discord.Words(words))
			}
			return all
		},
		Private: func(chat, thread string) string {
			r.online()
			r.chat(chat, thread).Invokes(r.maya, r.bot, "why", "")
			<-time.After(time.Second) // it is heard
			return r.maya.ID.String()
		},
		Stranger: "999",
	}
}

func (r *rig) adapter() adapters.Adapter {
	c, err := discord.New(discord.Options{
		Token: rigToken, APIURL: "http://discord.test", HTTPClient: r.host.Client,
		Logger: r.host.Log.Logger(),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *rig) chat(id, thread string) *fakediscord.GuildChannel {
	switch {
	case thread != "":
		return r.thread
	case id == r.direct.ID.String():
		return r.direct
	default:
		return r.room
	}
}

// online waits a while for a person to listen: what is no message in a channel has
// no history to be read from later.
func (r *rig) online() {
	ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Second)
	defer cancel()
	_ = r.Until(ctx, r.bot.Connected) // else no client receives what the test posts next
}

func (r *rig) inject(event, data string) {
	r.online()
	r.bot.Inject(event, []byte(data))
}

// say has Maya say those words: what Discord would take for a sign is escaped.
func (r *rig) say(l adaptertest.HumanLine) string {
	if l.Chat == r.direct.ID.String() {
		r.online() // a direct chat that never was written in is not found later
	}
	words := strings.ReplaceAll(l.Text, "*", `\*`)
	return r.chat(l.Chat, l.Thread).Says(r.maya, words, fakediscord.PostOptions{ReplyTo: number(l.ReplyTo)}).String()
}

func (r *rig) editUnseen(chat, words string) string {
	r.inject("MESSAGE_UPDATE", fmt.Sprintf(`{"id":"901","channel_id":%q,"content":%q,"author":{"id":%q,"username":"maya"},`+
		`"timestamp":"2000-01-01T00:00:00Z","edited_timestamp":"2000-01-01T00:00:09Z"}`, chat, words, r.maya.ID.String()))
	return "901"
}

// fail makes the next call of the right sort fail.
func (r *rig) fail(f adaptertest.CallFailure) bool {
	sending := fake.CallFault{Method: "create message", Do: fake.Refuse, Status: http.StatusBadRequest}
	switch f {
	case adaptertest.Unreachable:
		r.host.RefuseNext()
		return true
	case adaptertest.Dismissed:
		r.bot.Revoke()
		return true
	case adaptertest.ReadLost:
		r.RefuseConnections(4)
		r.bot.Close(0)
		return true
	case adaptertest.TooFast:
		sending.RetryAfter = 2
	case adaptertest.BadMessage:
		sending.Description = "50035 Invalid Form Body"
	case adaptertest.NoThread:
		sending.Status, sending.Description = http.StatusNotFound, "10003 Unknown Channel"
	case adaptertest.Blocked:
		sending.Status, sending.Description = http.StatusForbidden, "50001 Missing Access"
	default:
		var known bool
		if sending, known = faketest.Failing(f, "create message"); !known {
			return false
		}
	}
	r.Fault(sending)
	return true
}

func (r *rig) requests() int {
	n := 0
	for _, c := range r.Ledger().Calls {
		if c.Method == "create message" {
			n++
		}
	}
	return n
}

func (r *rig) sent(chat string) []adaptertest.SentMessage {
	var all []adaptertest.SentMessage
	add := func(ch *fakediscord.GuildChannel, thread string) {
		for _, m := range ch.Sent(r.bot) {
			all = append(all, adaptertest.SentMessage{
				Message: m.ID.String(), Thread: thread, ReplyTo: text(m.ReplyTo), Text: discord.Words(m.Content),
				Deleted: m.Deleted, Reactions: m.Reactions, Buttons: m.Buttons,
			})
		}
	}
	ch := r.chat(chat, "")
	add(ch, "")
	if ch == r.room {
		add(r.thread, r.thread.ID.String())
	}
	return all
}

// text is an id as the contract has it; none is empty.
func text(id fakediscord.SnowflakeID) string {
	if id == 0 {
		return ""
	}
	return id.String()
}

func number(id string) fakediscord.SnowflakeID {
	n, _ := strconv.ParseInt(id, 10, 64) // empty is none
	return fakediscord.SnowflakeID(n)
}

package telegram_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/adaptertest"
	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/adapters/fake/faketest"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/adapters/telegram"
)

// DELIVERY 2.6.
func TestTelegramPassesTheSuite(t *testing.T) { adaptertest.Run(t, openRig) }

// rig is the suite's hand on the fake Telegram: a forum, a direct chat, a person.
type rig struct {
	*faketelegram.Server
	t      *testing.T
	bot    *faketelegram.BotUser
	maya   *faketelegram.HumanUser
	forum  *faketelegram.Chat
	direct *faketelegram.Chat
	away   *faketelegram.Chat // where the forum pretends to have moved
	host   *faketest.FakeHost
}

func openRig(t *testing.T) adaptertest.SuiteFixture {
	t.Helper()
	r := &rig{Server: faketelegram.NewTelegram(faketelegram.Options{}), t: t}
	r.bot = r.AddBot(faketelegram.BotProfile{Token: "77:AAF-very-secret", Name: "Ada", Username: "ada_bot"})
	r.maya = r.AddPerson(faketelegram.UserProfile{Name: "Maya", Username: "maya"})
	r.forum = r.NewForum("Family", r.maya)
	r.forum.Adds(r.maya, r.bot)
	r.forum.Promotes(r.maya, r.bot)
	r.direct = r.bot.Direct(r.maya)
	r.away = r.NewSupergroup("Away", r.maya)
	topic := r.forum.NewTopic(r.maya, "Food")
	r.host = faketest.Serve(t, new(fake.MemoryNetwork), "telegram.test", r.Serve)
	return adaptertest.SuiteFixture{
		Adapter: r.adapter(),
		Restart: r.adapter,
		Chat:    text(r.forum.ID()), Other: text(r.direct.ID()), Thread: text(topic),
		Mention: "@ada_bot", Secret: "AAF-very-secret",
		Say:        r.say,
		Edit:       func(chat, message, words string) { r.chat(chat).Edits(number(message), words) },
		EditUnseen: r.editUnseen,
		React: func(chat, message string, emoji ...string) {
			r.chat(chat).Reacts(r.maya, number(message), emoji...)
		},
		Comes: func(chat string) string {
			kai := r.AddPerson(faketelegram.UserProfile{Name: "Kai"})
			r.chat(chat).Joins(kai)
			return text(kai.ID)
		},
		Goes: func(chat string) string {
			r.chat(chat).Leaves(r.maya, r.maya)
			return text(r.maya.ID)
		},
		Unknown:   func() { r.inject(`{"brand_new_kind":{"date":1}}`) },
		Malformed: func() { r.inject(`{"message":"not an object"}`) },
		Redeliver: func() { r.bot.Redeliver(100) },
		Disorder:  func() { r.bot.Disorder(faketelegram.QueueReordering{Copies: 5, Shuffle: true}) },
		Acked:     r.acked,
		Fail:      r.fail,
		Requests:  r.requests,
		Sent:      r.sent,
		Gone: func(chat string) string {
			id := r.chat(chat).Says(r.maya, "soon gone", faketelegram.PostOptions{})
			r.chat(chat).Deletes(id)
			return text(id)
		},
		Typed: func(chat string) bool { return len(r.chat(chat).Actions()) > 0 },
		Logs:  r.host.Log.String,
		Press: func(chat, message, label string) {
			if !r.maya.Presses(r.chat(chat), number(message), label) {
				r.t.Errorf("message %s has no button %q", message, label)
			}
		},
		Told: func(chat string) (all []string) {
			for _, p := range faketelegram.PressedIn(r.chat(chat)) {
				if p.Text != "" {
					all = append(all, p.Text)
				}
			}
			for _, m := range faketelegram.EphemeralIn(r.chat(chat)) {
				all = append(all, m.Text)
			}
			return all
		},
		Private:  func(string, string) string { return text(r.maya.ID) },
		Stranger: "999",
	}
}

func (r *rig) adapter() adapters.Adapter {
	c, err := telegram.New(telegram.Options{
		Token: "77:AAF-very-secret", APIURL: "http://telegram.test", HTTPClient: r.host.Client,
		Logger: r.host.Log.Logger(),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *rig) chat(id string) *faketelegram.Chat {
	if id == text(r.direct.ID()) {
		return r.direct
	}
	return r.forum
}

func (r *rig) say(l adaptertest.HumanLine) string {
	return text(r.chat(l.Chat).Says(r.maya, l.Text, faketelegram.PostOptions{Thread: number(l.Thread), ReplyTo: number(l.ReplyTo)}))
}

func (r *rig) inject(update string) {
	if _, err := r.bot.Inject(json.RawMessage(update)); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) editUnseen(chat, words string) string {
	r.inject(fmt.Sprintf(`{"edited_message":{"message_id":9000,"date":1700000000,"edit_date":1700000009,"text":%q,`+
		`"chat":{"id":%s,"type":"supergroup","title":"Family","is_forum":true},`+
		`"from":{"id":%d,"is_bot":false,"first_name":"Maya"}}}`, words, chat, r.maya.ID))
	return "9000"
}

func (r *rig) acked(message string) bool {
	return slices.ContainsFunc(r.Ledger().Acked, func(a faketelegram.UpdateAck) bool { return text(a.Message) == message })
}

// fail makes the next call of the right sort fail.
func (r *rig) fail(f adaptertest.CallFailure) bool {
	sending := fake.CallFault{Method: "sendMessage", Do: fake.Refuse, Status: http.StatusBadRequest}
	switch f {
	case adaptertest.Unreachable:
		r.host.RefuseNext()
		return true
	case adaptertest.Dismissed:
		r.bot.Revoke()
		return true
	case adaptertest.ReadLost:
		sending = fake.CallFault{Method: "getUpdates", Do: fake.Cut}
	case adaptertest.OtherReader:
		sending = fake.CallFault{Method: "getUpdates", Do: fake.Refuse, Status: http.StatusConflict}
	case adaptertest.TooFast:
		sending.RetryAfter = 2
	case adaptertest.BadMessage:
		sending.Description = "Bad Request: message is too long"
	case adaptertest.NoThread:
		sending.Description = "Bad Request: message thread not found"
	case adaptertest.Blocked:
		sending.Status, sending.Description = http.StatusForbidden, "Forbidden: bot was kicked from the supergroup chat"
	case adaptertest.MovedAway:
		sending.Description, sending.MigrateTo = "Bad Request: group chat was upgraded to a supergroup chat", r.away.ID()
	default:
		var known bool
		if sending, known = faketest.Failing(f, "sendMessage"); !known {
			return false
		}
	}
	r.Fault(sending)
	return true
}

func (r *rig) requests() int {
	n := 0
	for _, c := range r.Ledger().Calls {
		if c.Method == "sendMessage" {
			n++
		}
	}
	return n
}

func (r *rig) sent(chat string) []adaptertest.SentMessage {
	var all []adaptertest.SentMessage
	for _, m := range r.chat(chat).Sent() {
		one := adaptertest.SentMessage{
			Message: text(m.ID), Thread: text(m.Thread), ReplyTo: text(m.ReplyTo), Text: m.Text,
			Deleted: m.Deleted, Reactions: m.Reactions[r.bot.ID()],
		}
		for _, b := range m.Buttons {
			one.Buttons = append(one.Buttons, b.Text)
		}
		all = append(all, one)
	}
	return all
}

// text is an id as the contract has it; none is empty.
func text(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

func number(id string) int64 {
	n, _ := strconv.ParseInt(id, 10, 64) // empty is none
	return n
}

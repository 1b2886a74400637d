package slack_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/adaptertest"
	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/adapters/fake/faketest"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/adapters/slack"
)

// DELIVERY 2.6.
func TestSlackPassesTheSuite(t *testing.T) { adaptertest.Run(t, openRig) }

const (
	botToken = "xoxb-very-secret-bot"
	appToken = "xapp-very-secret-app"
)

// workspace is a fake Slack on a network in memory, with an app, a person, a
// channel and a direct chat.
type workspace struct {
	*fakeslack.Server
	t       *testing.T
	app     *fakeslack.WorkspaceApp
	maya    *fakeslack.HumanUser
	ops     *fakeslack.WorkspaceChannel
	direct  *fakeslack.WorkspaceChannel
	host    *faketest.FakeHost
	network *fake.MemoryNetwork
}

func newWorkspace(t *testing.T, o fakeslack.Options, profile fakeslack.AppProfile) *workspace {
	t.Helper()
	w := &workspace{t: t, network: new(fake.MemoryNetwork)}
	if o.Client == nil {
		o.Client = w.network.Client()
	}
	w.Server = fakeslack.New(o)
	profile.Name, profile.Handle, profile.BotToken = "Ada", "ada", botToken
	w.app = w.AddApp(profile)
	w.maya = w.AddPerson(fakeslack.UserProfile{Name: "Maya Lind", Handle: "maya"})
	w.ops = w.NewChannel("ops", w.maya)
	w.ops.Invites(w.maya, w.app)
	w.direct = w.app.Direct(w.maya)
	w.host = faketest.Serve(t, w.network, "slack.test", w.Serve)
	t.Cleanup(o.Client.CloseIdleConnections)
	w.forget()
	return w
}

// options are those of a client of the workspace.
func (w *workspace) options() slack.Options {
	return slack.Options{
		BotToken: botToken, AppToken: appToken, APIURL: "http://slack.test", HTTPClient: w.host.Client,
		Logger: w.host.Log.Logger(),
	}
}

func (w *workspace) adapter(o slack.Options) *slack.Client {
	c, err := slack.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// rig is the suite's hand on the workspace.
type rig struct {
	*workspace
	thread string
}

func openRig(t *testing.T) adaptertest.SuiteFixture {
	t.Helper()
	r := &rig{workspace: newWorkspace(t, fakeslack.Options{}, fakeslack.AppProfile{AppToken: appToken})}
	r.thread = r.ops.Says(r.maya, "about food", fakeslack.PostOptions{})
	r.ops.Says(r.maya, "what shall we eat?", fakeslack.PostOptions{Thread: r.thread})
	r.forget()
	open := func() adapters.Adapter { return r.adapter(r.options()) }
	return adaptertest.SuiteFixture{
		Adapter: open(), Restart: open,
		Chat: r.ops.ID, Other: r.direct.ID, Thread: r.thread,
		Keeps:   true,
		Mention: "@ada", Secret: "very-secret",
		Say:        r.say,
		Edit:       func(chat, message, words string) { r.channel(chat).Edits(message, words) },
		EditUnseen: r.editUnseen,
		Delete:     func(chat, message string) { r.channel(chat).Deletes(message) },
		DeleteUnseen: func(chat string) string {
			r.inject(fmt.Sprintf(`{"type":"message","subtype":"message_deleted","channel":%q,"channel_type":"channel","ts":"1700000011.000100","event_ts":"1700000011.000100","deleted_ts":"1700000009.000100"}`, chat))
			return "1700000009.000100"
		},
		React: func(chat, message string, emoji ...string) {
			names := map[string]string{"👍": "+1", "🔥": "fire"}
			var list []string
			for _, e := range emoji {
				list = append(list, names[e])
			}
			r.channel(chat).Reacts(r.maya, message, list...)
		},
		Comes: func(chat string) string {
			kai := r.AddPerson(fakeslack.UserProfile{Name: "Kai"})
			r.channel(chat).Joins(kai)
			return kai.ID
		},
		Goes:      func(chat string) string { r.channel(chat).Leaves(r.maya); return r.maya.ID },
		Unknown:   func() { r.inject(`{"type":"brand_new_kind","event_ts":"1700000001.000100"}`) },
		Malformed: func() { r.app.InjectPayload("events_api", json.RawMessage(`"not an object"`)) },
		Redeliver: func() { r.app.Redeliver(100) },
		Disorder:  func() { r.app.Disorder(5) },
		Acked:     r.acked,
		Fail:      r.fail,
		Requests:  r.requests,
		Sent:      r.sent,
		Gone: func(chat string) string {
			id := r.channel(chat).Says(r.maya, "soon gone", fakeslack.PostOptions{})
			r.channel(chat).Deletes(id)
			return id
		},
		Logs: r.host.Log.String,
		Press: func(chat, message, label string) {
			for range 600 { // Slack gives a press up that no socket takes
				if r.app.Sockets() == 2 {
					break
				}
				<-time.After(100 * time.Millisecond)
			}
			if !r.channel(chat).Presses(r.maya, message, label) {
				r.t.Errorf("message %s has no button %q", message, label)
			}
		},
		Told: func(chat string) (all []string) {
			for _, m := range r.channel(chat).Whispers() {
				all = append(all, m.Text)
			}
			return all
		},
		Private:  func(string, string) string { return r.maya.ID },
		Stranger: "U0000999",
	}
}

// forget moves all messages so far into the distant past, and makes the client forget
// them.
func (w *workspace) forget() {
	w.app.Forget()
	<-time.After(time.Minute)
}

func (w *workspace) channel(id string) *fakeslack.WorkspaceChannel {
	c, ok := w.Channel(id)
	if !ok {
		w.t.Fatalf("no channel %q", id)
	}
	return c
}

func (r *rig) say(l adaptertest.HumanLine) string {
	thread := l.Thread
	if thread == "" {
		thread = l.ReplyTo
	}
	return r.channel(l.Chat).Says(r.maya, l.Text, fakeslack.PostOptions{Thread: thread})
}

func (w *workspace) inject(event string) { w.app.Inject(json.RawMessage(event)) }

func (r *rig) editUnseen(chat, words string) string {
	r.inject(fmt.Sprintf(`{"type":"message","subtype":"message_changed","channel":%q,"channel_type":"channel","ts":"1700000010.000100","event_ts":"1700000010.000100",`+
		`"message":{"type":"message","user":%q,"text":%q,"ts":"1700000009.000200","edited":{"user":%q,"ts":"1700000010.000000"}}}`, chat, r.maya.ID, words, r.maya.ID))
	return "1700000009.000200"
}

func (w *workspace) acked(message string) bool {
	return slices.ContainsFunc(w.Ledger().Acked, func(a fakeslack.EventAck) bool { return a.TS == message })
}

// fail makes the next call of the right sort fail.
func (r *rig) fail(f adaptertest.CallFailure) bool {
	sending := fake.CallFault{Method: "chat.postMessage", Do: fake.Refuse}
	switch f {
	case adaptertest.Unreachable:
		r.host.RefuseNext()
		return true
	case adaptertest.Dismissed:
		r.app.Revoke()
		return true
	case adaptertest.ReadLost:
		r.Fault(fake.CallFault{Method: "apps.connections.open", Do: fake.Cut, Times: 2})
		r.app.Sever()
		return true
	case adaptertest.TooFast:
		sending.RetryAfter = 2
	case adaptertest.BadMessage:
		sending.Description = "msg_too_long"
	case adaptertest.NoThread:
		sending.Description = "channel_not_found"
	case adaptertest.Blocked:
		sending.Description = "not_in_channel"
	default:
		var known bool
		if sending, known = faketest.Failing(f, "chat.postMessage"); !known {
			return false
		}
	}
	r.Fault(sending)
	return true
}

func (w *workspace) requests() int {
	n := 0
	for _, c := range w.Ledger().Calls {
		if c.Method == "chat.postMessage" {
			n++
		}
	}
	return n
}

func (r *rig) sent(chat string) []adaptertest.SentMessage {
	emoji := map[string]string{"+1": "👍", "fire": "🔥"}
	var all []adaptertest.SentMessage
	for _, m := range r.channel(chat).Sent() {
		one := adaptertest.SentMessage{Message: m.TS, Text: m.Text, Deleted: m.Deleted}
		if m.Thread == r.thread {
			one.Thread = m.Thread
		} else {
			one.ReplyTo = m.Thread
		}
		for name, users := range m.Reactions {
			if slices.Contains(users, r.app.User()) {
				one.Reactions = append(one.Reactions, emoji[name])
			}
		}
		for _, b := range m.Buttons {
			one.Buttons = append(one.Buttons, b.Label)
		}
		all = append(all, one)
	}
	return all
}

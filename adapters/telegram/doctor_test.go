package telegram_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// ward is the fake Telegram with one bot, and no client that polls for it.
type ward struct {
	*faketelegram.Server
	bot   *faketelegram.BotUser
	kai   *faketelegram.HumanUser
	http  *http.Client
	token adapters.SecretString
	url   string
	hook  string
	chats []string
}

// admit opens a ward that ends with the test.
func admit(t *testing.T, privacy bool) *ward {
	t.Helper()
	var network fake.MemoryNetwork
	ln, err := network.Listen("telegram.test")
	testutil.OK(t, err)
	w := &ward{Server: faketelegram.NewTelegram(faketelegram.Options{}), http: network.Client(), token: token, url: "http://telegram.test"}
	w.bot = w.AddBot(faketelegram.BotProfile{Token: token, Name: "Ada", Username: "ada_bot", Privacy: privacy})
	w.kai = w.AddPerson(faketelegram.UserProfile{Name: "Kai", Username: "kai"})
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- w.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		w.http.CloseIdleConnections()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return w
}

// client returns a bot with the ward's token.
func (w *ward) client(t *testing.T) *telegram.Client {
	t.Helper()
	c, err := telegram.New(telegram.Options{Token: w.token, APIURL: w.url, HTTPClient: w.http, WebhookURL: w.hook})
	testutil.OK(t, err)
	return c
}

// inline gives the token to a bot whose inline mode is on.
func (w *ward) inline() {
	w.bot = w.AddBot(faketelegram.BotProfile{Token: "78:inline-token", Name: "Ada", Username: "ada_bot", Inline: true})
	w.token = "78:inline-token"
}

func (w *ward) named(chats ...*faketelegram.Chat) {
	for _, c := range chats {
		w.chats = append(w.chats, strconv.FormatInt(c.ID(), 10))
	}
}

// second polls with the same token, as a forgotten process elsewhere does, until
// the test ends.
func (w *ward) second(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for c := w.client(t); ctx.Err() == nil; <-time.After(time.Second) {
			_ = c.Receive(ctx, nil, new(inbox)) // it is thrown out, and comes back
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	synctest.Wait()
}

// webhook sets one, as a program that is called does.
func (w *ward) webhook(t *testing.T) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/bot"+token+"/setWebhook?url=https://example.com/hook", nil)
	testutil.OK(t, err)
	resp, err := w.http.Do(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("set webhook: %v, %v", resp, err)
	}
	_ = resp.Body.Close()
}

// unanswered sets the webhook to an address without a listener, and posts a message.
func (w *ward) unanswered(t *testing.T) {
	t.Helper()
	w.hook = "https://example.com/hook"
	w.webhook(t)
	w.bot.Direct(w.kai).Says(w.kai, "hello", faketelegram.PostOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	nobody := plain(new(fake.MemoryNetwork))
	wg.Go(func() { w.Call(ctx, nobody) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	<-time.After(5 * time.Second)
}

// Issue 3: each planted fault is found, with its mend. ECOSYSTEM 3.3.
func TestExaminationFindsThePlantedFault(t *testing.T) {
	for _, test := range []struct {
		name    string
		privacy bool
		plant   func(t *testing.T, w *ward)
		want    []string
	}{
		{"well", false, func(_ *testing.T, w *ward) {
			group, direct, news := w.NewGroup("Family", w.kai), w.bot.Direct(w.kai), w.NewChannel("News", w.kai)
			group.Adds(w.kai, w.bot)
			news.Adds(w.kai, w.bot)
			w.named(group, direct, news)
		}, []string{" ok @ada_bot answers, and may write in each of its 3 named chats: "}},
		{"token shape", false, func(_ *testing.T, w *ward) { w.token = "bot77:AAF-words" }, []string{
			"TRS-T01 fail the token does not have the shape of a bot's token, 123456789:AA…: copy it again from @BotFather → /mybots → API Token, without quotes or spaces",
		}},
		{"token refused", false, func(_ *testing.T, w *ward) { w.bot.Revoke() }, []string{
			"TRS-T08 fail Telegram refuses the token: @BotFather → /token shows the one that is good; put it where the configuration names it",
		}},
		{"unreachable", false, func(_ *testing.T, w *ward) { w.url = "http://nowhere.test" }, []string{
			"TRS-T09 fail Telegram's server does not answer: Post \"http://nowhere.test/bot***/getMe\": dial pipe nowhere.test:80: connection refused: see that this machine reaches http://nowhere.test, or set api_url",
		}},
		{"webhook while polling", false, func(t *testing.T, w *ward) { t.Helper(); w.webhook(t) }, []string{
			"TRS-T03 fail a webhook is set for this bot, and nobody can poll beside one: call deleteWebhook, without drop_pending_updates, or stop the program that uses the webhook",
		}},
		{"second poller", false, func(t *testing.T, w *ward) { t.Helper(); w.second(t) }, []string{
			"TRS-T04 fail another program polls with this token: stop it, or give it a bot of its own; a token has one poller at a time",
		}},
		{"webhook that nobody answers", false, func(t *testing.T, w *ward) { t.Helper(); w.unanswered(t) }, []string{
			"TRS-T10 fail Telegram cannot call us: Post \"https://example.com/hook\": dial pipe bots.test:80: connection refused; updates that wait: 1: see that the proxy before webhook_listen is up, has a certificate that is good, and passes this path on",
		}},
		{"webhook not yet set", false, func(_ *testing.T, w *ward) { w.hook = "https://example.com/hook" }, []string{
			" ok @ada_bot answers: ",
		}},
		{"privacy mode", true, func(*testing.T, *ward) {}, []string{
			"TRS-T02 warn privacy mode is on: in groups the bot sees only mentions and replies: @BotFather → /setprivacy → Disable, then re-add the bot",
		}},
		{"inline mode", false, func(_ *testing.T, w *ward) { w.inline() }, []string{
			"TRS-T11 warn inline mode is on, and nobody answers what people type behind the bot's name in other chats: @BotFather → /setinline → Turn off",
		}},
		{"migrated group", false, func(_ *testing.T, w *ward) {
			group := w.NewGroup("Family", w.kai)
			group.Adds(w.kai, w.bot)
			w.named(group)
			group.Migrates(w.kai)
		}, []string{
			"TRS-T05 fail the group -4000000001 has become the supergroup -1001000000002: write -1001000000002 in place of -4000000001 in the configuration",
		}},
		{"not in the chat, kicked, never seen", false, func(_ *testing.T, w *ward) {
			in, out := w.NewGroup("In", w.kai), w.NewGroup("Out", w.kai)
			in.Adds(w.kai, w.bot)
			out.Adds(w.kai, w.bot)
			out.Kicks(w.kai, w.bot)
			w.named(in, out, w.NewSupergroup("Never", w.kai))
			w.chats = append(w.chats, "404")
		}, []string{
			"TRS-T06 fail the bot is not in the chat -4000000002: add it there, or correct the id; a person must have written to the bot first",
			"TRS-T06 fail the bot is not in the chat -1001000000003: add it there, or correct the id; a person must have written to the bot first",
			"TRS-T06 fail the bot is not in the chat 404: add it there, or correct the id; a person must have written to the bot first",
		}},
		{"no right to write", false, func(_ *testing.T, w *ward) {
			group := w.NewSupergroup("Quiet", w.kai)
			group.Adds(w.kai, w.bot)
			group.Restricts(w.kai, w.bot)
			w.named(group)
		}, []string{
			"TRS-T07 fail the bot may not write in the chat -1001000000001: an administrator there gives it the right: members → the bot → send or post messages",
		}},
		{"a chat that cannot be looked at", false, func(_ *testing.T, w *ward) {
			group := w.NewGroup("Family", w.kai)
			group.Adds(w.kai, w.bot)
			w.named(group)
			w.Fault(fake.CallFault{Do: fake.Refuse, Method: "getChat", Status: 500, Description: "Internal Server Error"})
		}, []string{
			"TRS-T09 fail the chat -4000000001 cannot be looked at: 500 Internal Server Error: try again; if it stays so, see the server's log",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := admit(t, test.privacy)
				test.plant(t, w)
				var got []string
				for _, f := range w.client(t).Examine(t.Context(), w.chats, false) {
					got = append(got, fmt.Sprintf("%s %s %s: %s", f.Code, f.Level, f.What, f.Mend))
					if strings.Contains(f.What+f.Mend, string(w.token)) {
						t.Errorf("the token is in %q", f.What+f.Mend)
					}
				}
				testutil.Same(t, "findings", test.want, got)
			})
		})
	}
}

// A client that receives is not thrown off its own token, and an examination
// confirms no update.
func TestExaminationDisturbsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		for _, f := range w.client.Examine(t.Context(), nil, false) {
			if f.Level != adapters.Fine {
				t.Errorf("found %+v", f)
			}
		}
		other, err := telegram.New(telegram.Options{Token: token, APIURL: "http://telegram.test", HTTPClient: w.http})
		testutil.OK(t, err)
		for _, f := range other.Examine(t.Context(), nil, true) {
			if f.Level != adapters.Fine {
				t.Errorf("found %+v beside who serves", f)
			}
		}
		w.bot.Direct(w.kai).Says(w.kai, "still there?", faketelegram.PostOptions{})
		if _, m := message(t, w.inbox.take()); m.Text != "still there?" {
			t.Errorf("received %+v", m)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := admit(t, false)
		w.bot.Direct(w.kai).Says(w.kai, "hello", faketelegram.PostOptions{})
		w.client(t).Examine(t.Context(), nil, false)
		if n := w.bot.Pending(); n != 1 {
			t.Errorf("%d updates are left, want the one", n)
		}
	})
}

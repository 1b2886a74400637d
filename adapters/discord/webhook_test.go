package discord_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/discord"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

const hookPath = "/discord/ada"

// calledWorld is a world whose bot is called with interactions.
func calledWorld(t *testing.T) *world {
	t.Helper()
	var network fake.MemoryNetwork
	ln, err := network.Listen("trestle.test")
	testutil.OK(t, err)
	client := network.Client()
	w := newWorld(t, fakediscord.Options{Client: client}, fakediscord.BotProfile{InteractionsURL: "http://trestle.test" + hookPath})
	w.client = w.calledClient()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	mux := http.NewServeMux()
	mux.Handle(w.client.HookPath(), w.client)
	go func() { served <- fake.ServeUntilDone(ctx, ln, mux) }()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return w
}

// calledClient is an adapter that Discord was told to call.
func (w *world) calledClient() *discord.Client {
	w.t.Helper()
	c, err := discord.New(discord.Options{Token: rigToken, APIURL: "http://discord.test", HTTPClient: w.http, HookPath: hookPath})
	testutil.OK(w.t, err)
	if _, err := c.Connect(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// hookCall makes one signed call by hand.
func (w *world) hookCall(body string, change func(*http.Request)) int {
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, hookPath, strings.NewReader(body))
	w.bot.Sign(r.Header, []byte(body), time.Now())
	if change != nil {
		change(r)
	}
	answer := httptest.NewRecorder()
	w.client.ServeHTTP(answer, r)
	return answer.Code
}

// slash is an interaction as Discord calls with it.
func (w *world) slash(n int) string {
	return fmt.Sprintf(`{"id":"77%d","token":"act","type":2,"guild_id":"%s","channel_id":"%s","member":{"user":{"id":"%s","username":"kai"},"roles":[]},"data":{"name":"stop"}}`,
		n, w.guild.ID, w.room.ID, w.kai.ID)
}

// PLATFORMS 3.3: interactions may come by calls; the first answer is the call's
// own, after the record has them.
func TestInteractionsMayComeByCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := calledWorld(t)
		if !w.bot.Pings() {
			t.Error("Discord's question whether somebody is there is not answered")
		}
		if kind := w.room.Invokes(w.kai, w.bot, "stop", "now")(); kind != 0 {
			t.Errorf("answered %d while nothing receives", kind)
		}
		w.receive()
		w.inbox.take()
		slash, button := w.room.Invokes(w.kai, w.bot, "stop", "now"), w.room.Presses(w.kai, w.bot, w.says("choose"), "help")
		if slash() != 4 || button() != 6 {
			t.Errorf("answered %d and %d, want 4 and 6", slash(), button())
		}
		var commands []string
		for _, u := range w.inbox.take() {
			switch b := u.Body.(type) {
			case adapters.IncomingMessage:
				if b.Command != nil {
					commands = append(commands, b.Command.Name+" "+b.Command.Args)
				}
			case adapters.ChoicePicked:
				commands = append(commands, b.Value)
			}
		}
		if got := strings.Join(commands, ", "); got != "stop now, help" {
			t.Errorf("recorded %q", got)
		}
		release := w.inbox.block()
		if kind := w.room.Invokes(w.kai, w.bot, "stop", "")(); kind != 0 {
			t.Errorf("answered %d before the record had it", kind)
		}
		release()
		pass(time.Minute)
		if n := w.hookCall(w.slash(1), nil); n != http.StatusOK {
			t.Errorf("after the record came back: %d", n)
		}
	})
}

// PLATFORMS 3.3: the first answer repeats the question, cut to Discord's limit for a
// message: Discord would refuse a longer one and show that the application did not
// respond.
func TestTheFirstAnswerToALongCommandFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := calledWorld(t)
		w.receive()
		w.inbox.take()
		for _, letter := range []string{"a", "*", "😀"} {
			body := strings.Replace(w.slash(1), `"name":"stop"`, `"name":"ask","options":[{"name":"text","type":3,"value":"`+strings.Repeat(letter, 3000)+`"}]`, 1)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, hookPath, strings.NewReader(body))
			w.bot.Sign(r.Header, []byte(body), time.Now())
			answer := httptest.NewRecorder()
			w.client.ServeHTTP(answer, r)
			var said struct {
				Data struct {
					Content string `json:"content"`
				} `json:"data"`
			}
			testutil.OK(t, json.Unmarshal(answer.Body.Bytes(), &said))
			if n := len(utf16.Encode([]rune(said.Data.Content))); n > 2000 || n < 1500 || !strings.HasSuffix(said.Data.Content, "…") {
				t.Errorf("%s: %d units: %.80q", letter, n, said.Data.Content)
			}
		}
	})
}

// SECURITY S9: a replay is answered 200 and has the same key; an old one is 401.
func TestAReplayedInteractionIsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := calledWorld(t)
		w.receive()
		w.inbox.take()
		var first http.Header
		for range 3 {
			if code := w.hookCall(w.slash(5), func(r *http.Request) { first = r.Header.Clone() }); code != http.StatusOK {
				t.Errorf("answered %d", code)
			}
		}
		keys := map[string]bool{}
		for _, u := range w.inbox.take() {
			keys[u.Key] = true
		}
		if len(keys) != 1 {
			t.Errorf("keys %v, want one", keys)
		}
		pass(5*time.Minute + 2*time.Second)
		if code := w.hookCall(w.slash(5), func(r *http.Request) { r.Header = first }); code != http.StatusUnauthorized {
			t.Errorf("the same call, five minutes later, is answered %d", code)
		}
	})
}

// SECURITY S9: ten thousand forged calls, none accepted, none read.
func TestForgedInteractionsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := calledWorld(t)
		w.receive()
		w.inbox.take()
		other := w.AddBot(fakediscord.BotProfile{Token: "another", Name: "another"})
		random := rand.New(rand.NewPCG(1, 2))
		const signed, stamped = "X-Signature-Ed25519", "X-Signature-Timestamp"
		flip := func(s []byte) []byte {
			s[random.IntN(len(s))] ^= 1 // never a letter's other case, which means the same
			return s
		}
		forge := []func(r *http.Request, body string){
			func(r *http.Request, _ string) { r.Header.Del(signed) },
			func(r *http.Request, _ string) { r.Header.Del(stamped) },
			func(r *http.Request, _ string) { r.Header.Add(signed, r.Header.Get(signed)) },
			func(r *http.Request, _ string) { r.Header.Add(stamped, "1") },
			func(r *http.Request, _ string) { r.Header.Set(signed, "") },
			func(r *http.Request, _ string) { r.Header.Set(signed, r.Header.Get(signed)[2:]) },
			func(r *http.Request, _ string) { r.Header.Set(stamped, r.Header.Get(stamped)+" ") },
			func(r *http.Request, _ string) { r.Header.Set("Content-Encoding", "gzip") },
			func(r *http.Request, body string) { other.Sign(r.Header, []byte(body), time.Now()) },
			func(r *http.Request, body string) {
				w.bot.Sign(r.Header, []byte(body), time.Now().Add(-302*time.Second))
			},
			func(r *http.Request, body string) {
				w.bot.Sign(r.Header, []byte(body), time.Now().Add(302*time.Second))
			},
			func(r *http.Request, body string) { r.Body = io.NopCloser(strings.NewReader(" " + body)) },
			func(r *http.Request, body string) { r.Body = io.NopCloser(bytes.NewReader(flip([]byte(body)))) },
			func(r *http.Request, _ string) { r.Header.Set(signed, string(flip([]byte(r.Header.Get(signed))))) },
			func(r *http.Request, body string) {
				r.Body = io.NopCloser(strings.NewReader(body + strings.Repeat(" ", 1<<20)))
			},
		}
		for i := range testutil.Repeats(10_000) {
			body := w.slash(i)
			code := w.hookCall(body, func(r *http.Request) { forge[i%len(forge)](r, body) })
			if code != http.StatusUnauthorized && code != http.StatusRequestEntityTooLarge {
				t.Fatalf("forgery %d, number %d, is answered %d", i%len(forge), i, code)
			}
		}
		if got := w.inbox.take(); len(got) != 0 {
			t.Errorf("%d forgeries were recorded", len(got))
		}
		if n := w.client.RefusedCalls(); n != int64(testutil.Repeats(10_000)) {
			t.Errorf("%d are counted", n)
		}
	})
}

// SECURITY S9: without Discord's key nothing could be proved.
func TestWithoutAKeyNoCallIsProved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := calledWorld(t)
		c, err := discord.New(discord.Options{Token: rigToken, APIURL: "http://discord.test", HTTPClient: w.http})
		testutil.OK(t, err)
		if c.HookPath() != "" {
			t.Error("an account that Discord was not told of wants to be called")
		}
		w.client = c // which has not connected, so that it knows no key
		if code := w.hookCall(w.slash(1), nil); code != http.StatusUnauthorized {
			t.Errorf("answered %d", code)
		}
	})
}

package discord_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// world is a fake with a bot and a person on a server, on a network in memory.
type world struct {
	*discord.Server
	t       *testing.T
	bot     *discord.BotUser
	maya    *discord.HumanUser
	room    *discord.GuildChannel
	network *fake.MemoryNetwork
	http    *http.Client
}

func newWorld(t *testing.T, o discord.Options, p discord.BotProfile) *world {
	t.Helper()
	w := &world{Server: discord.New(o), t: t, network: new(fake.MemoryNetwork)}
	p.Token, p.Name = "t", "ada"
	w.bot, w.maya = w.AddBot(p), w.AddPerson(discord.UserProfile{Name: "Maya"})
	g := w.NewGuild("Family", w.maya)
	w.room = g.NewChannel("general", discord.TextChannel)
	g.Adds(w.bot, 0)
	w.http = w.network.Client()
	ln, err := w.network.Listen("discord.test")
	testutil.OK(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- w.Serve(ctx, ln) }()
	t.Cleanup(func() {
		w.http.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return w
}

// post makes a call as the bot and returns its status and body.
func (w *world) post(path, body string) (int, http.Header, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, "http://discord.test/api/v10"+path, strings.NewReader(body))
	testutil.OK(w.t, err)
	r.Header.Set("Authorization", "Bot t")
	resp, err := w.http.Do(r)
	testutil.OK(w.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	testutil.OK(w.t, err)
	return resp.StatusCode, resp.Header, string(raw)
}

func (w *world) send(body string) (int, string) {
	status, _, answer := w.post("/channels/"+w.room.ID.String()+"/messages", body)
	return status, answer
}

// socket is a client of the gateway.
type socket struct {
	*websocket.Conn
	t *testing.T
}

func (w *world) dial(query string) *socket {
	w.t.Helper()
	d := websocket.Dialer{NetDialContext: w.network.DialContext}
	ws, resp, err := d.DialContext(w.t.Context(), "ws://discord.test/gateway?v=10&encoding=json"+query, nil)
	testutil.OK(w.t, err)
	_ = resp.Body.Close()
	w.t.Cleanup(func() { _ = ws.Close() })
	return &socket{ws, w.t}
}

type event struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

func (s *socket) say(op int, data string) {
	s.t.Helper()
	testutil.OK(s.t, s.WriteJSON(map[string]any{"op": op, "d": json.RawMessage(data)}))
}

// until reads until an event of that name, or of that operation.
func (s *socket) until(op int, name string) event {
	s.t.Helper()
	for {
		_, raw, err := s.ReadMessage()
		if err != nil {
			s.t.Fatalf("waiting for op %d %s: %v", op, name, err)
		}
		var e event
		testutil.OK(s.t, json.Unmarshal(raw, &e))
		if e.Op == op && e.Type == name {
			return e
		}
	}
}

// closed reads to the end and returns the close code.
func (s *socket) closed() int {
	s.t.Helper()
	for {
		_, _, err := s.ReadMessage()
		if c, ok := err.(*websocket.CloseError); ok { //nolint:errorlint // ReadMessage returns it bare
			return c.Code
		}
		if err != nil {
			s.t.Fatalf("ended with %v, want a close code", err)
		}
	}
}

const everything = `{"token":"Bot t","intents":53608447,"properties":{}}`

// PLATFORMS 3.3, DELIVERY 1.1.
func TestANonceIsEnforcedForSomeMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, discord.Options{}, discord.BotProfile{})
		const same = `{"content":"x","nonce":"n","enforce_nonce":true}`
		for _, body := range []string{same, same, `{"content":"x","nonce":"n"}`, same} {
			if status, answer := w.send(body); status != http.StatusOK {
				t.Fatalf("%d %s", status, answer)
			}
		}
		if got := len(w.room.Sent(w.bot)); got != 2 {
			t.Errorf("%d messages, want the nonce's and the one that does not enforce it", got)
		}
		<-time.After(time.Hour)
		w.send(same)
		if got := len(w.room.Sent(w.bot)); got != 3 {
			t.Errorf("%d messages, want one more: the nonce is forgotten", got)
		}
		if status, _ := w.send(`{"content":"x","nonce":"12345678901234567890123456"}`); status != http.StatusBadRequest {
			t.Errorf("a nonce of 26 characters: %d", status)
		}
	})
}

func TestWhomAMessageCallsAndWhatItUnfurls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, discord.Options{}, discord.BotProfile{})
		call := "<@" + w.maya.ID.String() + "> @everyone https://a.example <https://b.example>"
		for _, test := range []struct {
			more     string
			called   int
			unfurled int
		}{
			{``, 2, 1},
			{`,"allowed_mentions":{"parse":[]}`, 0, 1},
			{`,"allowed_mentions":{"parse":[],"users":["` + w.maya.ID.String() + `"]},"flags":4`, 1, 0},
			{`,"allowed_mentions":{"parse":["everyone"]},"flags":4`, 1, 0},
		} {
			before := w.Ledger()
			w.send(`{"content":"` + call + `"` + test.more + `}`)
			after := w.Ledger()
			if got := len(after.Called) - len(before.Called); got != test.called {
				t.Errorf("%q calls %d, want %d", test.more, got, test.called)
			}
			if got := len(after.Unfurled) - len(before.Unfurled); got != test.unfurled {
				t.Errorf("%q unfurls %d, want %d", test.more, got, test.unfurled)
			}
		}
	})
}

func TestLimitsAreNamedAndHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, discord.Options{Limits: true}, discord.BotProfile{})
		path := "/channels/" + w.room.ID.String() + "/messages"
		for left := 4; left >= 0; left-- {
			status, h, _ := w.post(path, `{"content":"x"}`)
			if got := h.Get("X-RateLimit-Remaining"); status != http.StatusOK || got != string(rune('0'+left)) {
				t.Errorf("%d, %s left, want %d", status, got, left)
			}
		}
		status, h, body := w.post(path, `{"content":"x"}`)
		if status != http.StatusTooManyRequests || h.Get("Retry-After") != "5" || !strings.Contains(body, `"retry_after":5`) {
			t.Errorf("%d %v %s", status, h, body)
		}
		<-time.After(5 * time.Second)
		if status, _, body := w.post(path, `{"content":"x"}`); status != http.StatusOK {
			t.Errorf("after the wait %d %s", status, body)
		}
	})
}

// docs.discord.com, topics/opcodes-and-status-codes.
func TestTheGatewaysCloseCodes(t *testing.T) {
	for name, test := range map[string]struct {
		say  func(*socket)
		want int
	}{
		"bad JSON":            {func(s *socket) { _ = s.WriteMessage(websocket.TextMessage, []byte("{")) }, 4002},
		"unknown operation":   {func(s *socket) { s.say(99, `{}`) }, 4001},
		"not identified":      {func(s *socket) { s.say(3, `{}`) }, 4003},
		"bad token":           {func(s *socket) { s.say(2, `{"token":"no","intents":1}`) }, 4004},
		"identified twice":    {func(s *socket) { s.say(2, `{"token":"t","intents":1}`); s.say(2, `{"token":"t","intents":1}`) }, 4005},
		"no such shard":       {func(s *socket) { s.say(2, `{"token":"t","intents":1,"shard":[3,2]}`) }, 4010},
		"unknown intents":     {func(s *socket) { s.say(2, `{"token":"t","intents":-1}`) }, 4013},
		"intent not allowed":  {func(s *socket) { s.say(2, `{"token":"t","intents":32768}`) }, 4014},
		"resume with bad seq": {func(s *socket) { s.say(2, `{"token":"t","intents":1}`); s.resumeFrom(99) }, 4007},
		"more than 120 a min.": {func(s *socket) {
			for range 121 {
				s.say(1, `null`)
			}
		}, 4008},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, discord.Options{}, discord.BotProfile{NoContent: true})
				s := w.dial("")
				s.until(10, "")
				heard := make(chan int, 1)
				if strings.HasPrefix(name, "more") { // its answers must be read meanwhile
					go func() { heard <- s.closed() }()
					test.say(s)
				} else {
					test.say(s)
					heard <- s.closed()
				}
				if got := <-heard; got != test.want {
					t.Errorf("closed with %d, want %d", got, test.want)
				}
			})
		})
	}
}

// resumeFrom resumes the session just begun, on the same connection.
func (s *socket) resumeFrom(seq int) {
	var ready struct {
		Session string `json:"session_id"`
	}
	testutil.OK(s.t, json.Unmarshal(s.until(0, "READY").Data, &ready))
	raw, err := json.Marshal(map[string]any{"token": "t", "session_id": ready.Session, "seq": seq})
	testutil.OK(s.t, err)
	s.say(6, string(raw))
}

// A session is resumed from any number it still holds, in order, and not for ever.
func TestASessionIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, discord.Options{SessionLife: time.Minute}, discord.BotProfile{})
		first := w.dial("")
		first.until(10, "")
		first.say(2, everything)
		var ready struct {
			Session string `json:"session_id"`
		}
		e := first.until(0, "READY")
		if err := json.Unmarshal(e.Data, &ready); err != nil || e.Seq != 1 {
			t.Fatal(e, err)
		}
		_ = first.Close()
		for _, text := range []string{"a", "b"} {
			w.room.Says(w.maya, text, discord.PostOptions{})
		}
		resume := `{"token":"Bot t","session_id":"` + ready.Session + `","seq":1}`
		for range 2 { // as often as one likes
			s := w.dial("")
			s.until(10, "")
			s.say(6, resume)
			s.until(0, "GUILD_CREATE")
			for _, want := range []string{"a", "b"} {
				if got := s.until(0, "MESSAGE_CREATE"); !strings.Contains(string(got.Data), `"content":"`+want+`"`) {
					t.Errorf("replayed %s, want %s", got.Data, want)
				}
			}
			s.until(0, "RESUMED")
			_ = s.Close()
		}
		<-time.After(2 * time.Minute)
		late := w.dial("")
		late.until(10, "")
		late.say(6, resume)
		if got := late.until(9, ""); string(got.Data) != "false" {
			t.Errorf("a session that is too old is answered %s", got.Data)
		}
	})
}

// Closing with 1000 ends the session, and events without their intent are not sent.
func TestANormalClosureEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, discord.Options{}, discord.BotProfile{})
		s := w.dial("")
		s.until(10, "")
		s.say(2, everything)
		var ready struct {
			Session string `json:"session_id"`
		}
		testutil.OK(t, json.Unmarshal(s.until(0, "READY").Data, &ready))
		_ = s.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second))
		_ = s.Close()
		synctest.Wait()
		again := w.dial("")
		again.until(10, "")
		again.say(6, `{"token":"t","session_id":"`+ready.Session+`","seq":1}`)
		if got := again.until(9, ""); string(got.Data) != "false" {
			t.Errorf("answered %s", got.Data)
		}
	})
}

// Whole streams are compressed for those who ask for it.
func TestTheStreamIsCompressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, discord.Options{}, discord.BotProfile{})
		s := w.dial("&compress=zlib-stream")
		var all bytes.Buffer
		var z io.ReadCloser
		for i, want := range []string{`"op":10`, `"t":"READY"`} {
			kind, raw, err := s.ReadMessage()
			if err != nil || kind != websocket.BinaryMessage || !bytes.HasSuffix(raw, []byte{0, 0, 0xff, 0xff}) {
				t.Fatalf("frame of kind %d, %v: % x", kind, err, raw)
			}
			all.Write(raw)
			if i == 0 {
				if z, err = zlib.NewReader(&all); err != nil {
					t.Fatal(err)
				}
				s.say(2, everything)
			}
			got := make([]byte, 4096)
			n, _ := z.Read(got) // the stream has not ended
			if !strings.Contains(string(got[:n]), want) {
				t.Errorf("unpacked %q, want %s", got[:n], want)
			}
		}
	})
}

// Without the intent the words of others are not told, but for those to the bot.
func TestWithoutTheContentIntentThereAreNoWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, discord.Options{}, discord.BotProfile{})
		s := w.dial("")
		s.until(10, "")
		s.say(2, `{"token":"t","intents":513}`)
		s.until(0, "GUILD_CREATE")
		w.room.Says(w.maya, "not for you", discord.PostOptions{})
		w.room.Says(w.maya, "for <@"+w.bot.ID.String()+">", discord.PostOptions{})
		for _, want := range []string{`"content":""`, `"content":"for \u003c@` + w.bot.ID.String()} {
			if got := s.until(0, "MESSAGE_CREATE"); !strings.Contains(string(got.Data), want) {
				t.Errorf("told %s, want %s", got.Data, want)
			}
		}
	})
}

// `trestle fake discord` and other processes drive the world over HTTP.
func TestControl(t *testing.T) {
	d := discord.New(discord.Options{})
	control := d.Control()
	post := func(verb, body string) string {
		t.Helper()
		w := httptest.NewRecorder()
		control.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/control/"+verb, strings.NewReader(body)))
		var m struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &m); w.Code != http.StatusOK || err != nil {
			t.Fatalf("%s: %d %s", verb, w.Code, w.Body)
		}
		return m.ID
	}
	maya := post("people", `{"name":"Maya"}`)
	bot := post("bots", `{"token":"t","name":"ada"}`)
	guild := post("guilds", `{"name":"Family","person":"`+maya+`"}`)
	room := post("channels", `{"guild":"`+guild+`","name":"general"}`)
	post("adds", `{"guild":"`+guild+`","bot":"`+bot+`"}`)
	said := post("says", `{"channel":`+room+`,"person":`+maya+`,"text":"hello"}`)
	post("edits", `{"channel":"`+room+`","message":"`+said+`","text":"goodbye"}`)
	w := httptest.NewRecorder()
	control.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/control/says", strings.NewReader(`{"channel":"1"}`)))
	if w.Code != http.StatusNotFound {
		t.Errorf("a channel that is not there: %d", w.Code)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v10/channels/"+room+"/messages", http.NoBody)
	r.Header.Set("Authorization", "Bot t")
	w = httptest.NewRecorder()
	d.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), `"content":"goodbye"`) {
		t.Errorf("the channel holds %s", w.Body)
	}
}

package telegram

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// hooked returns a client that is called at /telegram/ada, receiving into to.
func hooked(t *testing.T, token string, to adapters.UpdateSink) *Client {
	t.Helper()
	s := &script{t: t, reply: func(a asked) (int, string) {
		if a.Method == "getWebhookInfo" {
			return 200, `{"ok":true,"result":{"url":"https://bots.example/telegram/ada"}}`
		}
		return 200, `{"ok":true,"result":true}`
	}}
	transport := http.RoundTripper(s)
	if token != testToken {
		transport = renamed{s, token}
	}
	c, err := New(Options{
		Token: adapters.SecretString(token), APIURL: "http://telegram.test", WebhookURL: "https://bots.example/telegram/ada",
		HTTPClient: &http.Client{Transport: transport},
	})
	testutil.OK(t, err)
	if to == nil {
		return c
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := c.Receive(ctx, nil, to); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	for c.hook.enter() == nil { // the session begins before setWebhook is called
		if len(s.calls("getMe")) > 1 {
			t.Fatal("it never begins")
		}
	}
	c.hook.session.calls.Done()
	return c
}

// renamed plays the script for another token.
type renamed struct {
	*script
	token string
}

func (r renamed) RoundTrip(q *http.Request) (*http.Response, error) {
	q.URL.Path = strings.Replace(q.URL.Path, r.token, testToken, 1)
	return r.script.RoundTrip(q)
}

// ledger is a sink that knows what it has had, as the record does.
type ledger struct {
	mu     sync.Mutex // guards what follows
	effect map[string]int
	second int
	sink
}

func (l *ledger) Accept(_ context.Context, b adapters.UpdateBatch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range b.Updates {
		if l.effect[u.Key]++; l.effect[u.Key] > 1 {
			l.second++
		}
	}
	return nil
}

// A callOf is one call of the webhook, as a stranger or Telegram makes it.
type callOf struct {
	header  http.Header
	body    []byte
	chunked bool
}

func (k callOf) send(t *testing.T, client *http.Client, at string) int {
	t.Helper()
	var body io.Reader = bytes.NewReader(k.body)
	if k.chunked {
		body = io.MultiReader(body) // of no known length
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, body)
	testutil.OK(t, err)
	r.Header = k.header.Clone()
	resp, err := client.Do(r)
	testutil.OK(t, err)
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// forge returns a call that does not come from Telegram.
func forge(rng *rand.Rand, i int, own, other string) callOf {
	k := callOf{header: http.Header{"Content-Type": {"application/json"}}, body: []byte(says(i, "forged"))}
	flipped := []byte(own)
	for at := rng.IntN(len(own)); ; { // one bit, but no byte that a header cannot hold
		if flipped[at] = own[at] ^ 1<<rng.IntN(7); flipped[at] > ' ' && flipped[at] < 0x7f {
			break
		}
	}
	switch i % 14 {
	case 0, 1, 2, 3, 4:
		k.header.Set(secretHeader, string(flipped))
	case 5:
		k.header.Set(secretHeader, other)
	case 6: // missing
	case 7:
		k.header[secretHeader] = []string{own, own}
	case 8:
		k.header[secretHeader] = []string{string(flipped), own}
	case 9:
		k.header.Set(secretHeader, own[:rng.IntN(len(own))])
	case 10:
		k.header.Set(secretHeader, own+string(rune('a'+rng.IntN(26))))
	case 11:
		k.header.Set(secretHeader, string(flipped))
		k.chunked = true
	case 12:
		k.header.Set(secretHeader, string(flipped))
		k.body = fmt.Appendf(nil, `{"message":{"text":"forged","chat":{"type":"private","id":5},"message_id":%d,"date":1},"update_id":%d}`, i, i)
	case 13:
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(k.body)
		_ = w.Close()
		k.body = z.Bytes()
		k.header.Set("Content-Encoding", "gzip")
		k.header.Set(secretHeader, string(flipped))
		if i%4 == 1 {
			k.header.Set(secretHeader, own) // Telegram compresses nothing
		}
	}
	return k
}

// SECURITY S9: ten thousand forgeries, a thousand true calls, each of those
// three times.
func TestWebhookTakesOnlyTelegramAndOnlyOnce(t *testing.T) {
	to := &ledger{effect: map[string]int{}}
	c := hooked(t, testToken, to)
	other := hooked(t, "999:AAother", nil).hook.secret
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	at := server.URL + c.HookPath()

	rng := rand.New(rand.NewPCG(9, 9))
	accepted := 0
	for i := range testutil.Repeats(10_000) {
		if forge(rng, i, c.hook.secret, other).send(t, server.Client(), at) < 300 {
			accepted++
		}
	}
	if accepted != 0 || len(to.effect) != 0 {
		t.Errorf("%d forgeries accepted, %d with an effect", accepted, len(to.effect))
	}
	if n := c.RefusedCalls(); n != int64(testutil.Repeats(10_000)) {
		t.Errorf("%d are counted", n)
	}
	taken := 0
	for range 3 {
		for i := range 1000 {
			k := callOf{header: http.Header{secretHeader: {c.hook.secret}}, body: []byte(says(20_000+i, "true")), chunked: i%7 == 0}
			if k.send(t, server.Client(), at) == 200 {
				taken++
			}
		}
	}
	if taken != 3000 || len(to.effect) != 1000 {
		t.Errorf("%d of 3000 true calls answered 200, %d updates, want 1000", taken, len(to.effect))
	}
	// A replay is handed in under the same key, which the record has already.
	if to.second != 2000 {
		t.Errorf("%d replays came under their first key, want 2000", to.second)
	}
	t.Logf("S9: 10000 forged, %d accepted; 1000 valid, %d taken; 2000 replays, %d new keys", accepted, len(to.effect), len(to.effect)-1000)
}

func TestWebhookRefusesWhatIsNoCall(t *testing.T) {
	to := &sink{}
	c := hooked(t, testToken, to)
	for _, test := range []struct {
		name, method, body string
		want               int
	}{
		{"GET", http.MethodGet, "", http.StatusMethodNotAllowed},
		{"too long", http.MethodPost, strings.Repeat("x", maxCall+1), http.StatusRequestEntityTooLarge},
		{"longest", http.MethodPost, `{"update_id":1` + strings.Repeat(" ", maxCall-15) + "}", http.StatusOK},
		{"not JSON", http.MethodPost, `{"update_id":2,`, http.StatusOK},
		{"no update", http.MethodPost, `[]`, http.StatusOK},
	} {
		r := httptest.NewRequestWithContext(t.Context(), test.method, c.HookPath(), strings.NewReader(test.body))
		r.Header.Set(secretHeader, c.hook.secret)
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%s: got %d, want %d", test.name, w.Code, test.want)
		}
	}
	if n := c.RefusedCalls(); n != 2 {
		t.Errorf("%d calls are counted as refused, want 2", n)
	}
	for _, u := range to.updates() { // malformed JSON is kept as it came, and answered
		if _, ok := u.Body.(adapters.UnreadableUpdate); !ok || len(u.Raw) == 0 {
			t.Errorf("got %+v", u)
		}
	}
	if n := len(to.updates()); n != 3 {
		t.Errorf("%d updates recorded, want 3", n)
	}
}

// R-TG: 200 only after the commit, 503 with Retry-After on trouble and while
// nothing receives.
func TestWebhookAsksTelegramToComeAgain(t *testing.T) {
	call := func(c *Client) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.HookPath(), strings.NewReader(says(1, "a")))
		r.Header.Set(secretHeader, c.hook.secret)
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		return w
	}
	if w := call(hooked(t, testToken, nil)); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("nobody receives: got %d %v", w.Code, w.Header())
	}
	to := &ledger{effect: map[string]int{}}
	c := hooked(t, testToken, to)
	c.hook.session.sink = &sink{refuse: 1}
	if w := call(c); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("the sink refuses: got %d %v", w.Code, w.Header())
	}
	if w := call(c); w.Code != 200 {
		t.Errorf("the next time: got %d", w.Code)
	}
}

// One secret for one bot and one purpose, of the letters Telegram takes.
func TestWebhookSecretBelongsToOneBot(t *testing.T) {
	a, b := hookSecret("1:a"), hookSecret("1:b")
	if a == b || a != hookSecret("1:a") || len(a) < 32 || strings.Contains(a, "1:a") ||
		strings.Trim(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestWebhookAddressIsChecked(t *testing.T) {
	for address, ok := range map[string]bool{
		"": true, "https://a.example/tg": true, "https://a.example:8443/tg/ada": true,
		"http://a.example/tg": false, "https://a.example": false, "https://a.example/": false, "https://u:p@a.example/tg": false, "https:///tg": false, "tg": false, "https://a.example/tg?x=1": false,
	} {
		if _, err := New(Options{Token: testToken, WebhookURL: address}); (err == nil) != ok {
			t.Errorf("%q: got %v", address, err)
		}
	}
}

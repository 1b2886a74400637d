package discord

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/trestle-bridge/trestle/adapters/httpx"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// SECURITY S16, PLATFORMS 0.10: the token goes to the API's own host alone, in no call
// whose address is a credential, and never behind a redirect.
func TestTheTokenGoesToTheAPIAlone(t *testing.T) {
	var carried []string
	transport := httpx.RoundTripFunc(func(r *http.Request) (*http.Response, error) {
		carried = append(carried, r.Header.Get("Authorization"))
		answer := httptest.NewRecorder()
		http.Redirect(answer, r, "http://elsewhere.test/", http.StatusTemporaryRedirect)
		return answer.Result(), nil
	})
	c := client(Options{HTTPClient: &http.Client{Transport: transport}}, "the-token", "http://api.test/api/v9")
	for _, test := range []struct {
		name, url, want string
		bare            bool
	}{
		{"the API", "http://api.test/api/v9/users/@me", "Bot the-token", false},
		{"a webhook", "http://api.test/api/v9/webhooks/1/secret", "", true},
		{"another host", "http://cdn.test/attachments/1", "", false},
		{"another port", "http://api.test:81/api/v9/users/@me", "", false},
	} {
		ctx := t.Context()
		if test.bare {
			ctx = context.WithValue(ctx, bare{}, true)
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, test.url, nil)
		testutil.OK(t, err)
		carried = nil
		resp, err := c.Do(r)
		testutil.OK(t, err)
		_ = resp.Body.Close() // it is empty
		if len(carried) != 1 || carried[0] != test.want || r.Header.Get("Authorization") != "" {
			t.Errorf("%s: the requests carry %q, want %q in one", test.name, carried, test.want)
		}
	}
}

// PLATFORMS 3.3: before Discord shuts us out for ten thousand refusals in ten minutes,
// no more calls are made until those are over.
func TestRefusalsEndBeforeTheBan(t *testing.T) {
	var l limits
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := channelRoute("create message", http.MethodPost, "1", "/messages")
	for n := range maxRefused {
		if wait := l.take(r, now); wait > 0 {
			t.Fatalf("after %d refusals: wait %s", n, wait)
		}
		l.learn(r, httpx.CallOutcome{Status: []int{401, 403, 429}[n%3]}, now)
	}
	if wait := l.take(r, now.Add(time.Minute)); wait != refusedWindow-time.Minute {
		t.Errorf("after %d refusals: wait %s, want to the end of the ten minutes", maxRefused, wait)
	}
	if wait := l.take(r, now.Add(refusedWindow)); wait != 0 {
		t.Errorf("ten minutes later: wait %s", wait)
	}
}

// F45, PLATFORMS 3.3: what a refusal says of its bucket holds for every route of it,
// whatever the answer says is left.
func TestARefusalHoldsItsBucket(t *testing.T) {
	var l limits
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	edit, post := channelRoute("edit message", http.MethodPatch, "1", ""), channelRoute("create message", http.MethodPost, "1", "")
	header := http.Header{"X-Ratelimit-Bucket": {"b"}, "X-Ratelimit-Remaining": {"3"}, "X-Ratelimit-Reset-After": {"1"}}
	l.learn(edit, httpx.CallOutcome{Status: http.StatusOK, Header: header}, now)
	l.learn(post, httpx.CallOutcome{Status: http.StatusTooManyRequests, Header: header, Whole: []byte(`{"retry_after":7}`)}, now)
	for _, r := range []route{edit, post} {
		if wait := l.take(r, now); wait != 7*time.Second {
			t.Errorf("%s: wait %s, want what the refusal said", r.op, wait)
		}
	}
	if wait := l.take(channelRoute("create message", http.MethodPost, "2", ""), now); wait != 0 {
		t.Errorf("another channel: wait %s", wait)
	}
}

// PLATFORMS 3.3: a limit for the whole bot holds every call but those to webhooks and
// interactions, which Discord counts by themselves.
func TestTheBotsLimitLeavesInteractionsAlone(t *testing.T) {
	var l limits
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	post := channelRoute("create message", http.MethodPost, "1", "")
	l.learn(post, httpx.CallOutcome{Status: http.StatusTooManyRequests, Whole: []byte(`{"retry_after":7,"global":true}`)}, now)
	for _, c := range []struct {
		r    route
		want time.Duration
	}{
		{post, 7 * time.Second},
		{guildRoute("get guild", "1", ""), 7 * time.Second},
		{route{op: "answer interaction", method: http.MethodPost, bare: true}, 0},
	} {
		if wait := l.take(c.r, now); wait != c.want {
			t.Errorf("%s: wait %s, want %s", c.r.op, wait, c.want)
		}
	}
}

// R-DC: a file that was fetched over HTTP/2 leaves the way to the gateway open, which
// speaks HTTP/1.1.
func TestTheGatewayIsReachedAfterAFile(t *testing.T) {
	upgrade := websocket.Upgrader{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !websocket.IsWebSocketUpgrade(r) {
			_, _ = w.Write([]byte("a file")) // it is read or not
			return
		}
		if ws, err := upgrade.Upgrade(w, r, nil); err == nil {
			_ = ws.Close() // it was reached
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	c, err := New(Options{Token: "the-token"})
	testutil.OK(t, err)
	trusting := server.Client().Transport.(*http.Transport).TLSClientConfig
	c.files.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: trusting.RootCAs, MinVersion: tls.VersionTLS12}
	s := &shard{client: c}
	for range 2 {
		ws, err := s.dial(t.Context(), "wss"+strings.TrimPrefix(server.URL, "https"))
		testutil.OK(t, err)
		ws.close(nil)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		testutil.OK(t, err)
		resp, err := c.files.Do(r)
		testutil.OK(t, err)
		_ = resp.Body.Close() // nothing of it is wanted
		if resp.ProtoMajor != 2 {
			t.Fatalf("fetched over %s, want HTTP/2", resp.Proto)
		}
	}
}

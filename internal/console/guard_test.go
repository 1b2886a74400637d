package console_test

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A call is a request as it reaches the console.
type call struct {
	method, target, host, peer, local, body string
	header                                  http.Header
}

// do makes the call and returns what it is answered with.
func do(tb testing.TB, h http.Handler, c call) *httptest.ResponseRecorder {
	tb.Helper()
	ctx, stop := context.WithCancel(tb.Context())
	defer stop()
	local := c.local
	if local == "" {
		local = "127.0.0.1:7420"
	}
	ctx = context.WithValue(ctx, http.LocalAddrContextKey, net.Addr(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(local))))
	method := c.method
	if method == "" {
		method = http.MethodGet
	}
	r := httptest.NewRequestWithContext(ctx, method, c.target, strings.NewReader(c.body))
	r.Host, r.RemoteAddr = "127.0.0.1:7420", "127.0.0.1:50000"
	if c.host != "" {
		r.Host = c.host
	}
	if c.peer != "" {
		r.RemoteAddr = c.peer
	}
	maps.Copy(r.Header, c.header)
	rec := httptest.NewRecorder()
	h.ServeHTTP(stopper{rec, stop}, r)
	return rec
}

// A stopper ends a request once it is answered, so that streams end.
type stopper struct {
	*httptest.ResponseRecorder
	stop func()
}

// WriteHeader implements [http.ResponseWriter].
func (s stopper) WriteHeader(code int) {
	s.ResponseRecorder.WriteHeader(code)
	if s.Header().Get("Content-Type") == "text/event-stream" {
		s.stop()
	}
}

func bearer(secret string) http.Header {
	return http.Header{"Authorization": {"Bearer " + secret}}
}

func cookie(secret string) http.Header {
	return http.Header{"Cookie": {"trestle7420=" + secret}}
}

// SECURITY S7: every route, with no, an old, an empty, a wrong and a right credential.
// Only the routes marked as public are served without one.
func TestEveryRouteWantsACredential(t *testing.T) {
	w := consoletest.Open(t)
	life := w.Live("hello")
	token, session := w.Key(console.KeyToken), w.Key(console.KeySession)
	old, gone := w.Key(console.KeyToken), w.Key(console.KeySession)
	for _, k := range []console.IssuedKey{old, gone} {
		testutil.OK(t, w.Store.Keys().DropKey(t.Context(), k.ID))
	}
	open := map[string]bool{"GET /health": true, "GET /login": true, "POST /login": true, "GET /open": true, "GET /static/{file}": true}
	owners := map[string]bool{"POST /api/tokens": true, "DELETE /api/tokens/{id}": true, "POST /api/links": true}
	persons := w.PersonKey(console.PersonAccess{Person: "maya", As: "telegram:1"})
	credentials := []struct {
		name   string
		header http.Header
		good   bool
	}{
		{"none", nil, false},
		{"old token", bearer(old.Secret), false},
		{"old session", cookie(gone.Secret), false},
		{"empty", http.Header{"Authorization": {""}}, false},
		{"empty bearer", bearer(""), false},
		{"empty cookie", cookie(""), false},
		{"wrong", bearer(strings.ToUpper(token.Secret)), false},
		{"beginning", bearer(token.Secret[:len(token.Secret)-1]), false},
		{"longer", bearer(token.Secret + "x"), false},
		{"wrong scheme", http.Header{"Authorization": {"Basic " + token.Secret}}, false},
		{"its hash", bearer(token.Hash), false},
		{"a session as token", bearer(session.Secret), false},
		{"a token as session", cookie(token.Secret), false},
		{"in the address", nil, false},
		{"token", bearer(token.Secret), true},
		{"token of a person", bearer(persons.Secret), false},
		{"session", cookie(session.Secret), true},
	}
	served, refused := 0, 0
	h := w.Console.Handler()
	for _, route := range w.Console.Routes() {
		if !slices.Contains([]console.RouteAccess{console.ForAnyone, console.ForCredential, console.ForPerson, console.ForOwner}, route.Access) {
			t.Errorf("%s does not declare who may call it", route.Pattern)
		}
		pattern := route.Pattern
		method, path, _ := strings.Cut(pattern, " ")
		path = strings.NewReplacer("{$}", "", "{id}", string(life.Closed), "{n}", "0", "{agent}", "ada", "{circle...}", "home", "{file}", "console.css").Replace(path)
		if strings.Contains(pattern, "spaces/{id}") {
			path = strings.Replace(path, string(life.Closed), string(life.Space), 1)
		}
		for n, c := range credentials {
			target := path
			if c.name == "in the address" {
				target += "?token=" + token.Secret + "&k=" + token.Secret + "&access_token=" + token.Secret
			}
			// Every try comes from an address of its own, so that none is turned away
			// for those before it.
			peer := fmt.Sprintf("127.0.%d.%d:1", n, 1+refused%250)
			code := do(t, h, call{method: method, target: target, header: c.header, peer: peer}).Code
			let := code != http.StatusUnauthorized && code != http.StatusForbidden
			want := c.good && !owners[pattern] || open[pattern]
			if route.Access == console.ForPerson {
				want = c.name == "token of a person"
			}
			if pattern == "POST /login" || pattern == "GET /open" {
				want = false // they ask for one themselves
			}
			if pattern == "POST /logout" && c.name == "session" {
				session = w.Key(console.KeySession) // it ended that one
				credentials[n].header = cookie(session.Secret)
			}
			if let != want {
				t.Errorf("%s with %s: got %d", pattern, c.name, code)
			}
			if let {
				served++
			} else {
				refused++
			}
		}
	}
	t.Logf("%d routes × %d credentials: %d refused, %d served, of which 0 should not be", len(w.Console.Routes()), len(credentials), refused, served)
}

// SECURITY S7: loopback is no credential, a proxy that is not listed makes a
// request remote, and an install that is not exposed serves no one remote.
func TestOnlyTheRightCallersAreAskedForACredential(t *testing.T) {
	exposed := console.Access{Token: strings.Repeat("t", 32), Hosts: []string{"trestle.example"}}
	proxied := console.Access{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.7/32")}, Hosts: []string{"trestle.example"}}
	weak := console.Access{Token: strings.Repeat("t", 31)}
	for _, test := range []struct {
		name   string
		access console.Access
		call   call
		want   int
	}{
		{"this machine", console.Access{}, call{}, 401},
		{"v6", console.Access{}, call{host: "[::1]:7420", peer: "[::1]:5"}, 401},
		{"another machine", console.Access{}, call{peer: "192.168.1.9:5", host: "192.168.1.2:7420", local: "192.168.1.2:7420"}, 403},
		{"another machine, weak token", weak, call{peer: "192.168.1.9:5", host: "192.168.1.2:7420", local: "192.168.1.2:7420"}, 403},
		{"another machine, token", exposed, call{peer: "192.168.1.9:5", host: "192.168.1.2:7420", local: "192.168.1.2:7420"}, 401},
		{"through a proxy", console.Access{}, call{header: http.Header{"X-Forwarded-For": {"8.8.8.8"}}}, 403},
		{"through a proxy that lies", console.Access{}, call{header: http.Header{"X-Forwarded-For": {"127.0.0.1"}}}, 403},
		{"by another header", console.Access{}, call{header: http.Header{"Forwarded": {"for=127.0.0.1"}}}, 403},
		{"by via", console.Access{}, call{header: http.Header{"Via": {"1.1 x"}}}, 403},
		{"by scheme alone", console.Access{}, call{header: http.Header{"X-Forwarded-Proto": {"https"}}}, 403},
		{"by real ip", console.Access{}, call{header: http.Header{"X-Real-Ip": {"127.0.0.1"}}}, 403},
		{"unlisted proxy with token set", exposed, call{host: "trestle.example", header: http.Header{"X-Forwarded-For": {"8.8.8.8"}}}, 401},
		{"listed proxy", proxied, call{host: "trestle.example", peer: "10.0.0.7:4", local: "10.0.0.2:7420", header: http.Header{"X-Forwarded-For": {"8.8.8.8"}}}, 401},
		{"beside the proxy", proxied, call{host: "trestle.example", peer: "10.0.0.9:4", local: "10.0.0.2:7420"}, 403},
		{"beside the proxy, with its headers", proxied, call{host: "trestle.example", peer: "10.0.0.9:4", local: "10.0.0.2:7420", header: http.Header{"X-Forwarded-For": {"10.0.0.7"}}}, 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := consoletest.Open(t)
			w.Allow(test.access)
			test.call.target = "/api/spaces"
			if rec := do(t, w.Console.Handler(), test.call); rec.Code != test.want {
				t.Errorf("got %d %s, want %d", rec.Code, rec.Body, test.want)
			}
		})
	}
}

// SECURITY S8: 120 requests by Host, Origin, Sec-Fetch-Site, method and upgrade,
// all with a session as a browser would send it.
func TestForeignPagesGetNothing(t *testing.T) {
	w := consoletest.Open(t)
	life := w.Live("hello")
	session := w.Key(console.KeySession)
	w.Allow(console.Access{Hosts: []string{"trestle.example"}})
	hosts := map[string]bool{ // served or not
		"127.0.0.1:7420": true, "localhost:7420": true, "[::1]:7420": true, "trestle.example": true,
		"evil.example": false, "evil.example:7420": false, "localhost.evil.example:7420": false, "127.0.0.1.nip.io:7420": false,
		"[::ffff:127.0.0.1]:7420": true, "[fe80::1%25lo]:7420": false, "192.168.1.2:7420": false, "127.0.0.1:7420@evil.example": false,
	}
	type origin struct {
		headers []string
		own     bool
	}
	origins := []origin{
		{nil, true}, // no browser, or a link
		{[]string{"Origin", "SELF", "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}, true},
		{[]string{"Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"}, false},
		{[]string{"Origin", "null", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, false},
		{[]string{"Origin", "http://127.0.0.1:9999", "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}, false},
	}
	requests, wrong := 0, 0
	for host, ours := range hosts {
		for _, o := range origins {
			for _, target := range []string{"GET /events", "POST /api/runs/" + string(life.Open) + "/cancel"} {
				method, path, _ := strings.Cut(target, " ")
				h := cookie(session.Secret)
				h.Set("Upgrade", "websocket")
				h["Cookie"] = []string{"trestle=" + session.Secret + "; trestle7420=" + session.Secret}
				for i := 0; i < len(o.headers); i += 2 {
					h.Set(o.headers[i], strings.Replace(o.headers[i+1], "SELF", "http://"+host, 1))
				}
				requests++
				before := len(w.Program.Cancelled())
				rec := do(t, w.Console.Handler(), call{method: method, target: path, host: host, header: h})
				let := rec.Code < 400
				changed := len(w.Program.Cancelled()) > before
				if want := ours && o.own; let != want || changed != (want && method == "POST") {
					wrong++
					t.Errorf("%s from %v to %s: got %d, changed %v", target, o.headers, host, rec.Code, changed)
				}
				if got := rec.Header().Get("Access-Control-Allow-Origin"); got != "" {
					t.Errorf("%s: allows origin %q", target, got)
				}
				if !strings.Contains(rec.Header().Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(rec.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'") {
					t.Errorf("%s to %s: policy %q", target, host, rec.Header().Get("Content-Security-Policy"))
				}
			}
		}
	}
	if requests != 120 {
		t.Errorf("%d requests, want 120", requests)
	}
	t.Logf("%d requests: %d answered wrongly", requests, wrong)
}

// Guessing is limited by address; a caller with the right credential is not shut out by the
// guesses of another who shares the address.
func TestGuessingIsLimited(t *testing.T) {
	w := consoletest.Open(t)
	token, session := w.Key(console.KeyToken), w.Key(console.KeySession)
	h := w.Console.Handler()
	for range 10 {
		if got := do(t, h, call{target: "/api/minds", header: bearer("guess")}).Code; got != 401 {
			t.Fatalf("a wrong token: %d", got)
		}
	}
	if rec := do(t, h, call{target: "/api/minds", header: bearer("guess")}); rec.Code != 429 || rec.Header().Get("Retry-After") == "" {
		t.Errorf("the eleventh: %d", rec.Code)
	}
	if got := do(t, h, call{target: "/api/minds", header: bearer(token.Secret)}).Code; got != 200 {
		t.Errorf("the right one after eleven wrong ones from the same address: %d", got)
	}
	if got := do(t, h, call{target: "/api/minds", header: cookie(session.Secret)}).Code; got != 200 {
		t.Errorf("a session: %d", got)
	}
	if got := do(t, h, call{target: "/api/minds", header: bearer(token.Secret), peer: "127.0.0.2:1"}).Code; got != 200 {
		t.Errorf("from elsewhere: %d", got)
	}
}

// SECURITY S7: what was rotated or revoked opens nothing from the next request on.
func TestRotationCountsAtOnce(t *testing.T) {
	w := consoletest.Open(t)
	first, second := strings.Repeat("1", 40), strings.Repeat("2", 40)
	w.Allow(console.Access{Token: first})
	h := w.Console.Handler()
	login := func(token string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/login", strings.NewReader("token="+token))
		r.Host, r.RemoteAddr = "127.0.0.1:7420", "127.0.0.1:1"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec
	}
	rec := login(first)
	if rec.Code != http.StatusSeeOther {
		t.Fatalf("login: %d", rec.Code)
	}
	c := rec.Result().Cookies()[0]
	if c.Name != "trestle7420" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.MaxAge <= 0 {
		t.Errorf("cookie %+v", c)
	}
	check := func(name string, header http.Header, want int) {
		t.Helper()
		if got := do(t, h, call{target: "/api/minds", header: header}).Code; got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	check("session", cookie(c.Value), 200)
	check("token", bearer(first), 200)
	w.Allow(console.Access{Token: second})
	check("session of the old token", cookie(c.Value), 401)
	check("old token", bearer(first), 401)
	check("new token", bearer(second), 200)
	if login(first).Code != 401 {
		t.Error("the old token still logs in")
	}

	k := w.Key(console.KeyToken)
	opened := login(k.Secret).Result().Cookies()[0]
	check("session of a token", cookie(opened.Value), 200)
	if got := ownerDo(t, w, http.MethodDelete, "/api/tokens/"+k.ID, ""); got.Code != 200 {
		t.Fatalf("revoke: %d", got.Code)
	}
	check("revoked token", bearer(k.Secret), 401)
	check("session of a revoked token", cookie(opened.Value), 401)
}

// ownerDo calls the control socket.
func ownerDo(t *testing.T, w *consoletest.ConsoleWorld, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	rec := httptest.NewRecorder()
	w.Console.Socket().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body)))
	return rec
}

// SECURITY S7: a link opens one browser, once, and for ten minutes.
func TestLinkOpensOneBrowserOnce(t *testing.T) {
	w := consoletest.Open(t)
	h := w.Console.Handler()
	made, err := w.Console.NewLink(t.Context())
	testutil.OK(t, err)
	if left := time.Until(made.Expires); left > 10*time.Minute || left < 9*time.Minute {
		t.Errorf("it is good for %v", left)
	}
	first := do(t, h, call{target: made.Path})
	if first.Code != 200 || len(first.Result().Cookies()) != 1 {
		t.Fatalf("first use: %d, %v", first.Code, first.Result().Cookies())
	}
	if strings.Contains(first.Body.String(), made.Path[8:]) {
		t.Error("the page repeats the key")
	}
	if got := do(t, h, call{target: "/", header: cookie(first.Result().Cookies()[0].Value)}).Code; got != 200 {
		t.Errorf("the session: %d", got)
	}
	if again := do(t, h, call{target: made.Path}); again.Code != 401 || len(again.Result().Cookies()) != 0 {
		t.Errorf("second use: %d", again.Code)
	}
	late := console.NewKey(console.KeyLink, "", time.Now().Add(-console.LinkTTL))
	testutil.OK(t, w.Store.Keys().AddKey(t.Context(), late.Key))
	if got := do(t, h, call{target: "/open?k=" + late.Secret}).Code; got != 401 {
		t.Errorf("an old link: %d", got)
	}
}

// SECURITY S7: tokens are made on the machine itself, are told once, and what is
// kept of them opens nothing.
func TestTokensAreMadeByTheOwnerAlone(t *testing.T) {
	w := consoletest.Open(t)
	token := w.Key(console.KeyToken)
	h := w.Console.Handler()
	for _, target := range []string{"POST /api/tokens", "POST /api/links", "DELETE /api/tokens/" + token.ID} {
		method, path, _ := strings.Cut(target, " ")
		if got := do(t, h, call{method: method, target: path, header: bearer(token.Secret)}).Code; got != 403 {
			t.Errorf("%s over the network: %d", target, got)
		}
	}
	if got := ownerDo(t, w, http.MethodPost, "/api/tokens", `{"name":""}`).Code; got != 400 {
		t.Errorf("a token without a name: %d", got)
	}
	made := ownerDo(t, w, http.MethodPost, "/api/tokens", `{"name":"grafana"}`).Body.String()
	list := ownerDo(t, w, http.MethodGet, "/api/tokens", "").Body.String()
	if !strings.Contains(made, `"secret": "trestle_`) || strings.Contains(list, "trestle_") || !strings.Contains(list, "grafana") {
		t.Errorf("made %s\nlisted %s", made, list)
	}
}

// Health is for load balancers: one word to anybody, the whole to those who may know.
func TestHealthIsOneWordToStrangers(t *testing.T) {
	w := consoletest.Open(t)
	token := w.Key(console.KeyToken)
	if got := do(t, w.Console.Handler(), call{target: "/health"}); got.Code != 200 || got.Body.String() != "{\n  \"status\": \"degraded\"\n}\n" {
		t.Errorf("to anybody: %d %s", got.Code, got.Body)
	}
	for name, got := range map[string]*httptest.ResponseRecorder{
		"token": do(t, w.Console.Handler(), call{target: "/health", header: bearer(token.Secret)}), "socket": ownerDo(t, w, http.MethodGet, "/health", ""),
	} {
		if !strings.Contains(got.Body.String(), "extensions") {
			t.Errorf("by %s: %s", name, got.Body)
		}
	}
}

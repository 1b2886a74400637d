package webpage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/document"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A site answers paths with bodies, and counts requests.
type site struct {
	*httptest.Server
	asked   atomic.Int64
	robots  string
	headers atomic.Value // http.Header of the last request
}

// newSite serves pages; a handler of a path may be a string.
func newSite(t *testing.T, robots string, pages map[string]http.HandlerFunc) *site {
	t.Helper()
	s := &site{robots: robots}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			if s.robots == "" {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, s.robots)
			return
		}
		s.asked.Add(1)
		s.headers.Store(r.Header.Clone())
		if h := pages[r.URL.Path]; h != nil {
			h(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func page(media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		fmt.Fprint(w, body)
	}
}

func client(t *testing.T, o FetchOptions, own ...*site) *PageClient {
	t.Helper()
	for _, s := range own {
		o.Own = append(o.Own, s.URL)
	}
	c, err := New(o)
	testutil.OK(t, err)
	return c
}

// A page becomes Markdown with its title and absolute links, after redirects.
func TestPageBecomesMarkdown(t *testing.T) {
	s := newSite(t, "", map[string]http.HandlerFunc{
		"/old": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/docs/new", http.StatusMovedPermanently)
		},
		"/docs/new": page("text/html; charset=iso-8859-1", "<title>T\xfcr</title><nav>menu</nav><main><h1>T\xfcr</h1><p>"+
			strings.Repeat("It opens inwards. ", 20)+"<a href='key#a'>The key</a></p></main>"),
		"/data.csv": page("text/csv", "a,b\n1,2\n"),
		"/main.go":  page("text/html", "<p>about main.go</p>"),
		"/raw/x.go": page("text/plain", "package x\n"),
	})
	c := client(t, FetchOptions{}, s)
	got, err := c.Fetch(t.Context(), s.URL+"/old#part")
	testutil.OK(t, err)
	testutil.Same(t, "address", s.URL+"/docs/new", got.Address)
	testutil.Same(t, "title", "Tür", got.Title)
	if want := "[The key](" + s.URL + "/docs/key#a)"; !strings.Contains(got.Markdown, want) || strings.Contains(got.Markdown, "menu") {
		t.Errorf("got %q, want %q and no menu", got.Markdown, want)
	}
	for path, want := range map[string]document.FileKind{"/data.csv": document.KindCSV, "/main.go": document.KindHTML, "/raw/x.go": document.KindCode} {
		got, err := c.Fetch(t.Context(), s.URL+path)
		testutil.OK(t, err)
		testutil.Same(t, path, want, got.Kind)
	}
	h := s.headers.Load().(http.Header)
	if h.Get("Cookie") != "" || h.Get("Referer") != "" || h.Get("Authorization") != "" || h.Get("User-Agent") != "trestle" {
		t.Errorf("got the headers %v, want the name of the program alone", h)
	}
}

// A long page is cut, and says so.
func TestLongPageIsCut(t *testing.T) {
	s := newSite(t, "", map[string]http.HandlerFunc{"/": page("text/plain", strings.Repeat("word ", 1000))})
	got, err := client(t, FetchOptions{Text: document.ExtractLimits{Output: 100}}, s).Fetch(t.Context(), s.URL)
	testutil.OK(t, err)
	if !got.Cut || len(got.Markdown) > 100 {
		t.Errorf("got %d bytes, cut %v, want at most 100 and cut", len(got.Markdown), got.Cut)
	}
}

// What cannot be fetched says why, in words for people that do not repeat the path.
func TestUnfetchablePagesSayWhy(t *testing.T) {
	elsewhere := newSite(t, "User-agent: *\nDisallow: /", map[string]http.HandlerFunc{"/": page("text/plain", "x")})
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	send := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	s := newSite(t, "User-agent: trestle\nDisallow: /secret-path\n", map[string]http.HandlerFunc{
		"/secret-path": page("text/plain", "x"), "/401": status(401), "/404": status(404), "/410": status(410), "/429": status(429), "/503": status(503),
		"/loop": send("/loop"), "/inside": send("http://169.254.169.254/latest"), "/other": send(elsewhere.URL), "/file": send("file:///etc/passwd"),
		"/zip": page("application/zip", "PK\x03\x04"), "/png": page("image/png", "\x89PNG\r\n\x1a\n\x00"), "/app": page("text/html", "<div id=app></div><script>run()</script>"),
		"/big": page("text/plain", strings.Repeat("x", 5000)), "/gone": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	})
	c := client(t, FetchOptions{Limit: 4096}, s, elsewhere)
	for _, x := range []struct {
		address string
		want    error
		words   string
	}{
		{s.URL + "/secret-path?q=1", ErrRobots, "robots.txt"},
		{s.URL + "/other", ErrRobots, "robots.txt"},
		{s.URL + "/404", ErrStatus, "no such page (HTTP 404)"},
		{s.URL + "/410", ErrStatus, "no such page"},
		{s.URL + "/401", ErrStatus, "signed in"},
		{s.URL + "/429", ErrStatus, "too often"},
		{s.URL + "/503", ErrStatus, "try again later (HTTP 503)"},
		{s.URL + "/loop", ErrAddress, ""},
		{s.URL + "/inside", ErrPrivate, "public internet"},
		{s.URL + "/file", ErrAddress, "http://"},
		{s.URL + "/zip", ErrNotText, "cannot be read as text"},
		{s.URL + "/png", ErrNotText, "cannot be read as text"},
		{s.URL + "/app", ErrNoText, "scripts"},
		{s.URL + "/big", ErrTooLarge, "too large"},
		{s.URL + "/gone", ErrUnreachable, "cannot be reached"},
		{"http://127.0.0.1:1/secret-path", ErrAddress, ""},
		{"http://localhost/secret-path", ErrPrivate, "localhost"},
		{"http://10.0.0.8/", ErrPrivate, "10.0.0.8"},
		{"http://[::1]/", ErrPrivate, ""},
		{"http://2130706433/", ErrPrivate, ""},
		{"http://printer.local/", ErrPrivate, ""},
		{"https://user:pw@example.com/", ErrAddress, ""},
		{"ftp://example.com/x", ErrAddress, "http://"},
		{"mailto:a@example.com", ErrAddress, ""},
		{"javascript:alert(1)", ErrAddress, ""},
		{"", ErrAddress, "http://"},
		{"http://exa mple.com/", ErrAddress, ""},
	} {
		_, err := c.Fetch(t.Context(), x.address)
		if of, ok := errors.AsType[*PageError](err); !ok || !errors.Is(err, x.want) || !strings.Contains(err.Error(), x.words) || strings.Contains(err.Error(), "secret-path") {
			t.Errorf("%s: got %v (%+v), want %v with %q", x.address, err, of, x.want, x.words)
		}
	}
	testutil.Same(t, "requests beyond robots.txt", int64(0), elsewhere.asked.Load())
}

// A server that is slow ends at the limit; a caller that leaves gets its own error.
func TestSlowServerEndsAtTheLimit(t *testing.T) {
	release := make(chan struct{})
	s := newSite(t, "", map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}})
	defer close(release)
	if _, err := client(t, FetchOptions{Timeout: 50 * time.Millisecond}, s).Fetch(t.Context(), s.URL); !errors.Is(err, ErrSlow) {
		t.Errorf("got %v, want ErrSlow", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client(t, FetchOptions{}, s).Fetch(ctx, s.URL)
	if _, of := errors.AsType[*PageError](err); of || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the caller's deadline", err)
	}
}

// A page is kept for minutes, whatever its fragment, and failures are not.
func TestPagesAreKeptForMinutes(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	fail := true
	s := newSite(t, "", map[string]http.HandlerFunc{
		"/a": page("text/plain", "words"),
		"/b": func(w http.ResponseWriter, _ *http.Request) {
			if fail {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			fmt.Fprint(w, "later")
		},
	})
	c := client(t, FetchOptions{Now: func() time.Time { return now }}, s)
	fetch := func(path string) WebPage {
		t.Helper()
		got, err := c.Fetch(t.Context(), s.URL+path)
		testutil.OK(t, err)
		return got
	}
	if fetch("/a").Kept || !fetch("/a#x").Kept {
		t.Error("the second fetch was not answered from what is kept")
	}
	testutil.Same(t, "requests", int64(1), s.asked.Load())
	now = now.Add(11 * time.Minute)
	if got := fetch("/a"); got.Kept || !got.Fetched.Equal(now) {
		t.Errorf("after 11 minutes: got %v of %v, want a new fetch", got.Kept, got.Fetched)
	}
	if _, err := c.Fetch(t.Context(), s.URL+"/b"); !errors.Is(err, ErrStatus) {
		t.Errorf("got %v, want ErrStatus", err)
	}
	fail = false
	testutil.Same(t, "after the failure", "later", fetch("/b").Markdown)
}

// What is kept stays within its size: the page that was not asked for longest goes.
func TestKeptPagesAreBounded(t *testing.T) {
	c := newBoundedCache[string](1000, time.Minute, time.Now)
	for _, key := range []string{"a", "b", "c"} {
		c.put(key, key, 100)
	}
	c.get("a")
	c.put("d", "d", 100)
	c.put("huge", "huge", 2000)
	var kept []string
	for _, key := range []string{"a", "b", "c", "d", "huge"} {
		if v, ok := c.get(key); ok {
			kept = append(kept, v)
		}
	}
	testutil.Same(t, "kept", []string{"a", "c", "d"}, kept)
	if c.size > 1000 || c.size <= 0 {
		t.Errorf("size: got %d, want at most 1,000", c.size)
	}
}

// robots.txt is read once for many pages; a server that cannot say allows nothing.
func TestRobotsIsAskedOnce(t *testing.T) {
	var asked atomic.Int64
	code := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			asked.Add(1)
			w.WriteHeader(code)
		}
		fmt.Fprint(w, "x")
	}))
	t.Cleanup(s.Close)
	for want, status := range map[error]int{nil: http.StatusOK, ErrRobots: http.StatusServiceUnavailable} {
		code = status
		asked.Store(0)
		c := client(t, FetchOptions{Own: []string{s.URL}})
		for i := range 3 {
			if _, err := c.Fetch(t.Context(), fmt.Sprintf("%s/%d", s.URL, i)); !errors.Is(err, want) {
				t.Errorf("%d: got %v, want %v", status, err, want)
			}
		}
		testutil.Same(t, "asked", int64(1), asked.Load())
	}
}

// The rules of RFC 9309: groups, the longest match, wildcards and escapes.
func TestRobotsRules(t *testing.T) {
	const text = "# comment\r\nUser-agent: *\nDisallow: /\n\nUser-Agent: Trestle/1.0\nuser-agent: other\nDisallow: /a # why\nAllow: /a/b\nDisallow: /*.pdf$\n" +
		"nonsense\nDisallow: /q?x=*&y\nDisallow: /grün\nDisallow: /same\nAllow: /same\nDisallow:\n\nUser-agent: trestle\nDisallow: /more\nSitemap: x\n"
	rules := parseRobots(text, "trestle")
	for path, want := range map[string]bool{
		"/": true, "/a": false, "/a/x": false, "/a/b/c": true, "/x.pdf": false, "/x.pdf?y": true, "/dir/x.pdf": false, "/q?x=1&y=2": false, "/q?x=1": true,
		"/gr%C3%BCn": false, "/same": true, "/more/x": false,
	} {
		if got := allowedBy(rules, path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	if allowedBy(parseRobots(text, "someone"), "/x") {
		t.Error("another agent may fetch what is forbidden for all")
	}
	if !allowedBy(parseRobots("<!doctype html><p>not found", "trestle"), "/x") {
		t.Error("a page in place of robots.txt forbids something")
	}
	if !allowedBy(parseRobots("User-agent: *\nDisallow: /\nUser-agent: trestle\nAllow: /", "trestle"), "/x") {
		t.Error("rules for all count beside those for us")
	}
}

// FuzzRobots compares the matcher with one that tries every way.
func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$", "/a*b$", "/aXb")
	f.Fuzz(func(t *testing.T, text, pattern, path string) {
		allowedBy(parseRobots(text, "trestle"), path)
		if len(pattern) > 20 || len(path) > 30 {
			return
		}
		if got, want := matchPath(pattern, path), matchSlowly(pattern, path); got != want {
			t.Fatalf("%q with %q: got %v, want %v", pattern, path, got, want)
		}
	})
}

func matchSlowly(pattern, path string) bool {
	switch {
	case pattern == "":
		return true
	case pattern == "$":
		return path == ""
	case pattern[0] == '*':
		for i := range len(path) + 1 {
			if matchSlowly(pattern[1:], path[i:]) {
				return true
			}
		}
		return false
	}
	return path != "" && path[0] == pattern[0] && matchSlowly(pattern[1:], path[1:])
}

// Addresses are written as people write them.
func TestAddressesAsPeopleWriteThem(t *testing.T) {
	for in, want := range map[string]string{
		"example.com": "https://example.com/", " HTTP://Example.com/a?b#c ": "http://example.com/a?b", "münchen.de/weg": "https://xn--mnchen-3ya.de/weg",
		"example.com:8443/x": "https://example.com:8443/x",
	} {
		u, err := parseAddress(in)
		testutil.OK(t, err)
		testutil.Same(t, in, want, u.String())
	}
}

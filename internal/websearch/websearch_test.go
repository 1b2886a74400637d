package websearch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

const key = "BSA-secret-key"

// provider serves one answer and returns a client of it, and the last request.
func provider(t *testing.T, kind ProviderKind, h http.HandlerFunc) (*SearchClient, func() *http.Request) {
	t.Helper()
	asked := make(chan *http.Request, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		h(w, r)
	}))
	t.Cleanup(s.Close)
	o := SearchOptions{Kind: kind, Address: s.URL, Timeout: 5 * time.Second}
	if kind == Brave {
		o.Key = key
	}
	c, err := New(o)
	testutil.OK(t, err)
	return c, func() *http.Request { return <-asked }
}

func recorded(t *testing.T, name string) http.HandlerFunc {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	testutil.OK(t, err)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	}
}

// SearXNG is asked for JSON; what is no page, and what comes twice, is left out.
func TestSearXNGIsAsked(t *testing.T) {
	c, asked := provider(t, SearXNG, recorded(t, "searxng.json"))
	got, err := c.Search(t.Context(), SearchQuery{Text: "  boiler \n manual ", Language: "pt-BR"})
	testutil.OK(t, err)
	testutil.Same(t, "results", []SearchResult{
		{"Boiler & heating", "https://example.com/boiler", "Press reset for five seconds."}, {"Second", "https://example.org/", ""},
	}, got)
	r := asked()
	testutil.Same(t, "path", "/search", r.URL.Path)
	testutil.Same(t, "query", url.Values{"q": {"boiler manual"}, "format": {"json"}, "language": {"pt-BR"}}, r.URL.Query())
	got, err = c.Search(t.Context(), SearchQuery{Text: "boiler", Count: 1, Language: "en&x=1"})
	testutil.OK(t, err)
	testutil.Same(t, "results", 1, len(got))
	testutil.Same(t, "query", url.Values{"q": {"boiler"}, "format": {"json"}}, asked().URL.Query())
}

// Brave is asked with the key in its header.
func TestBraveIsAsked(t *testing.T) {
	c, asked := provider(t, Brave, recorded(t, "brave.json"))
	got, err := c.Search(t.Context(), SearchQuery{Text: "boiler manual", Count: 50, Language: "zh-TW"})
	testutil.OK(t, err)
	testutil.Same(t, "results", []SearchResult{
		{"Boiler manual", "https://example.com/boiler", "Press reset for five seconds 'firmly'."}, {"Second", "https://example.org/a?b=c", "If a < b and c > d."},
	}, got)
	r := asked()
	testutil.Same(t, "path", "/res/v1/web/search", r.URL.Path)
	testutil.Same(t, "query", url.Values{"q": {"boiler manual"}, "count": {"20"}, "search_lang": {"zh-hant"}, "text_decorations": {"false"}, "result_filter": {"web"}}, r.URL.Query())
	testutil.Same(t, "key", key, r.Header.Get("X-Subscription-Token"))
}

// A failure says what to do, and never the key or the query.
func TestFailuresSayWhatToDo(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	say := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	for _, c := range []struct {
		kind ProviderKind
		h    http.HandlerFunc
		want error
	}{
		{SearXNG, status(403), ErrFormat},
		{SearXNG, status(401), ErrKey},
		{SearXNG, status(429), ErrBusy},
		{SearXNG, status(500), ErrAnswer},
		{SearXNG, say("<!doctype html><title>SearXNG"), ErrFormat},
		{SearXNG, say(`{"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}`), ErrAnswer},
		{SearXNG, say(`{"results": []}`), nil},
		{SearXNG, say(strings.Repeat(" ", 3<<20)), ErrAnswer},
		{SearXNG, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		}, ErrAnswer},
		{SearXNG, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ErrUnreachable},
		{Brave, status(401), ErrKey},
		{Brave, status(422), ErrKey},
		{Brave, status(429), ErrBusy},
		{Brave, status(503), ErrAnswer},
		{Brave, say(`{"type": "ErrorResponse", "error": {"code": "RATE_LIMITED"}}`), ErrAnswer},
		{Brave, say(`[`), ErrAnswer},
		{Brave, say(`{"type": "search"}`), nil},
	} {
		client, _ := provider(t, c.kind, c.h)
		_, err := client.Search(t.Context(), SearchQuery{Text: "private words"})
		if !errors.Is(err, c.want) || err != nil && (strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "private")) {
			t.Errorf("%s: got %v, want %v", c.kind, err, c.want)
		}
	}
	client, _ := provider(t, SearXNG, status(200))
	for _, text := range []string{"", " \n", strings.Repeat("ü", 401)} {
		if _, err := client.Search(t.Context(), SearchQuery{Text: text}); !errors.Is(err, ErrQuery) {
			t.Errorf("%.10q: got %v, want ErrQuery", text, err)
		}
	}
}

// The key goes to the provider alone, not to where it redirects.
func TestKeyStaysWithTheProvider(t *testing.T) {
	got := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Get("X-Subscription-Token") }))
	t.Cleanup(other.Close)
	c, _ := provider(t, Brave, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	if _, err := c.Search(t.Context(), SearchQuery{Text: "x"}); !errors.Is(err, ErrAnswer) {
		t.Errorf("got %v, want ErrAnswer", err)
	}
	select {
	case sent := <-got:
		t.Errorf("the other server was asked, with the key %q", sent)
	default:
	}
}

// A slow provider ends at the limit, and a caller's deadline is its own.
func TestSlowProviderEndsAtTheLimit(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(s.Close)
	c, err := New(SearchOptions{Kind: SearXNG, Address: s.URL, Timeout: 50 * time.Millisecond})
	testutil.OK(t, err)
	if _, err := c.Search(t.Context(), SearchQuery{Text: "x"}); !errors.Is(err, ErrSlow) {
		t.Errorf("got %v, want ErrSlow", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Search(ctx, SearchQuery{Text: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// An address may have a path, a user and a password; a wrong one is refused at once.
func TestProviderAddresses(t *testing.T) {
	var asked *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		fmt.Fprint(w, `{}`)
	}))
	t.Cleanup(s.Close)
	c, err := New(SearchOptions{Kind: SearXNG, Address: strings.Replace(s.URL, "//", "//me:pass@", 1) + "/searx/"})
	testutil.OK(t, err)
	_, err = c.Search(t.Context(), SearchQuery{Text: "x"})
	testutil.OK(t, err)
	user, password, _ := asked.BasicAuth()
	testutil.Same(t, "request", "/searx/search me pass", asked.URL.Path+" "+user+" "+password)
	for _, o := range []SearchOptions{{Kind: "bing", Address: s.URL}, {Kind: SearXNG}, {Kind: SearXNG, Address: "ftp://x"}, {Kind: Brave}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	for _, name := range []string{"searxng.json", "brave.json"} {
		text, err := os.ReadFile("testdata/" + name)
		testutil.OK(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func([]byte, int) ([]SearchResult, error){readBrave, readSearXNG} {
			found, _ := read(text, 3)
			for _, r := range found {
				if len(found) > 3 || !strings.HasPrefix(r.Address, "http") || len([]rune(r.Excerpt)) > maxExcerpt || strings.ContainsAny(r.Title+r.Excerpt, "\n\x00") {
					t.Fatalf("got %+v", found)
				}
			}
		}
	})
}

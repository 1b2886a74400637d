package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// freePort returns an address of this machine without a listener.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testutil.OK(t, err)
	testutil.OK(t, ln.Close())
	return ln.Addr().String()
}

// proxy is what comes before webhook_listen: it takes what is called over https
// at any host, passes it on without, and keeps a copy.
type proxy struct {
	to string

	mu    sync.Mutex // guards calls
	calls []*http.Request
}

func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	again := func() *http.Request {
		c := r.Clone(r.Context())
		c.URL.Scheme, c.URL.Host = "http", p.to
		c.Body = io.NopCloser(bytes.NewReader(body))
		return c
	}
	p.mu.Lock()
	p.calls = append(p.calls, again())
	p.mu.Unlock()
	return http.DefaultTransport.RoundTrip(again())
}

// S9, R-TG: two accounts on one listener, nothing else there, and a replay that
// changes nothing.
func TestTwoAccountsAreCalledOnOneListener(t *testing.T) {
	tg := faketelegram.NewTelegram(faketelegram.Options{})
	ada := tg.AddBot(faketelegram.BotProfile{Token: "71:ada-token", Name: "Ada", Username: "ada_bot"})
	mia := tg.AddBot(faketelegram.BotProfile{Token: "72:mia-token", Name: "Mia", Username: "mia_bot"})
	kai := tg.AddPerson(faketelegram.UserProfile{Name: "Kai"})
	api := httptest.NewServer(tg)
	t.Cleanup(api.Close)

	s := stage{folder: t.TempDir()}
	at := freePort(t)
	text := "listen: \"\"\nwebhook_listen: " + at + "\nadmit: open\nlimits: {outgoing: \"off\"}\nadapters:\n" +
		"  ada: {type: telegram, token: \"71:ada-token\", api_url: \"" + api.URL + "\", webhook_url: \"https://bots.example/tg/ada\"}\n" +
		"  mia: {type: telegram, token: \"72:mia-token\", api_url: \"" + api.URL + "\", webhook_url: \"https://bots.example/tg/mia\"}\n"
	testutil.OK(t, os.WriteFile(filepath.Join(s.folder, "trestle.yaml"), []byte(text), 0o600))
	s.serve(t)
	outside := &proxy{to: at}
	ctx, stop := context.WithCancel(t.Context())
	var calling sync.WaitGroup
	calling.Go(func() { tg.Call(ctx, &http.Client{Transport: outside}) })
	t.Cleanup(func() { stop(); calling.Wait() })

	for _, bot := range []*faketelegram.BotUser{ada, mia} {
		chat := bot.Direct(kai)
		chat.Says(kai, "hello "+bot.Username(), faketelegram.PostOptions{})
		if _, err := chat.AwaitSent(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"/", "/tg", "/tg/", "/tg/ada/", "/health", "/events", "/api/spaces", "//tg/ada", "/tg/../tg/ada"} {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+at+path, nil)
		testutil.OK(t, err)
		answer(t, r, http.StatusNotFound)
	}
	outside.mu.Lock()
	calls := outside.calls
	outside.mu.Unlock()
	for _, r := range calls {
		answer(t, r, http.StatusOK)
	}
	chat := ada.Direct(kai)
	chat.Says(kai, "and again", faketelegram.PostOptions{})
	sent, err := chat.AwaitSent(t.Context(), 2)
	testutil.OK(t, err)
	if len(sent) != 2 || len(mia.Direct(kai).Sent()) != 1 {
		t.Errorf("%d and %d answers, want 2 and 1: a replay had an effect", len(sent), len(mia.Direct(kai).Sent()))
	}
}

// answer makes a call and checks its status.
func answer(t *testing.T, r *http.Request, want int) {
	t.Helper()
	resp, err := http.DefaultTransport.RoundTrip(r)
	testutil.OK(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != want {
		t.Errorf("%s: got %d, want %d", r.URL.Path, resp.StatusCode, want)
	}
}

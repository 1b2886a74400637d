package slack_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/adapters/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

const signingSecret = "very-secret-signing"

// called plays a story in a workspace that calls the app over HTTP.
func called(t *testing.T, play func(w *workspace, c *slack.Client, b *book)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace(t, fakeslack.Options{}, fakeslack.AppProfile{SigningSecret: signingSecret, EventsURL: "http://trestle.test/slack/events"})
		o := w.options()
		o.AppToken, o.SigningSecret = "", signingSecret
		b := new(book)
		c, _ := w.runs(b, o)
		ln, err := w.network.Listen("trestle.test")
		testutil.OK(t, err)
		mux := http.NewServeMux()
		mux.Handle(c.HookPath(), c)
		serve(t, ln, mux)
		w.forget()
		play(w, c, b)
	})
}

func serve(t *testing.T, ln net.Listener, h http.Handler) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- fake.ServeUntilDone(ctx, ln, h) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAnAppCanBeCalledInsteadOfListening(t *testing.T) {
	called(t, func(w *workspace, _ *slack.Client, b *book) {
		t := w.t
		if echoed, err := w.app.Verify(t.Context()); err != nil || echoed != "a-challenge" {
			t.Errorf("the challenge is answered %q, %v", echoed, err)
		}
		w.ops.Says(w.maya, "@ada hello", fakeslack.PostOptions{})
		pass(time.Second)
		w.ops.Commands(w.maya, w.app, "/trestle", "stop now")
		pass(time.Second)
		w.app.InjectPayload("interactive", []byte(`{"type":"block_actions","trigger_id":"Tr1"}`)) // another's button
		pass(time.Second)
		if got := heard[adapters.UnreadableUpdate](b); len(got) != 0 {
			t.Errorf("what is pressed is kept as %+v", got)
		}
		testutil.Same(t, "recorded", []string{"@ada hello", "/stop now"}, b.said())
		if n := w.app.Pending(); n != 0 {
			t.Errorf("%d events are still to be acknowledged", n)
		}
	})
}

// SECURITY S9: 200 means recorded; what cannot be is answered 503, and comes again.
func TestACallIsAnsweredAfterTheRecord(t *testing.T) {
	called(t, func(w *workspace, _ *slack.Client, b *book) {
		t := w.t
		b.close(true)
		w.ops.Says(w.maya, "hello", fakeslack.PostOptions{})
		pass(30 * time.Second)
		if n := len(w.Ledger().Acked); n != 0 {
			t.Fatalf("%d calls were answered 200 while nothing was recorded", n)
		}
		b.close(false)
		pass(2 * time.Minute)
		if diff := cmp.Diff([]string{"hello"}, b.said()); diff != "" || w.app.Pending() != 0 {
			t.Errorf("%d are pending, recorded (-want +got):\n%s", w.app.Pending(), diff)
		}
	})
}

// R-SL, DELIVERY 2.2: what Slack gave up is read from history, also where something
// later was recorded before and no silence was long: a proxy fails now and then
// while the program is started again.
func TestWhatWasOvertakenAndGivenUpIsReadAtTheNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace(t, fakeslack.Options{}, fakeslack.AppProfile{SigningSecret: signingSecret, EventsURL: "http://trestle.test/slack/events"})
		o := w.options()
		o.AppToken, o.SigningSecret = "", signingSecret
		ln, err := w.network.Listen("trestle.test")
		testutil.OK(t, err)
		var client atomic.Pointer[slack.Client]
		serve(t, ln, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if c := client.Load(); c != nil {
				c.ServeHTTP(rw, r)
				return
			}
			rw.WriteHeader(http.StatusBadGateway)
		}))
		b := new(book)
		c, end := w.runs(b, o)
		pass(time.Second)
		w.ops.Says(w.maya, "overtaken", fakeslack.PostOptions{})
		pass(time.Second)
		client.Store(c)
		w.ops.Says(w.maya, "later", fakeslack.PostOptions{})
		pass(time.Second)
		client.Store(nil)
		if diff := cmp.Diff([]string{"later"}, b.said()); diff != "" {
			t.Fatalf("before the start it had recorded (-want +got):\n%s", diff)
		}
		pass(time.Minute)
		end()
		w.runs(b, o)
		pass(15 * time.Minute) // Slack gives up after six minutes
		if n := w.app.Pending(); n != 0 {
			t.Fatalf("Slack still holds %d events: the story shows nothing", n)
		}
		testutil.Same(t, "recorded", []string{"later", "overtaken"}, b.said())
	})
}

// call makes one request by hand.
func hookCall(c *slack.Client, body string, change func(*http.Request)) int {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/slack/events", strings.NewReader(body)) //nolint:forbidigo // the client's own limit ends it
	r.Header.Set("Content-Type", "application/json")
	fakeslack.Sign(r.Header, signingSecret, []byte(body), time.Now())
	if change != nil {
		change(r)
	}
	answer := httptest.NewRecorder()
	c.ServeHTTP(answer, r)
	return answer.Code
}

func messageBody(w *workspace, n int) string {
	return fmt.Sprintf(`{"type":"event_callback","team_id":"T0000001","event_id":"EvForged%d","event":{"type":"message","channel":%q,"channel_type":"channel",`+
		`"user":%q,"text":"forged %d","ts":"17000000%02d.000100","event_ts":"17000000%02d.000100"}}`, n, w.ops.ID, w.maya.ID, n, n%100, n%100)
}

// SECURITY S9: a replay is answered 200 and changes nothing.
func TestAReplayedCallHasNoSecondEffect(t *testing.T) {
	called(t, func(w *workspace, c *slack.Client, b *book) {
		t := w.t
		for range 5 {
			if code := hookCall(c, messageBody(w, 1), nil); code != http.StatusOK {
				t.Errorf("answered %d", code)
			}
		}
		if n := len(b.said()); n != 1 {
			t.Errorf("recorded %d messages, want one", n)
		}
	})
}

// SECURITY S9: ten thousand forged calls, none accepted, none read.
func TestForgedCallsAreRefused(t *testing.T) {
	called(t, func(w *workspace, c *slack.Client, b *book) {
		t := w.t
		random := rand.New(rand.NewPCG(1, 2))
		forge := []func(r *http.Request, body string){
			func(r *http.Request, _ string) { r.Header.Del("X-Slack-Signature") },
			func(r *http.Request, _ string) { r.Header.Del("X-Slack-Request-Timestamp") },
			func(r *http.Request, _ string) { r.Header.Add("X-Slack-Signature", r.Header.Get("X-Slack-Signature")) },
			func(r *http.Request, _ string) { r.Header.Add("X-Slack-Request-Timestamp", "1") },
			func(r *http.Request, body string) { fakeslack.Sign(r.Header, "another-app", []byte(body), time.Now()) },
			func(r *http.Request, body string) { fakeslack.Sign(r.Header, "", []byte(body), time.Now()) },
			func(r *http.Request, body string) {
				fakeslack.Sign(r.Header, signingSecret, []byte(body), time.Now().Add(-5*time.Minute-time.Second))
			},
			func(r *http.Request, body string) {
				fakeslack.Sign(r.Header, signingSecret, []byte(body), time.Now().Add(5*time.Minute+time.Second))
			},
			func(r *http.Request, body string) { r.Body = io.NopCloser(strings.NewReader(" " + body)) },
			func(r *http.Request, body string) { // one bit of the body
				flipped := []byte(body)
				flipped[random.IntN(len(flipped))] ^= 1 << random.IntN(8)
				r.Body = io.NopCloser(bytes.NewReader(flipped))
			},
			func(r *http.Request, _ string) { // one bit of the signature
				s := []byte(strings.TrimPrefix(r.Header.Get("X-Slack-Signature"), "v0="))
				i := random.IntN(len(s))
				s[i] = map[bool]byte{true: '0', false: '1'}[s[i] != '0']
				r.Header.Set("X-Slack-Signature", "v0="+string(s))
			},
			func(r *http.Request, _ string) {
				r.Header.Set("X-Slack-Signature", strings.Replace(r.Header.Get("X-Slack-Signature"), "v0=", "v1=", 1))
			},
			func(r *http.Request, _ string) { r.Header.Set("Content-Encoding", "gzip") },
			func(r *http.Request, _ string) { r.Header.Set("X-Slack-Signature", "v0=") },
			func(r *http.Request, body string) {
				r.Body = io.NopCloser(strings.NewReader(body + strings.Repeat(" ", 1<<20)))
			},
		}
		for i := range testutil.Repeats(10_000) {
			body := messageBody(w, i)
			code := hookCall(c, body, func(r *http.Request) { forge[i%len(forge)](r, body) })
			if code != http.StatusUnauthorized && code != http.StatusRequestEntityTooLarge {
				t.Fatalf("forgery %d, number %d, is answered %d", i%len(forge), i, code)
			}
		}
		if n := len(b.all()); n != 0 {
			t.Errorf("%d forgeries were recorded", n)
		}
		if n := c.RefusedCalls(); n != int64(testutil.Repeats(10_000)) {
			t.Errorf("%d are counted", n)
		}
		if code := hookCall(c, messageBody(w, 7), nil); code != http.StatusOK {
			t.Errorf("a true one is answered %d", code)
		}
	})
}

// SECURITY S9, GO-2026-5410: without a secret nothing could be proved.
func TestAnAppThatCannotBeReachedOrProvedIsNotMade(t *testing.T) {
	for name, o := range map[string]slack.Options{
		"no bot token":           {AppToken: "xapp-1"},
		"no way in":              {BotToken: "xoxb-1"},
		"an empty secret":        {BotToken: "xoxb-1", SigningSecret: ""},
		"an address of ftp":      {BotToken: "xoxb-1", AppToken: "xapp-1", APIURL: "ftp://slack.test"},
		"an address with a user": {BotToken: "xoxb-1", AppToken: "xapp-1", APIURL: "https://a:b@slack.test"},
	} {
		if c, err := slack.New(o); err == nil || c != nil {
			t.Errorf("%s: made %v, %v", name, c, err)
		}
	}
	c, err := slack.New(slack.Options{BotToken: "xoxb-1", AppToken: "xapp-1"})
	testutil.OK(t, err)
	if c.HookPath() != "" {
		t.Error("an app without a signing secret wants to be called")
	}
	answer := httptest.NewRecorder()
	c.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/slack/events", strings.NewReader("{}")))
	if answer.Code != http.StatusUnauthorized {
		t.Errorf("a call without a secret to prove it by is answered %d", answer.Code)
	}
}

// A call that comes while nothing receives must come again.
func TestACallThatNobodyTakesIsToComeAgain(t *testing.T) {
	c, err := slack.New(slack.Options{BotToken: "xoxb-1", SigningSecret: signingSecret})
	testutil.OK(t, err)
	if code := hookCall(c, `{"type":"event_callback","event_id":"Ev1"}`, nil); code != http.StatusServiceUnavailable {
		t.Errorf("answered %d, want 503", code)
	}
}

// A signed request for a verification that holds nothing to echo is kept like
// anything else that cannot be read.
func TestAVerificationWithoutAChallengeIsKept(t *testing.T) {
	called(t, func(w *workspace, c *slack.Client, b *book) {
		t := w.t
		if code := hookCall(c, `{"type":"url_verification"}`, nil); code != http.StatusOK {
			t.Errorf("answered %d, want 200", code)
		}
		if got := heard[adapters.UnreadableUpdate](b); len(got) != 1 {
			t.Errorf("kept %+v, want one that is unreadable", b.all())
		}
	})
}

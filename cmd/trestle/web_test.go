package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/notify"
	"github.com/trestle-bridge/trestle/internal/notify/inproc"
)

const webToken = "0123456789abcdef0123456789abcdef"

func newWeb(token string) *web {
	c := &config.Config{Token: adapters.Secret(token)}
	return &web{
		config: func() *config.Config { return c }, boot: newBootstrap(io.Discard), bus: new(inproc.Bus),
		health: func() health { h := health{CoreReady: true, TrustPassed: true}; h.summarise(true); return h },
	}
}

// SECURITY S7, S8: nobody gets in without the token, under a foreign name, or
// through a proxy that could be anybody.
func TestOnlyTheRightCallersGetIn(t *testing.T) {
	for _, test := range []struct {
		name, token, host, auth, header string
		want                            int
	}{
		{"loopback", "", "127.0.0.1:7420", "", "", 200},
		{"localhost", "", "localhost:7420", "", "", 200},
		{"loopback v6", "", "[::1]:7420", "", "", 200},
		{"bare v6", "", "[::1]", "", "", 200},
		{"rebound name", "", "evil.example", "", "", 421},
		{"rebound name with port", "", "evil.example:7420", "", "", 421},
		{"name that begins right", "", "localhost.evil.example", "", "", 421},
		{"no host", "", "", "", "", 421},
		{"another machine's address", "", "192.168.1.2:7420", "", "", 421},
		{"through a proxy", "", "127.0.0.1:7420", "", "X-Forwarded-For", 403},
		{"through a proxy, standard header", "", "127.0.0.1:7420", "", "Forwarded", 403},
		{"no token", webToken, "127.0.0.1:7420", "", "", 401},
		{"empty token", webToken, "127.0.0.1:7420", "Bearer ", "", 401},
		{"wrong token", webToken, "127.0.0.1:7420", "Bearer " + strings.ToUpper(webToken), "", 401},
		{"beginning of the token", webToken, "127.0.0.1:7420", "Bearer " + webToken[:31], "", 401},
		{"wrong scheme", webToken, "127.0.0.1:7420", "Basic " + webToken, "", 401},
		{"right token", webToken, "127.0.0.1:7420", "Bearer " + webToken, "", 200},
		{"right token, any name", webToken, "trestle.example", "Bearer " + webToken, "", 200},
		{"right token through a proxy", webToken, "trestle.example", "Bearer " + webToken, "X-Forwarded-For", 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWeb(test.token)
			for _, path := range []string{"/health", "/health/bootstrap", "/events", "/nothing"} {
				ctx, stop := context.WithCancel(t.Context())
				stop() // a stream that is let in ends at once
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
				r.Host = test.host
				if test.auth != "" {
					r.Header.Set("Authorization", test.auth)
				}
				if test.header != "" {
					r.Header.Set(test.header, "127.0.0.1")
				}
				rec := httptest.NewRecorder()
				w.handler().ServeHTTP(rec, r)
				want := test.want
				if path == "/nothing" && want == 200 {
					want = 404
				}
				if rec.Code != want {
					t.Errorf("%s: got %d, want %d", path, rec.Code, want)
				}
			}
		})
	}
}

// PRD-6.2-3, PRD-6.2-A4
func TestLiveEventsAreServerSentEvents(t *testing.T) {
	w := newWeb("")
	server := httptest.NewServer(w.handler())
	defer server.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type is %q", got)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w.bus.Publish("agent_thinking", "hm\nhm", map[string]any{"step": 1}, at)
	w.bus.Publish("mission_stop", "completed", nil, at)
	var got []string
	_ = readStream(resp.Body, func(data []byte) error { // it ends by io.EOF below
		got = append(got, string(data))
		if len(got) == 2 {
			return io.EOF
		}
		return nil
	})
	want := []string{
		`{"type":"agent_thinking","content":"hm\nhm","metadata":{"step":1},"timestamp":"2026-03-01T12:00:00Z"}`,
		`{"type":"mission_stop","content":"completed","timestamp":"2026-03-01T12:00:00Z"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	var e notify.Event
	if err := json.Unmarshal([]byte(got[0]), &e); err != nil || e.Type != "agent_thinking" {
		t.Errorf("read back %+v, %v", e, err)
	}
}

// PRD-5.3-5, PRD-5.3-A3: what failed is named, and healthy means that it hears.
func TestHealthNamesWhatFailed(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	connected := activity.Status{Name: "telegram", State: activity.LineConnected, Heard: now.Add(-time.Minute)}
	deaf := activity.Status{Name: "telegram", State: activity.LineConnected, Heard: now.Add(-2 * time.Minute)}
	paused := activity.Status{Name: "telegram", State: activity.LineConnected, Heard: now, Paused: "the token was refused"}
	lost := activity.Status{Name: "telegram", State: activity.LineConflict, Heard: now, Reason: "somebody else polls"}
	for _, test := range []struct {
		name    string
		status  activity.Status
		started bool
		want    string
	}{
		{"heard lately", connected, true, "healthy"},
		{"deaf", deaf, true, "degraded"},
		{"cannot send", paused, true, "degraded"},
		{"conflict", lost, true, "degraded"},
		{"still starting", connected, false, "starting"},
	} {
		h := health{TrustPassed: true, Extensions: []extension{lineExtension(test.status, now)}}
		h.summarise(test.started)
		if h.Status != test.want {
			t.Errorf("%s: %s, want %s", test.name, h.Status, test.want)
		}
	}
	if x := modelExtension(config.Model{}, "no such host"); x.Healthy || x.Reason != "no such host" {
		t.Errorf("model is %+v", x)
	}
}

// PRD-5.4-3, PRD-5.4-A3
func TestBootReportHasEveryStage(t *testing.T) {
	b := newBootstrap(io.Discard)
	_ = b.Stage("one", func() error { return nil })
	_ = b.Stage("two", func() error { return errSkipped })
	if err := b.Stage("three", func() error { return io.ErrUnexpectedEOF }); err == nil {
		t.Error("a failed stage returned nothing")
	}
	if b.Report().ReadyAt != nil {
		t.Error("ready before the end")
	}
	b.Core()
	b.Trust()
	b.Ready()
	got := b.Report()
	want := []stageResult{{Stage: "one", Status: "success"}, {Stage: "two", Status: "skipped"}, {Stage: "three", Status: "failed", Error: "unexpected EOF"}}
	if diff := cmp.Diff(want, got.Stages, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "DurationMS" }, cmp.Ignore())); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"three"}, got.Failed); diff != "" || got.ReadyAt == nil || !got.CoreReady || !got.TrustPassed {
		t.Errorf("report is %+v", got)
	}
}

// SECURITY S18
func TestTerminalShowsNoControlCharacters(t *testing.T) {
	got := heardLine{Kind: "posted", Who: "Ada", Text: "a\x1b[31mb\x07\u009bc\r\nd\te"}.show(true)
	if want := "Ada: a\\x1b[31mb\\x07\\x9bc\\x0d\nd\te"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// SECURITY S16
func TestLogsAreScrubbed(t *testing.T) {
	var out screen
	p := &program{errs: &out}
	c := &config.Config{Adapters: []config.Adapter{{Token: "123456:AAsecretsecret"}}}
	p.logger(c, 0).Info("call failed", "url", "https://api/bot123456:AAsecretsecret/getMe", "escaped", "123456%3AAAsecretsecret")
	if got := out.String(); strings.Contains(got, "secretsecret") || !strings.Contains(got, "***") {
		t.Errorf("log is %s", got)
	}
}

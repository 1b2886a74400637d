package telegram

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

func TestConnectSaysWhoWeAre(t *testing.T) {
	s := &script{t: t}
	got, err := s.open().Connect(t.Context())
	testutil.OK(t, err)
	want := adapters.BotAccount{Platform: "telegram", ID: "77", Name: "Ada", Handle: "ada_bot"}
	testutil.Same(t, "what came", want, got)
}

// ECOSYSTEM 3.3: a token's shape is looked at before any network call.
func TestTokenWithoutTheShapeAsksTelegramNothing(t *testing.T) {
	connect := func(o Options) error {
		c, err := New(o)
		testutil.OK(t, err)
		_, err = c.Connect(t.Context())
		return err
	}
	if err := connect(Options{Token: "my token"}); !errors.Is(err, errShape) {
		t.Errorf("got %v, want a word on the shape", err)
	}
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer server.Close()
	if err := connect(Options{Token: "my-token", APIURL: server.URL}); errors.Is(err, errShape) || !asked {
		t.Errorf("another server was asked: %t, and got %v", asked, err)
	}
}

func TestNewChecksItsOptions(t *testing.T) {
	for _, test := range []struct {
		name string
		o    Options
		ok   bool
	}{
		{"no token", Options{}, false},
		{"defaults", Options{Token: testToken}, true},
		{"own server", Options{Token: testToken, APIURL: "http://127.0.0.1:8081/"}, true},
		{"own server in a folder", Options{Token: testToken, APIURL: "https://bots.example/tg%20api//"}, true},
		{"no scheme", Options{Token: testToken, APIURL: "127.0.0.1:8081"}, false},
		{"other scheme", Options{Token: testToken, APIURL: "ftp://a.example"}, false},
		{"query", Options{Token: testToken, APIURL: "https://a.example/?x=1"}, false},
		{"no URL", Options{Token: testToken, APIURL: "http://[::1"}, false},
		{"called without TLS", Options{Token: testToken, WebhookURL: "http://127.0.0.1:8443/ada"}, false},
		{"called by its own server", Options{Token: testToken, APIURL: "http://127.0.0.1:8081", WebhookURL: "http://127.0.0.1:8443/ada"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := New(test.o); (err == nil) != test.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestBaseURLMayHaveAFolder(t *testing.T) {
	var path string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.EscapedPath()
		io.WriteString(w, `{"ok":true,"result":{"id":1,"username":"x"}}`) //nolint:errcheck // the test sees what is missing
	}))
	defer server.Close()
	for _, slash := range []string{"", "/", "//"} {
		c, err := New(Options{Token: testToken, APIURL: server.URL + "/my%20bots" + slash})
		testutil.OK(t, err)
		if _, err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := "/my%20bots/bot" + testToken + "/getMe"; path != want {
			t.Errorf("asked %s, want %s", path, want)
		}
	}
}

// SECURITY S16: no error and no log line contains the token.
func TestTokenIsInNoErrorAndNoLog(t *testing.T) {
	echo := func(status int, header, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if header != "" {
				w.Header().Set("Location", header)
			}
			w.WriteHeader(status)
			fmt.Fprintf(w, strings.ReplaceAll(body, "URL", "%s"), r.URL.Path)
		}
	}
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testutil.OK(t, err)
	dead := "http://" + closed.Addr().String()
	testutil.OK(t, closed.Close())
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()

	cases := map[string]func() string{
		"dial": func() string { return dead },
		"DNS":  func() string { return "http://nowhere.invalid" },
		"TLS":  func() string { return strings.Replace(plain.URL, "http:", "https:", 1) },
		"timeout": func() string {
			return serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		},
		"cut off": func() string {
			return serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		},
		"redirect": func() string {
			return serve(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, r.URL.Path+"/again", http.StatusTemporaryRedirect)
			})
		},
		"400": func() string {
			return serve(t, echo(400, "", `{"ok":false,"error_code":400,"description":"Bad Request: URL"}`))
		},
		"401": func() string {
			return serve(t, echo(401, "", `{"ok":false,"error_code":401,"description":"Unauthorized URL"}`))
		},
		"409": func() string {
			return serve(t, echo(409, "", `{"ok":false,"error_code":409,"description":"Conflict URL"}`))
		},
		"502":     func() string { return serve(t, echo(502, "", `<html>URL</html>`)) },
		"no JSON": func() string { return serve(t, echo(200, "", `URL`)) },
	}
	for name, server := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c, err := New(Options{
				Token: testToken, APIURL: server(), CallTimeout: 200 * time.Millisecond,
				Logger: slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})),
			})
			testutil.OK(t, err)
			_, err = c.Connect(t.Context())
			fmt.Fprintf(&out, "%v %+v %#v\n", err, err, err)
			_, err = c.Send(t.Context(), adapters.OutgoingMessage{Chat: "1", Text: "x"})
			fmt.Fprintf(&out, "%v %+v %#v\n", err, err, err)
			for err != nil {
				fmt.Fprintf(&out, "%v %#v\n", err, err)
				err = errors.Unwrap(err)
			}
			fmt.Fprintf(&out, "%v\n", c.Receive(t.Context(), nil, &sink{}))
			for _, form := range []string{
				testToken, "words_of_a_token", url.QueryEscape(testToken),
				base64.StdEncoding.EncodeToString([]byte(testToken)),
			} {
				if strings.Contains(out.String(), form) {
					t.Errorf("%s is in %s", form, out.String())
				}
			}
		})
	}
}

// serve starts a server for one test. It reads every request whole, for only
// then it sees the client leave.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) //nolint:errcheck // what is missing is not the test's matter
		h(w, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	return server.URL
}

// S16: a redirect would carry the token and the words to another host.
func TestRedirectIsNotFollowed(t *testing.T) {
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	c, err := New(Options{Token: testToken, APIURL: serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other+r.URL.Path, http.StatusTemporaryRedirect)
	})})
	testutil.OK(t, err)
	if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: "1", Text: "x"}); adapters.KindOf(err) != adapters.Unknown {
		t.Errorf("got %v, want unknown", err)
	}
}

func TestPaceIsTelegramsUnlessSwitchedOff(t *testing.T) {
	c, err := New(Options{Token: testToken})
	testutil.OK(t, err)
	if got := c.Pace(adapters.Chat{Kind: adapters.Direct}); got.Every != time.Second {
		t.Errorf("direct: %+v", got)
	}
	if got := c.Pace(adapters.Chat{Kind: adapters.Group}); got.Every != 3*time.Second {
		t.Errorf("group: %+v", got)
	}
	c.unpaced = true
	if got := c.Pace(adapters.Chat{Kind: adapters.Group}); got != (adapters.RateLimit{}) {
		t.Errorf("unpaced: %+v", got)
	}
}

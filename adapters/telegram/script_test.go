package telegram

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

const testToken = "123456:AAE-words_of_a_token"

// asked is one request as the server saw it.
type asked struct {
	Method string
	Form   url.Values
	At     time.Time
}

// script is a Telegram server without a network: reply answers each request, in order.
// It replaces the transport, so that tests run in a synctest bubble.
type script struct {
	t     *testing.T
	reply func(a asked) (status int, body string)

	mu   sync.Mutex // guards what follows
	seen []asked
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, err
	}
	before, method, ok := strings.Cut(r.URL.Path, "/bot"+testToken+"/")
	if !ok || before != "" {
		s.t.Errorf("request to %s", r.URL)
	}
	a := asked{Method: method, Form: form, At: time.Now()}
	s.mu.Lock()
	s.seen = append(s.seen, a)
	s.mu.Unlock()
	status, body := 200, `{"ok":true,"result":{"id":77,"is_bot":true,"first_name":"Ada","username":"ada_bot"}}`
	if method != "getMe" {
		status, body = s.reply(a)
	}
	if status == hang {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if status == hold {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(maxPoll):
			status, body = 200, `{"ok":true,"result":[]}`
		}
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{}, Request: r, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader([]byte(body))),
	}, nil
}

// What a reply's status can be besides HTTP's.
const (
	hang = -1 // wait until the request's context ends
	hold = -2 // answer an empty poll after the longest time a poll may last
)

// calls returns what was asked of method so far.
func (s *script) calls(method string) []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []asked
	for _, a := range s.seen {
		if a.Method == method {
			out = append(out, a)
		}
	}
	return out
}

// open returns a client that talks to the script.
func (s *script) open() *Client {
	s.t.Helper()
	c, err := New(Options{Token: testToken, APIURL: "http://telegram.test/", HTTPClient: &http.Client{Transport: s}})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// polls answers getUpdates with the bodies in order, then holds every poll open
// until it times out.
func polls(t *testing.T, bodies ...string) *script {
	t.Helper()
	s := &script{t: t}
	left := bodies
	s.reply = func(a asked) (int, string) {
		if a.Method == "getWebhookInfo" {
			return 200, `{"ok":true,"result":{"url":""}}`
		}
		if len(left) == 0 {
			return hang, ""
		}
		body := left[0]
		left = left[1:]
		switch {
		case strings.HasPrefix(body, "409"), strings.HasPrefix(body, "401"), strings.HasPrefix(body, "429"):
			return int(body[0]-'0')*100 + int(body[1]-'0')*10 + int(body[2]-'0'), body[4:]
		case strings.HasPrefix(body, "502"):
			return 502, body[4:]
		default:
			return 200, body
		}
	}
	return s
}

// sink keeps what it is given. It refuses the first refuse batches.
type sink struct {
	refuse int

	mu      sync.Mutex // guards what follows
	batches []adapters.UpdateBatch
	heard   []time.Time
}

func (s *sink) Accept(_ context.Context, b adapters.UpdateBatch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse > 0 {
		s.refuse--
		return io.ErrShortWrite
	}
	s.batches = append(s.batches, b)
	return nil
}

func (s *sink) Alive(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, at)
}

func (s *sink) updates() []adapters.Update {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []adapters.Update
	for _, b := range s.batches {
		out = append(out, b.Updates...)
	}
	return out
}

package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/adaptertest"
	"github.com/trestle-bridge/trestle/adapters/hook"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// Issue 31, point 7.
func TestHooksPassTheSuite(t *testing.T) { adaptertest.Run(t, openRig) }

const (
	token       = "token-of-the-build-server"
	secret      = "secret-of-the-build-server"
	replySecret = "secret-of-the-replies"
)

// counter mints ids that grow.
func counter() func() string {
	var mu sync.Mutex
	n := 0
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("%08d", n)
	}
}

// A buildServer posts events to a hook, each until it is taken, and takes replies.
type buildServer struct {
	newID func() string
	says  chan func(context.Context) bool
	last  func(context.Context) bool

	mu       sync.Mutex // guards what follows
	hook     *hook.Client
	shown    map[string][]adaptertest.SentMessage
	fails    adaptertest.CallFailure
	requests int
	refused  int
	logs     bytes.Buffer
}

// Write takes a line of the log.
func (b *buildServer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.logs.Write(p)
}

// open returns the hook of a new process.
func (b *buildServer) open(t *testing.T) adapters.Adapter {
	t.Helper()
	c, err := hook.New(hook.Options{
		Name: "ci", Token: token, ReplyURL: "https://ci.example/replies?key=" + replySecret, ReplySecret: replySecret, NewID: b.newID,
		HTTPClient: &http.Client{Transport: httpx.RoundTripFunc(b.reply)}, Logger: slog.New(slog.NewTextHandler(b, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hook = c
	return c
}

func openRig(t *testing.T) adaptertest.SuiteFixture {
	t.Helper()
	b := &buildServer{newID: counter(), says: make(chan func(context.Context) bool, 1000), shown: map[string][]adaptertest.SentMessage{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() { b.persist(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	return adaptertest.SuiteFixture{
		Adapter: b.open(t), Restart: func() adapters.Adapter { return b.open(t) },
		Chat: "events", Other: "deploys", Thread: "build 7", Secret: replySecret,
		Sender: adapters.Service, Refused: func() int { b.mu.Lock(); defer b.mu.Unlock(); return b.refused },
		Say:       b.say,
		Redeliver: func() { b.says <- b.last },
		Fail: func(f adaptertest.CallFailure) bool {
			if slices.Contains([]adaptertest.CallFailure{adaptertest.MovedAway, adaptertest.Garbled, adaptertest.ReadLost, adaptertest.OtherReader, adaptertest.Dismissed}, f) {
				return false
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			b.fails = f
			return true
		},
		Requests: func() int { b.mu.Lock(); defer b.mu.Unlock(); return b.requests },
		Sent: func(chat string) []adaptertest.SentMessage {
			synctest.Wait()
			b.mu.Lock()
			defer b.mu.Unlock()
			return slices.Clone(b.shown[chat])
		},
		Logs: func() string { b.mu.Lock(); defer b.mu.Unlock(); return b.logs.String() },
	}
}

// say posts an event until the hook takes it, after those before it.
func (b *buildServer) say(l adaptertest.HumanLine) string {
	id := "event-" + b.newID()
	body, err := json.Marshal(map[string]string{"text": l.Text, "chat": l.Chat, "thread": l.Thread, "reply_to": l.ReplyTo})
	if err != nil {
		panic(err)
	}
	b.last = func(ctx context.Context) bool {
		r := post(ctx, string(body), "Authorization", "Bearer "+token, "Idempotency-Key", id)
		w := httptest.NewRecorder()
		b.mu.Lock()
		c := b.hook
		b.mu.Unlock()
		c.ServeHTTP(w, r)
		if w.Code == http.StatusRequestEntityTooLarge {
			b.mu.Lock()
			b.refused++
			b.mu.Unlock()
		}
		return w.Code != http.StatusServiceUnavailable && w.Code != http.StatusTooManyRequests
	}
	b.says <- b.last
	return id
}

func (b *buildServer) persist(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case say := <-b.says:
			for !say(ctx) && ctx.Err() == nil {
				<-time.After(time.Second)
			}
		}
	}
}

// reply takes a reply, or fails as it was told to.
func (b *buildServer) reply(r *http.Request) (*http.Response, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.fails
	b.fails = ""
	if f == adaptertest.Unreachable {
		return nil, errors.New("connection refused")
	}
	b.requests++
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	status := map[adaptertest.CallFailure]int{
		adaptertest.TooFast: 429, adaptertest.BadMessage: 400, adaptertest.NoThread: 404, adaptertest.Blocked: 403, adaptertest.Broken: 500, "": 202, adaptertest.AnswerLost: 202,
	}[f]
	switch {
	case status == 202:
		var m struct{ ID, Chat, Thread, Text, Reply_To string }
		if err := json.Unmarshal(body, &m); err != nil {
			return nil, err
		}
		b.shown[m.Chat] = append(b.shown[m.Chat], adaptertest.SentMessage{Message: m.ID, Thread: m.Thread, ReplyTo: m.Reply_To, Text: plain(m.Text)})
		if f == adaptertest.AnswerLost {
			return nil, io.ErrUnexpectedEOF
		}
	case f == adaptertest.RequestLost:
		return nil, io.ErrUnexpectedEOF
	case f == adaptertest.Hung:
		b.mu.Unlock()
		<-r.Context().Done()
		b.mu.Lock()
		return nil, r.Context().Err()
	}
	resp := httptest.NewRecorder()
	resp.Header().Set("Retry-After", "2")
	resp.WriteHeader(status)
	return resp.Result(), nil
}

// plain takes the few marks out that the suite uses.
func plain(s string) string {
	s = strings.Replace(s, "```go", "", 1)
	s = strings.ReplaceAll(s, "](https://example.com/?a=1&b=2)", "]")
	return strings.NewReplacer("**", "", "*", "").Replace(s)
}

// post returns a call with headers, given as names and values.
func post(ctx context.Context, body string, headers ...string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/hooks/ci", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

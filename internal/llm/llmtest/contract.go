package llmtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A ProviderDialect is how one provider's API says the same things: the shapes of requests
// and answers, taken from its documentation.
type ProviderDialect struct {
	// Name is the name of the provider.
	Name string
	// Answer returns the body of an answer, as events of a stream.
	Answer func(a DialectAnswer) string
	// Comment is a line of a stream that is no part of an answer.
	Comment string
	// Half returns a body that ends after the first piece of the text.
	Half func(text string) string
	// Thought returns events of a model that thinks, without a word of the answer; "" when
	// the API shows none.
	Thought func(text string) string
	// Refusals are what the endpoint answers in place of an answer, by what it means.
	Refusals []DialectRefusal
	// Model is what the endpoint tells of a model with a window of 200000 tokens.
	Model string
	// Read decodes the body of a request.
	Read func(path string, body []byte) (DialectRequest, error)
	// HasKey reports whether a request carries the key.
	HasKey func(r *http.Request, key string) bool
}

// A DialectAnswer is what an endpoint answers.
type DialectAnswer struct {
	Pieces []string // of the text
	Calls  []llm.ToolCall
	Finish llm.FinishReason
	Usage  llm.TokenUsage
}

// A DialectRefusal is an error of an endpoint.
type DialectRefusal struct {
	Status int // 0: within a stream
	Header http.Header
	Body   string
	Want   llm.ErrorKind
	// Wait and Window are what is read from it.
	Wait   time.Duration
	Window int
}

// A DialectRequest is a request as the endpoint understands it.
type DialectRequest struct {
	Model     string
	Stream    bool
	Messages  []llm.TranscriptMessage // consecutive ones of a role may be joined
	Tools     []string
	NoCalls   bool
	MaxOutput int
}

// ClientSettings are what a client of a contract test is opened with.
type ClientSettings struct {
	BaseURL, Key            string
	Transport               http.RoundTripper
	FirstToken, Idle, Total time.Duration
	Learned                 llm.CapabilityStore
}

// A ContractSuite checks that a client keeps the contract of [llm.ChatModel] whatever its
// provider: each test names the promise.
type ContractSuite struct {
	Dialect ProviderDialect
	// Open opens a client of the provider.
	Open func(tb testing.TB, s ClientSettings) llm.ChatModel
}

// contractKey is the key of clients in these tests.
const contractKey = "sk-planted-0123456789"

// Run runs the whole suite.
func (c ContractSuite) Run(t *testing.T) {
	t.Helper()
	t.Run("streams text", c.streamsText)
	t.Run("tells reasoning apart from text", c.tellsReasoning)
	t.Run("returns calls as they were written", c.returnsCalls)
	t.Run("sends the transcript", c.sendsTranscript)
	t.Run("tells why the model stopped", c.tellsFinish)
	t.Run("sorts refusals", c.sortsRefusals)
	t.Run("learns the window", c.learnsWindow)
	t.Run("fails on a cut answer", c.failsOnCut)
	t.Run("ends slow calls", c.endsSlowCalls)
	t.Run("ends with its caller", c.endsWithCaller)
	t.Run("keeps the key to itself", c.hidesKey)
	t.Run("sends a request once", c.sendsOnce)
	t.Run("serves calls at once", c.servesConcurrently)
	t.Run("reads from a socket", c.readsSocket)
}

// bodyServer answers requests for an answer with bodies, one after the other, and keeps the
// requests.
type bodyServer struct {
	dialect ProviderDialect
	mu      sync.Mutex // guards all below
	answers []DialectRefusal
	seen    []DialectRequest
	keyless int
	broken  error
}

// RoundTrip implements [http.RoundTripper].
func (s *bodyServer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dialect.HasKey(r, contractKey) {
		s.keyless++
	}
	if r.Method == http.MethodGet {
		return respond(r, DialectRefusal{Status: http.StatusOK, Body: s.dialect.Model}), nil
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		var q DialectRequest
		q, err = s.dialect.Read(r.URL.Path, body)
		s.seen = append(s.seen, q)
	}
	s.broken = errors.Join(s.broken, err, r.Body.Close())
	next := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return respond(r, next), nil
}

// respond returns a response with the type that an endpoint gives it.
func respond(r *http.Request, a DialectRefusal) *http.Response {
	h := a.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Content-Type", "application/json")
	if a.Status == 0 {
		a.Status = http.StatusOK
		h.Set("Content-Type", "text/event-stream")
	}
	return &http.Response{StatusCode: a.Status, Header: h, Body: io.NopCloser(strings.NewReader(a.Body)), Request: r, ProtoMajor: 1, ProtoMinor: 1}
}

// client returns a client of a server that answers with bodies.
func (c ContractSuite) client(tb testing.TB, answers ...DialectRefusal) (llm.ChatModel, *bodyServer) {
	tb.Helper()
	s := &bodyServer{dialect: c.Dialect, answers: answers}
	return c.Open(tb, ClientSettings{BaseURL: "http://model.test", Key: contractKey, Transport: s}), s
}

func (c ContractSuite) streamed(a DialectAnswer) DialectRefusal {
	return DialectRefusal{Body: c.Dialect.Answer(a)}
}

// contractRequest is the request of most tests.
func contractRequest() llm.ModelRequest {
	return llm.ModelRequest{
		Model: "m", MaxOutput: 500, Tokens: 100, CacheKey: "c",
		Messages: []llm.TranscriptMessage{{Role: llm.System, Text: "You are Ada."}, {Role: llm.User, Text: "hello"}},
		Tools:    []llm.ToolSpec{{Name: "send_message", Description: "says", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`)}},
	}
}

func (c ContractSuite) streamsText(t *testing.T) {
	usage := llm.TokenUsage{Prompt: 1200, Cached: 1000, Output: 34}
	body := c.Dialect.Comment + c.Dialect.Answer(DialectAnswer{Pieces: []string{"Good ", "mörning", " 🦉"}, Finish: llm.Stopped, Usage: usage})
	for name, text := range map[string]string{"as it is": body, "with CRLF": strings.ReplaceAll(body, "\n", "\r\n")} {
		client, s := c.client(t, DialectRefusal{Body: text})
		r := contractRequest()
		var heard []string
		r.Hear = func(soFar llm.ModelResponse) {
			if len(heard) == 0 && soFar.Text != "" || len(heard) > 0 && heard[len(heard)-1] != soFar.Text {
				heard = append(heard, soFar.Text)
			}
		}
		grown := 0
		r.Grew = func(n int) { grown += n }
		got, err := client.Generate(t.Context(), r)
		if err != nil || got.Text != "Good mörning 🦉" || got.Finish != llm.Stopped || got.Usage != usage || len(got.Calls) > 0 {
			t.Errorf("%s: answer %+v, error %v", name, got, err)
		}
		if want := []string{"Good ", "Good mörning", "Good mörning 🦉"}; !slices.Equal(heard, want) {
			t.Errorf("%s: heard %q, want %q", name, heard, want)
		}
		if grown != len(got.Text) {
			t.Errorf("%s: the answer grew by %d bytes, want %d", name, grown, len(got.Text))
		}
		if s.broken != nil || s.keyless > 0 || !s.seen[0].Stream || s.seen[0].Model != "m" {
			t.Errorf("%s: the request is %+v, %v, without a key %d", name, s.seen, s.broken, s.keyless)
		}
	}
}

func (c ContractSuite) returnsCalls(t *testing.T) {
	calls := []llm.ToolCall{
		{ID: "call_1", Name: "send_message", Args: `{"text":"a \"b\"\nç","to":1234567890123456789,"x":1.50}`},
		{ID: "call_2", Name: "send_message", Args: `{}`},
	}
	client, _ := c.client(t, c.streamed(DialectAnswer{Pieces: []string{"I say it."}, Calls: calls, Finish: llm.Called, Usage: llm.TokenUsage{Prompt: 10, Output: 5}}))
	r := contractRequest()
	heard := 0
	r.Hear = func(soFar llm.ModelResponse) { heard = max(heard, len(soFar.Calls)) }
	got, err := client.Generate(t.Context(), r)
	if err != nil || got.Finish != llm.Called || got.Text != "I say it." || len(got.Calls) != 2 || heard != 2 {
		t.Fatalf("answer %+v, error %v, heard %d calls", got, err, heard)
	}
	for i, want := range calls {
		have := got.Calls[i]
		if have.Name != want.Name || have.Args != want.Args || have.ID == "" {
			t.Errorf("call %d is %+v, want %+v", i, have, want)
		}
	}
	if got.Calls[0].ID == got.Calls[1].ID {
		t.Errorf("two calls have the id %s", got.Calls[0].ID)
	}
	r.NoCalls = true
	client, s := c.client(t, c.streamed(DialectAnswer{Pieces: []string{"I say it."}, Calls: calls, Finish: llm.Called, Usage: llm.TokenUsage{Prompt: 10, Output: 5}}))
	if got, err := client.Generate(t.Context(), r); err != nil || len(got.Calls) > 0 || got.Finish != llm.Stopped {
		t.Errorf("without calls: %+v, %v", got, err)
	}
	if q := s.seen[0]; !q.NoCalls || len(q.Tools) != 1 {
		t.Errorf("without calls the request is %+v", q)
	}
}

func (c ContractSuite) sendsTranscript(t *testing.T) {
	client, s := c.client(t, c.streamed(DialectAnswer{Pieces: []string{"ok"}, Finish: llm.Stopped, Usage: llm.TokenUsage{Prompt: 10, Output: 5}}))
	r := contractRequest()
	r.Messages = append(r.Messages,
		llm.TranscriptMessage{Role: llm.Assistant, Text: "I look.", Calls: []llm.ToolCall{
			{ID: "call_1", Name: "send_message", Args: `{"to":1234567890123456789}`}, {ID: "call_2", Name: "send_message", Args: `{}`},
		}},
		llm.TranscriptMessage{Role: llm.Result, CallID: "call_1", Text: "sent"},
		llm.TranscriptMessage{Role: llm.Result, CallID: "call_2", Text: "sent, too"},
		llm.TranscriptMessage{Role: llm.User, Text: "And this?", Pictures: []llm.ModelImage{{Media: "image/png", Data: []byte("\x89PNG"), Tokens: 9}}},
	)
	if _, err := client.Generate(t.Context(), r); err != nil || s.broken != nil {
		t.Fatal(err, s.broken)
	}
	q := s.seen[0]
	if len(q.Tools) != 1 || q.Tools[0] != "send_message" || q.MaxOutput < r.MaxOutput {
		t.Errorf("the request has the tools %q and the limit %d", q.Tools, q.MaxOutput)
	}
	if want, have := spoken(r.Messages), spoken(q.Messages); have != want {
		t.Errorf("the endpoint is shown\n%s\nwant\n%s", have, want)
	}
}

// spoken returns a transcript as text, where joined messages are equal to single ones.
func spoken(messages []llm.TranscriptMessage) string {
	var out strings.Builder
	for _, m := range messages {
		if m.Text != "" && m.Role != llm.Result {
			out.WriteString(string(m.Role) + ": " + m.Text + "\n")
		}
		for _, p := range m.Pictures {
			out.WriteString(string(m.Role) + ": picture " + p.Media + " " + string(p.Data) + "\n")
		}
		for _, call := range m.Calls {
			out.WriteString("call " + call.ID + " " + call.Name + " " + call.Args + "\n")
		}
		if m.Role == llm.Result {
			out.WriteString("result " + m.CallID + " " + m.Text + "\n")
		}
	}
	return out.String()
}

func (c ContractSuite) tellsFinish(t *testing.T) {
	for _, want := range []llm.FinishReason{llm.Stopped, llm.Length, llm.Blocked} {
		client, _ := c.client(t, c.streamed(DialectAnswer{Pieces: []string{"half a"}, Finish: want, Usage: llm.TokenUsage{Prompt: 10, Output: 5}}))
		if got, err := client.Generate(t.Context(), contractRequest()); err != nil || got.Finish != want || got.Text != "half a" {
			t.Errorf("%s: %+v, %v", want, got, err)
		}
	}
	client, _ := c.client(t, c.streamed(DialectAnswer{Finish: llm.Stopped, Usage: llm.TokenUsage{Prompt: 10, Output: 1}}))
	if got, err := client.Generate(t.Context(), contractRequest()); err != nil || got.Text != "" || got.Finish != llm.Stopped {
		t.Errorf("an empty answer: %+v, %v", got, err)
	}
}

func (c ContractSuite) sortsRefusals(t *testing.T) {
	seen := map[llm.ErrorKind]bool{}
	for _, refusal := range c.Dialect.Refusals {
		client, _ := c.client(t, refusal)
		_, err := client.Generate(t.Context(), contractRequest())
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Kind != refusal.Want || refusal.Status != 0 && e.Status != refusal.Status || e.RetryAfter != refusal.Wait {
			t.Errorf("%d %s\n\tgives %v (%+v), want %s after %s", refusal.Status, refusal.Body, err, e, refusal.Want, refusal.Wait)
		}
		seen[refusal.Want] = true
	}
	for _, kind := range []llm.ErrorKind{llm.Unavailable, llm.Limited, llm.Denied, llm.NoModel, llm.Rejected, llm.TooLong} {
		if !seen[kind] {
			t.Errorf("the dialect has no refusal that means %s", kind)
		}
	}
}

// learnedStore is a [llm.CapabilityStore] of one endpoint.
type learnedStore struct {
	mu    sync.Mutex // guards all below
	saved llm.ModelCapability
}

// LoadCapability implements [llm.CapabilityStore].
func (s *learnedStore) LoadCapability(string, string) llm.ModelCapability {
	return llm.ModelCapability{}
}

// SaveCapability implements [llm.CapabilityStore].
func (s *learnedStore) SaveCapability(_, _ string, c llm.ModelCapability) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = c
	return nil
}

func (c ContractSuite) learnsWindow(t *testing.T) {
	for _, refusal := range c.Dialect.Refusals {
		if refusal.Want != llm.TooLong {
			continue
		}
		store := &learnedStore{}
		s := &bodyServer{dialect: c.Dialect, answers: []DialectRefusal{refusal}}
		client := c.Open(t, ClientSettings{BaseURL: "http://model.test", Key: contractKey, Transport: s, Learned: store})
		r := contractRequest()
		r.Tokens = 400_000
		_, err := client.Generate(t.Context(), r)
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Window != refusal.Window || store.saved.Window != refusal.Window || llm.CapabilityOf(client, "m").Window != refusal.Window {
			t.Errorf("%s\n\tgives %v with the window %+v, kept %+v, want %d", refusal.Body, err, e, store.saved, refusal.Window)
		}
	}
}

// tellsReasoning tests that what a model thinks before it answers is told, and is no part
// of what it says.
func (c ContractSuite) tellsReasoning(t *testing.T) {
	body := c.Dialect.Thought("They greet ") + c.Dialect.Thought("me.") + c.Dialect.Answer(DialectAnswer{
		Pieces: []string{"Good ", "morning"}, Finish: llm.Stopped, Usage: llm.TokenUsage{Prompt: 10, Output: 5},
	})
	client, _ := c.client(t, DialectRefusal{Body: body})
	r, told := contractRequest(), ""
	r.Hear = func(soFar llm.ModelResponse) { told = soFar.Text }
	got, err := client.Generate(t.Context(), r)
	if err != nil || strings.Join(strings.Fields(got.Reasoning), " ") != "They greet me." || got.Text != "Good morning" || told != "Good morning" {
		t.Errorf("answer %+v, heard %q, error %v", got, told, err)
	}
}

func (c ContractSuite) failsOnCut(t *testing.T) {
	whole := c.Dialect.Answer(DialectAnswer{Pieces: []string{"a", "b", "c"}, Calls: []llm.ToolCall{{ID: "call_1", Name: "send_message", Args: `{"text":"hi"}`}}, Finish: llm.Called, Usage: llm.TokenUsage{Prompt: 10, Output: 5}})
	for name, body := range map[string]string{
		"half a text": c.Dialect.Half("Good mor"), "nothing": "", "comments": c.Dialect.Comment,
		"a page": "<!DOCTYPE html><html><head><title>Sign in</title></head></html>", "within an event": whole[:len(whole)/3],
	} {
		client, _ := c.client(t, DialectRefusal{Body: body})
		if got, err := client.Generate(t.Context(), contractRequest()); err == nil || !llm.KindOf(err).Retryable() {
			t.Errorf("%s: answer %+v, error %v", name, got, err)
		}
	}
}

func (c ContractSuite) endsSlowCalls(t *testing.T) {
	words := c.Dialect.Half("I think about it. ")
	all := c.Dialect.Answer(DialectAnswer{Pieces: []string{"well"}, Finish: llm.Stopped, Usage: llm.TokenUsage{Prompt: 10, Output: 5}})
	for name, tt := range map[string]struct {
		wait  time.Duration // before each piece
		body  []string
		after time.Duration
		hung  bool // false: the answer is whole, or falls silent
		fails bool
	}{
		"no word":          {5 * time.Minute, []string{all}, time.Minute, true, true},
		"comments alone":   {10 * time.Second, slices.Repeat([]string{": ping\n\n"}, 100), time.Minute, true, true},
		"a pause":          {20 * time.Second, []string{words}, 40 * time.Second, false, true},
		"a long thought":   {12 * time.Second, append(slices.Repeat([]string{c.Dialect.Thought("I think about it. ")}, 8), all), 2 * time.Minute, false, false},
		"a slow beginning": {50 * time.Second, []string{all}, 100 * time.Second, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := c.Open(t, ClientSettings{
					BaseURL: "http://model.test", Key: contractKey, FirstToken: time.Minute, Idle: 15 * time.Second, Total: 10 * time.Minute,
					Transport: slowServer{tt.wait, tt.body},
				})
				began := time.Now()
				_, err := client.Generate(t.Context(), contractRequest())
				e, _ := errors.AsType[*llm.Error](err)
				switch took := time.Since(began); {
				case !tt.fails:
					if err != nil {
						t.Errorf("after %s: %v", took, err)
					}
				case e == nil || e.Kind != llm.Timeout || e.Hung != tt.hung:
					t.Errorf("after %s: %v, want a timeout, hung %v", took, err, tt.hung)
				case took > tt.after:
					t.Errorf("it ended after %s, want %s", took, tt.after)
				}
			})
		})
	}
}

// slowServer answers with pieces, each after a wait, and then with silence.
type slowServer struct {
	wait   time.Duration
	pieces []string
}

// RoundTrip implements [http.RoundTripper].
func (s slowServer) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := respond(r, DialectRefusal{})
	resp.Body = &slowBody{wait: func(d time.Duration) error {
		if !waitFor(r.Context(), d) {
			return context.Cause(r.Context())
		}
		return nil
	}, gap: s.wait, pieces: slices.Clone(s.pieces)}
	return resp, r.Body.Close()
}

type slowBody struct {
	wait   func(time.Duration) error // until the request ends
	gap    time.Duration
	pieces []string
}

// Read implements [io.Reader].
func (b *slowBody) Read(p []byte) (int, error) {
	gap := b.gap
	if len(b.pieces) == 0 {
		gap = time.Hour
	}
	if err := b.wait(gap); err != nil {
		return 0, err
	}
	if len(b.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.pieces[0])
	if b.pieces[0] = b.pieces[0][n:]; b.pieces[0] == "" {
		b.pieces = b.pieces[1:]
	}
	return n, nil
}

// Close implements [io.Closer].
func (b *slowBody) Close() error { return nil }

func (c ContractSuite) endsWithCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the person left")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(2*time.Second, func() { cancel(gone) })
		client := c.Open(t, ClientSettings{BaseURL: "http://model.test", Key: contractKey, Transport: slowServer{time.Second, []string{c.Dialect.Half("a")}}})
		began := time.Now()
		_, err := client.Generate(ctx, contractRequest())
		if !errors.Is(err, gone) || time.Since(began) > 3*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		limited, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := client.Generate(limited, contractRequest()); llm.KindOf(err) != llm.Timeout || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("at a deadline: %v", err)
		}
	})
}

func (c ContractSuite) hidesKey(t *testing.T) {
	answers := []DialectRefusal{
		{Status: 400, Body: `{"error":{"message":"bad key ` + contractKey + `","type":"` + contractKey + `"}}`},
		{Status: 401, Body: contractKey},
		{Body: "data: " + contractKey + "\n\n"},
		{Status: 302, Header: http.Header{"Location": {"https://x/?k=" + contractKey}}},
		{Body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"x\",\"message\":\"" + contractKey + "\"}}\n\n"},
	}
	for _, a := range answers {
		client, _ := c.client(t, a)
		_, err := client.Generate(t.Context(), contractRequest())
		if err == nil {
			t.Errorf("%+v is an answer", a)
		}
		for ; err != nil; err = errors.Unwrap(err) {
			if strings.Contains(err.Error(), contractKey) {
				t.Errorf("the error has the key: %v", err)
			}
		}
	}
	client := c.Open(t, ClientSettings{BaseURL: "http://model.test", Key: contractKey, Transport: brokenTransport{}})
	if _, err := client.Generate(t.Context(), contractRequest()); llm.KindOf(err) != llm.Unavailable || strings.Contains(err.Error(), contractKey) {
		t.Errorf("an endpoint that cannot be reached: %v", err)
	}
}

// brokenTransport reaches nothing and repeats what was sent.
type brokenTransport struct{}

// RoundTrip implements [http.RoundTripper].
func (brokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent strings.Builder
	for _, values := range r.Header {
		sent.WriteString(strings.Join(values, " "))
	}
	return nil, errors.Join(errors.New("no route with "+sent.String()+r.URL.String()), r.Body.Close())
}

func (c ContractSuite) sendsOnce(t *testing.T) {
	for _, status := range []int{500, 503, 529, 429, 408} {
		client, s := c.client(t, DialectRefusal{Status: status, Body: `{"error":{"message":"busy"}}`})
		if _, err := client.Generate(t.Context(), contractRequest()); err == nil || len(s.seen) != 1 {
			t.Errorf("%d: %d requests, error %v", status, len(s.seen), err)
		}
	}
}

func (c ContractSuite) servesConcurrently(t *testing.T) {
	client, _ := c.client(t, c.streamed(DialectAnswer{Pieces: []string{"a", "b"}, Finish: llm.Stopped, Usage: llm.TokenUsage{Prompt: 10, Output: 5}}))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := client.Generate(t.Context(), contractRequest()); err != nil || got.Text != "ab" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	all.Wait()
}

// readsSocket reads answers from a server on loopback, whole and with the connection broken.
func (c ContractSuite) readsSocket(t *testing.T) {
	all := c.Dialect.Answer(DialectAnswer{Pieces: []string{"a", "b"}, Finish: llm.Stopped, Usage: llm.TokenUsage{Prompt: 10, Output: 5}})
	breaks := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // it is checked elsewhere
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; i < len(all); i += 40 {
			_, _ = io.WriteString(w, all[i:min(i+40, len(all))])
			_ = http.NewResponseController(w).Flush()
			if breaks && i > len(all)/3 {
				panic(http.ErrAbortHandler)
			}
		}
	}))
	defer server.Close()
	client := c.Open(t, ClientSettings{BaseURL: server.URL, Key: contractKey})
	if got, err := client.Generate(t.Context(), contractRequest()); err != nil || got.Text != "ab" {
		t.Errorf("%+v, %v", got, err)
	}
	breaks = true
	if got, err := client.Generate(t.Context(), contractRequest()); err == nil || !llm.KindOf(err).Retryable() {
		t.Errorf("a broken connection: %+v, %v", got, err)
	}
}

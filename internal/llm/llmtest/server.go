// Package llmtest has simulated language models, for tests, fault injection and
// benchmarks.
//
//   - [Scripted] answers what the test scripts, and fails the test on further requests.
//   - [LeakyModel] repeats its whole prompt, to test protection against leaks.
//   - [InjectionVictim] obeys orders in any text of its prompt, to test denials.
//   - [Server] puts any model behind an HTTP endpoint like OpenAI's, with faults,
//     a ledger and the transcript validator [Check] on every request.
//
// All are deterministic and safe for concurrent use.
package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// Server is an HTTP endpoint like OpenAI's in front of any model.
//
// It serves POST …/chat/completions, streamed or not, POST …/embeddings with
// [Vector], and GET …/models, under any base path. The ledger stores every chat
// request with the result of [Check] and its usage: a quarter of the bytes as prompt
// tokens, cached as far as an earlier request begins with the same bytes. Set the
// fields before the first request.
type Server struct {
	// Model answers. Its errors become HTTP errors of the fitting status.
	Model llm.ChatModel
	// Key is the bearer token that requests must carry. Default: any or none.
	Key string
	// Names are the models that exist. Default: every name does.
	Names []string
	// Delay returns the latency of the answer to a request. Default: none.
	Delay func(llm.ModelRequest) time.Duration
	// Gap is the pause before each piece of a streamed answer, which is then split into
	// a few words each. Default: none; a stream has two halves.
	Gap time.Duration
	// Fault returns the fault of the nth request, from 1. Default: none.
	Fault func(n int, r llm.ModelRequest) EndpointFault
	// Rules are what the endpoint requires of requests; it refuses those that break one,
	// before the ledger. Default: none.
	Rules []EndpointRule
	// Window limits the tokens of a request that are read. The beginning of a longer one
	// is dropped silently, as some servers do. Default: no limit.
	Window int
	// Keep is how many of the newest requests the ledger keeps. Default: all;
	// negative keeps none. Totals count all requests in any case.
	Keep int

	// A ledger keeps the newest entries.
	ledger ledger
	cache  prefixCache
	tools  toolCache
	bodies sync.Pool // of *bytes.Buffer
}

var _ http.Handler = (*Server)(nil)

// mostBody limits the body of a request.
const mostBody = 64 << 20

// Serve serves on l until ctx ends, closes it, and returns nil or the error that
// stopped it earlier. Open requests are cut off.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Serve(l) }()
	select {
	case err := <-stopped:
		return fmt.Errorf("serve the model: %w", err)
	case <-ctx.Done():
	}
	err := srv.Close()
	if why := <-stopped; !errors.Is(why, http.ErrServerClosed) {
		err = errors.Join(err, why)
	}
	return err
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key:
		writeError(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		s.complete(w, r)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/embeddings"):
		s.embed(w, r)
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		s.list(w)
	default:
		writeError(w, http.StatusNotFound, "unknown_url", "Unknown request URL: "+r.Method+" "+r.URL.Path+".")
	}
}

// complete handles one chat completion: read, store in the ledger, answer.
func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, ok := s.bodies.Get().(*bytes.Buffer)
	if !ok {
		body = new(bytes.Buffer)
	}
	defer s.bodies.Put(body)
	body.Reset()
	if _, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, mostBody)); err != nil {
		writeError(w, http.StatusRequestEntityTooLarge, "invalid_request_error", "The body cannot be read.")
		return
	}
	if s.refused(w, body.Bytes()) {
		return
	}
	req, err := s.read(body.Bytes())
	if err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	prompt, cached := s.cache.measure(req)
	if s.Window > 0 && prompt > s.Window {
		dropBeginning(req.Messages, (prompt-s.Window)*4)
		prompt, cached = s.Window, min(cached, s.Window)
	}
	n := s.ledger.begin(&LedgerEntry{
		At:        time.Now(),
		Request:   req.ModelRequest,
		Stream:    req.Stream,
		Bytes:     body.Len(),
		Usage:     llm.TokenUsage{Prompt: prompt, Cached: cached},
		Violation: s.violation(&req),
	}, s.Keep)
	s.answer(w, r, req, n, llm.TokenUsage{Prompt: prompt, Cached: cached})
}

// dropBeginning cuts n bytes from the beginning of a transcript.
func dropBeginning(messages []llm.TranscriptMessage, n int) {
	for i := range messages {
		text := &messages[i].Text
		k := min(n, len(*text))
		*text, n = strings.ToValidUTF8((*text)[k:], ""), n-k
	}
}

// read decodes a body. Nothing of the result aliases it.
func (s *Server) read(body []byte) (wireRequest, error) {
	req, err := decodeRequest(body)
	if err != nil {
		return wireRequest{}, err
	}
	req.tools, err = s.tools.decode(req.RawTools)
	if err != nil {
		return wireRequest{}, err
	}
	req.RawTools, req.Tools = req.tools.raw, req.tools.tools
	return req, nil
}

// violation returns the result of [Check] for a request.
func (s *Server) violation(req *wireRequest) error {
	if req.tools.bad != nil {
		return req.tools.bad
	}
	return checkMessages(req.Messages)
}

// answer waits, injects the fault, or calls the model.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req wireRequest, n int, u llm.TokenUsage) {
	var fault EndpointFault
	if s.Fault != nil {
		fault = s.Fault(n, req.ModelRequest)
	}
	if fault.Kind == NoStreamOptions && !req.Usage {
		fault.Kind = None
	}
	s.ledger.mark(n, fault.Kind)
	if s.Delay != nil && !waitFor(r.Context(), s.Delay(req.ModelRequest)) {
		return
	}
	if !s.exists(req.Model) {
		writeError(w, http.StatusNotFound, "model_not_found", "The model `"+req.Model+"` does not exist.")
		return
	}
	resp, err := llm.ModelResponse{}, error(nil)
	if fault.Kind.asksModel() {
		resp, err = s.Model.Generate(r.Context(), req.ModelRequest)
	}
	if err != nil {
		writeModelError(w, err)
		return
	}
	resp.Usage = u
	resp.Usage.Output = (len(resp.Text) + sizeOf(resp.Calls) + 3) / 4
	if s.inject(w, r, &req, fault, &resp) {
		return
	}
	if s.Gap > 0 && req.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		if !writePiecemeal(w, r, append(answerEvents(req, n, resp, splitWords), []byte("[DONE]")), s.Gap) {
			return
		}
		s.ledger.served(n, resp)
		return
	}
	s.ledger.served(n, resp)
	writeAnswer(w, req, n, resp)
}

func (s *Server) exists(name string) bool {
	return len(s.Names) == 0 || slices.Contains(s.Names, name)
}

// waitFor returns true after d, and false when ctx ends before.
func waitFor(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func sizeOf(calls []llm.ToolCall) int {
	n := 0
	for i := range calls {
		n += len(calls[i].Name) + len(calls[i].Args)
	}
	return n
}

// writeModelError answers with the HTTP status from which a client derives the same
// kind.
func writeModelError(w http.ResponseWriter, err error) {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		e = &llm.Error{Kind: llm.KindOf(err)}
	}
	switch e.Kind {
	case llm.Unavailable, llm.Garbled:
		writeError(w, http.StatusServiceUnavailable, "server_error", "The server is overloaded.")
	case llm.Timeout:
		writeError(w, http.StatusGatewayTimeout, "server_error", "The model took too long.")
	case llm.Limited:
		writeLimited(w, e.RetryAfter)
	case llm.Denied:
		writeError(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
	case llm.NoModel:
		writeError(w, http.StatusNotFound, "model_not_found", "The model does not exist.")
	case llm.Rejected:
		writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
	case llm.TooLong:
		words := "This model's maximum context length is exceeded."
		if e.Window > 0 {
			words = fmt.Sprintf("This model's maximum context length is %d tokens.", e.Window)
		}
		writeError(w, http.StatusBadRequest, "context_length_exceeded", words)
	}
}

// A LedgerEntry is one request. Its slices are shared and must not be changed.
type LedgerEntry struct {
	N         int // from 1, in order of arrival
	At        time.Time
	Request   llm.ModelRequest
	Stream    bool
	Bytes     int // of the body
	Fault     FaultKind
	Violation error          // of Check
	Served    bool           // a whole answer was written, perhaps after the client had gone
	Usage     llm.TokenUsage // Output is 0 unless served
}

// ServerTotals count all requests of a server, kept or not.
type ServerTotals struct {
	Requests   int
	Served     int
	Violations int
	First      error          // the first violation
	Usage      llm.TokenUsage // of the requests served
}

// A ledger keeps the newest entries.
type ledger struct {
	mu       sync.Mutex // guards all below
	entries  []*LedgerEntry
	totals   ServerTotals
	refusals []string // names of the rules that requests broke
}

// begin stores e and returns its number. keep is Server.Keep.
func (l *ledger) begin(e *LedgerEntry, keep int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totals.Requests++
	e.N = l.totals.Requests
	if e.Violation != nil {
		l.totals.Violations++
		if l.totals.First == nil {
			l.totals.First = e.Violation
		}
	}
	if keep < 0 {
		return e.N
	}
	if keep > 0 && len(l.entries) >= 2*keep { // rarely, to stay cheap
		l.entries = slices.Delete(l.entries, 0, len(l.entries)-keep+1)
	}
	l.entries = append(l.entries, e)
	return e.N
}

func (l *ledger) mark(n int, kind FaultKind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.find(n); e != nil {
		e.Fault = kind
	}
}

func (l *ledger) served(n int, resp llm.ModelResponse) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totals.Served++
	l.totals.Usage.Prompt += resp.Usage.Prompt
	l.totals.Usage.Cached += resp.Usage.Cached
	l.totals.Usage.Output += resp.Usage.Output
	if e := l.find(n); e != nil {
		e.Served, e.Usage = true, resp.Usage
	}
}

// find returns the kept entry with the number n. Numbers are consecutive.
func (l *ledger) find(n int) *LedgerEntry {
	if len(l.entries) == 0 {
		return nil
	}
	if i := n - l.entries[0].N; i >= 0 && i < len(l.entries) {
		return l.entries[i]
	}
	return nil
}

// Ledger returns the kept entries, oldest first.
func (s *Server) Ledger() []LedgerEntry {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	from := 0
	if s.Keep > 0 {
		from = max(0, len(s.ledger.entries)-s.Keep)
	}
	out := make([]LedgerEntry, 0, len(s.ledger.entries)-from)
	for _, e := range s.ledger.entries[from:] {
		out = append(out, *e)
	}
	return out
}

// Totals returns the counts so far.
func (s *Server) Totals() ServerTotals {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return s.ledger.totals
}

// vectorSize is how many numbers a vector of [Vector] has.
const vectorSize = 64

// Vector returns the embedding of a text: the more words two texts share, the nearer
// their vectors are.
func Vector(text string) []float32 {
	v := make([]float32, vectorSize)
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word)) // a hash takes all
		bits := h.Sum64()
		for i := range v {
			v[i] += float32(int(bits>>i&1)*2 - 1)
		}
	}
	return v
}

type wireVector struct {
	Object    string    `json:"object"`
	Index     int       `json:"index"`
	Embedding []float32 `json:"embedding"`
}

// embed answers POST …/embeddings.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody)).Decode(&asked); err != nil || len(asked.Input) == 0 {
		writeError(w, http.StatusBadRequest, "invalid_request_error", "The body holds no texts.")
		return
	}
	if !s.exists(asked.Model) {
		writeError(w, http.StatusNotFound, "model_not_found", "The model `"+asked.Model+"` does not exist.")
		return
	}
	answer := struct {
		Object string       `json:"object"`
		Model  string       `json:"model"`
		Data   []wireVector `json:"data"`
		Usage  wireUsage    `json:"usage"`
	}{Object: "list", Model: asked.Model}
	for i, text := range asked.Input {
		answer.Data = append(answer.Data, wireVector{"embedding", i, Vector(text)})
		answer.Usage.Prompt += (len(text) + 3) / 4
	}
	answer.Usage.Total = answer.Usage.Prompt
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client has gone
}

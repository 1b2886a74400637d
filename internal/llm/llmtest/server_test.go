package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// post sends body to s and returns the status and the answer.
func post(tb testing.TB, s *Server, body string) (int, string) {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func bodyWith(text string, more string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `{"model":"m","messages":[{"role":"user","content":` + string(quoted) + `}` + more + `]}`
}

func TestPlainAnswerHasMessageUsageAndLedger(t *testing.T) {
	s := &Server{Model: NewScripted(t.Errorf, ScriptStep{Response: llm.ModelResponse{Text: "hi", Calls: []llm.ToolCall{Call("a", "x", struct{}{})}}})}
	status, body := post(t, s, bodyWith("hello", ""))
	var got struct {
		Choices []struct {
			Message struct {
				Content   string
				ToolCalls []wireCall `json:"tool_calls"`
			}
			FinishReason string `json:"finish_reason"`
		}
		Usage wireUsage
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK || len(got.Choices) != 1 {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	c := got.Choices[0]
	if c.Message.Content != "hi" || c.FinishReason != "tool_calls" || len(c.Message.ToolCalls) != 1 || c.Message.ToolCalls[0].ID != "a" {
		t.Errorf("answer = %s", body)
	}
	e := s.Ledger()[0]
	if got.Usage.Prompt != 3 || e.Usage.Prompt != 3 || e.Usage.Output != got.Usage.Output || !e.Served || e.N != 1 || e.Bytes != len(bodyWith("hello", "")) {
		t.Errorf("usage %+v, entry %+v", got.Usage, e)
	}
}

func TestPrefixesOfEarlierRequestsAreCached(t *testing.T) {
	s := &Server{Model: LeakyModel{Brief: true}, Keep: 8}
	long := strings.Repeat("You are Ada. ", 100)
	post(t, s, bodyWith(long, ""))
	post(t, s, bodyWith(long, `,{"role":"user","content":"more"}`))
	post(t, s, bodyWith("x"+long, ""))
	l := s.Ledger()
	if l[0].Usage.Cached != 0 || l[2].Usage.Cached != 0 {
		t.Errorf("cached %d and %d, want none", l[0].Usage.Cached, l[2].Usage.Cached)
	}
	if got, most := l[1].Usage.Cached, len(long)/4+2; got < most-32 || got > most {
		t.Errorf("cached %d of %d tokens in common", got, most)
	}
}

// Usage and violation of a request do not depend on earlier requests with a common
// prefix.
func TestUsageAndViolationIgnoreEarlierRequests(t *testing.T) {
	s := &Server{Model: LeakyModel{Brief: true}, Keep: 1}
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	var messages []string
	violations := 0
	for range 500 {
		messages = messages[:min(len(messages), random.IntN(30))]
		for range random.IntN(4) + 1 {
			id := strconv.Itoa(random.IntN(40))
			messages = append(messages, []string{
				fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat(id+" word\n", random.IntN(60))),
				fmt.Sprintf(`{"role":"assistant","content":"a","tool_calls":[{"id":%q,"function":{"name":"x","arguments":"{}"}}]},{"role":"tool","tool_call_id":%q,"content":""}`, id, id),
				fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":%q,"function":{"name":"x","arguments":%q}}]}`, id, "{}"[:random.IntN(3)]),
			}[random.IntN(9)/4])
		}
		tools := []string{`[]`, `[{"type":"function","function":{"name":"x","description":"` + strings.Repeat("what it does ", 9) + `"}}]`}[random.IntN(8)/7]
		post(t, s, `{"tools":`+tools+`,"messages":[`+strings.Join(messages, ",")+`]}`)
		e := s.Ledger()[0]

		flat, cached := tools, 0
		for _, m := range e.Request.Messages {
			flat += string(m.Role) + "\n" + m.Text + "\n"
			for _, c := range m.Calls {
				flat += c.Name + c.Args
			}
		}
		for n := 128; n <= len(flat); n += 128 {
			if seen[flat[:n]] {
				cached = n / 4
			}
			seen[flat[:n]] = true
		}
		if got := e.Usage; got.Prompt != (len(flat)+3)/4 || got.Cached != cached {
			t.Fatalf("usage %+v, want %d and %d cached", got, (len(flat)+3)/4, cached)
		}
		want := Check(e.Request.Messages, e.Request.Tools)
		if fmt.Sprint(e.Violation) != fmt.Sprint(want) {
			t.Fatalf("violation %v, want %v", e.Violation, want)
		}
		if want != nil {
			violations++
		}
	}
	if violations < 50 || violations > 450 {
		t.Errorf("%d of 500 requests violate something", violations)
	}
}

func TestLedgerKeepsTheNewest(t *testing.T) {
	for keep, want := range map[int]int{0: 100, 7: 7, 1: 1, -1: 0} {
		s := &Server{Model: LeakyModel{}, Keep: keep}
		for range 100 {
			post(t, s, bodyWith("hello", `,{"role":"assistant"}`))
		}
		l, sum := s.Ledger(), s.Totals()
		if len(l) != want || (want > 0 && (l[want-1].N != 100 || l[0].N != 101-want || !l[0].Served)) {
			t.Errorf("keep %d: %d entries", keep, len(l))
		}
		if sum.Requests != 100 || sum.Served != 100 || sum.Violations != 100 || sum.First == nil || sum.Usage.Prompt == 0 {
			t.Errorf("keep %d: totals %+v", keep, sum)
		}
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	s := &Server{Model: LeakyModel{}, Key: "sk-right", Names: []string{"m"}}
	for _, tt := range []struct {
		method, path, key, body string
		want                    int
		says                    string
	}{
		{"POST", "/v1/chat/completions", "sk-wrong", bodyWith("x", ""), 401, "invalid_api_key"},
		{"POST", "/v1/chat/completions", "sk-right", "{", 400, "no chat completion"},
		{"POST", "/chat/completions", "sk-right", `{"model":"other","messages":[]}`, 404, "model_not_found"},
		{"POST", "/any/base/chat/completions", "sk-right", bodyWith("x", ""), 200, "chat.completion"},
		{"GET", "/v1/models", "sk-right", "", 200, `"id":"m"`},
		{"GET", "/v1/chat/completions", "sk-right", "", 404, "unknown_url"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, strings.NewReader(tt.body))
		r.Header.Set("Authorization", "Bearer "+tt.key)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != tt.want || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s %s: %d %s, want %d %s", tt.method, tt.path, w.Code, w.Body, tt.want, tt.says)
		}
	}
}

func TestErrorsOfTheModelBecomeHTTPErrors(t *testing.T) {
	for kind, want := range map[llm.ErrorKind]int{
		llm.Unavailable: 503, llm.Limited: 429, llm.Timeout: 504, llm.Garbled: 503,
		llm.Denied: 401, llm.NoModel: 404, llm.Rejected: 400, llm.TooLong: 400,
	} {
		s := &Server{Model: NewScripted(t.Errorf, Fails(kind))}
		if status, _ := post(t, s, bodyWith("x", "")); status != want || s.Totals().Served != 0 {
			t.Errorf("%s gives %d, want %d", kind, status, want)
		}
	}
}

func TestDelayHoldsTheAnswerBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Model: LeakyModel{}, Delay: func(llm.ModelRequest) time.Duration { return time.Second }}
		start := time.Now()
		if status, _ := post(t, s, bodyWith("x", "")); status != http.StatusOK || time.Since(start) != time.Second {
			t.Errorf("%d after %s, want 200 after 1s", status, time.Since(start))
		}
	})
}

func TestServeEndsWithItsContextEvenWhileRequestsHang(t *testing.T) {
	hangs := make(chan struct{})
	s := &Server{Model: LeakyModel{}, Fault: func(int, llm.ModelRequest) EndpointFault {
		close(hangs)
		return EndpointFault{Kind: HangBeforeHeaders}
	}}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	asked := make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String()+"/v1/chat/completions", strings.NewReader(bodyWith("x", "")))
		if err != nil {
			asked <- err
			return
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		asked <- err
	}()
	<-hangs
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := <-asked; err == nil {
		t.Error("a request that hangs was answered")
	}
}

func TestFaultsHaveNames(t *testing.T) {
	seen := make(map[string]bool)
	for _, k := range append(FaultKinds(), None) {
		if name := k.String(); name == "" || seen[name] {
			t.Errorf("fault %d is named %q", int(k), name)
		} else {
			seen[name] = true
		}
	}
}

func BenchmarkServer(b *testing.B) {
	s := &Server{Model: LeakyModel{Brief: true}, Keep: 16}
	text := strings.Repeat(`#a7 [Family] Kai (human): "hello there"`+"\n", 500) + `#a8 [Family] Kai (human): "hello" ← TRIGGER`
	body := strings.TrimSuffix(bodyWith(text, ""), "}") + `,"stream":true,"stream_options":{"include_usage":true}}`
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if status, _ := post(b, s, body); status != http.StatusOK {
			b.Fatal(status)
		}
	}
}

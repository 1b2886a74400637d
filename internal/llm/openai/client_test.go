package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

var hello = llm.ModelRequest{
	Model: "m",
	Messages: []llm.TranscriptMessage{
		{Role: llm.System, Text: "You are Ada."},
		{Role: llm.User, Text: `#a7 [Family] Kai (human): "hello <there>" ← TRIGGER`},
	},
	Tools:     []llm.ToolSpec{{Name: "send_message", Description: "Says something.", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"}}}`)}},
	MaxOutput: 100,
}

var goodAnswer = llm.ModelResponse{Text: "I shall greet Kai, ¡olé!", Calls: []llm.ToolCall{
	llmtest.Call("call_a", "send_message", map[string]string{"text": "Hello, Kai! ❤"}),
	llmtest.Call("call_b", "react", map[string]string{"message": "#a7", "emoji": "👋"}),
}}

// fakeTransport answers every request with what it returns.
type fakeTransport func(*http.Request) (*http.Response, error)

func (f fakeTransport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newClient returns a client of handler on loopback.
func newClient(t *testing.T, handler http.Handler, o modelhttp.ClientOptions) *Client {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	o.BaseURL = srv.URL + "/v1"
	transport := modelhttp.NewTransport(zeroCopyDialer)
	t.Cleanup(transport.CloseIdleConnections)
	o.Transport = transport
	return mustNew(t, o)
}

func mustNew(tb testing.TB, o modelhttp.ClientOptions) *Client {
	tb.Helper()
	c, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// canned returns a client whose every answer has the given status and body.
func canned(t *testing.T, status int, header http.Header, body string) *Client {
	t.Helper()
	return mustNew(t, modelhttp.ClientOptions{APIKey: "sk-secret", BaseURL: "http://model.test/v1", Transport: fakeTransport(
		func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
		})})
}

func TestAnswerArrivesWholeFromStreamAndFromPlainJSON(t *testing.T) {
	for _, kind := range []llmtest.FaultKind{llmtest.None, llmtest.PlainJSON} {
		t.Run(kind.String(), func(t *testing.T) {
			srv := &llmtest.Server{
				Model: llmtest.NewScripted(t.Errorf, llmtest.ScriptStep{Response: goodAnswer}),
				Key:   "sk-secret",
				Fault: func(int, llm.ModelRequest) llmtest.EndpointFault { return llmtest.EndpointFault{Kind: kind} },
			}
			c := newClient(t, srv, modelhttp.ClientOptions{APIKey: "sk-secret"})
			got, err := c.Generate(t.Context(), hello)
			if err != nil {
				t.Fatal(err)
			}
			want := llm.ModelResponse{Text: goodAnswer.Text, Calls: goodAnswer.Calls, Finish: llm.Called}
			want.Usage = srv.Ledger()[0].Usage
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if got.Usage.Prompt == 0 || got.Usage.Output == 0 || got.Usage.Estimated {
				t.Errorf("usage = %+v, want the endpoint's counts", got.Usage)
			}
			if diff := cmp.Diff(hello, srv.Ledger()[0].Request); diff != "" {
				t.Errorf("the endpoint saw another request (-want +got):\n%s", diff)
			}
		})
	}
}

// Every fault of an endpoint has one kind of error, within the limits.
func TestEveryFaultHasItsKind(t *testing.T) {
	want := map[llmtest.FaultKind]llm.ErrorKind{
		llmtest.HangBeforeHeaders: llm.Timeout,
		llmtest.HangAfterHeaders:  llm.Timeout,
		llmtest.HangMidStream:     llm.Timeout,
		llmtest.CutConnection:     llm.Garbled,
		llmtest.CutQuietly:        llm.Garbled,
		llmtest.BadJSON:           llm.Garbled,
		llmtest.HTML:              llm.Garbled,
		llmtest.WrongContentType:  llm.Garbled,
		llmtest.Unauthorized:      llm.Denied,
		llmtest.Spent:             llm.Denied,
		llmtest.TooMany:           llm.Limited,
		llmtest.ServerError:       llm.Unavailable,
		llmtest.ModelGone:         llm.NoModel,
		llmtest.ContextExceeded:   llm.TooLong,
		llmtest.BadTranscript:     llm.Rejected,
		llmtest.ErrorInStream:     llm.Unavailable,
	}
	answers := map[llmtest.FaultKind]func(*testing.T, llm.ModelResponse){
		llmtest.NoStreamOptions: isGoodAnswer,
		llmtest.PlainJSON:       isGoodAnswer,
		llmtest.Empty: func(t *testing.T, r llm.ModelResponse) {
			t.Helper()
			if r.Text != "" || len(r.Calls) > 0 || r.Finish != llm.Stopped {
				t.Errorf("answer = %+v, want an empty one", r)
			}
		},
		llmtest.CutLength: func(t *testing.T, r llm.ModelResponse) {
			t.Helper()
			if len(r.Calls) > 0 || r.Finish != llm.Length || r.Text == "" {
				t.Errorf("answer = %+v, want text and no calls", r)
			}
		},
		llmtest.Huge: func(t *testing.T, r llm.ModelResponse) {
			t.Helper()
			if r.Finish != llm.Length || len(r.Text) < 16<<10 || len(r.Text) > 256<<10 {
				t.Errorf("finish %s with %d bytes, want length with little more than its limit", r.Finish, len(r.Text))
			}
		},
		llmtest.ManyCalls: func(t *testing.T, r llm.ModelResponse) {
			t.Helper()
			if len(r.Calls) != 200 || r.Finish != llm.Called {
				t.Errorf("%d calls, finish %s, want 200", len(r.Calls), r.Finish)
			}
		},
		llmtest.UnknownTool: func(t *testing.T, r llm.ModelResponse) {
			t.Helper()
			if len(r.Calls) != 1 || r.Calls[0].Name != "launch_rocket" {
				t.Errorf("calls = %+v, want the unknown tool", r.Calls)
			}
		},
	}
	for _, kind := range llmtest.FaultKinds() {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			srv := &llmtest.Server{
				Model: llmtest.NewScripted(t.Errorf, llmtest.ScriptStep{Response: goodAnswer, Always: true}),
				Fault: func(int, llm.ModelRequest) llmtest.EndpointFault {
					return llmtest.EndpointFault{Kind: kind, RetryAfter: 1500 * time.Millisecond}
				},
			}
			limits := modelhttp.ClientOptions{Total: time.Minute, Idle: time.Minute}
			switch kind { //nolint:exhaustive // the ones that need a short limit
			case llmtest.HangBeforeHeaders, llmtest.HangAfterHeaders:
				limits.FirstToken = 60 * time.Millisecond
			case llmtest.HangMidStream:
				limits.Idle = 60 * time.Millisecond
			}
			got, err := newClient(t, srv, limits).Generate(t.Context(), hello)
			if check := answers[kind]; check != nil {
				if err != nil {
					t.Fatal(err)
				}
				check(t, got)
				return
			}
			wantKind, known := want[kind]
			if !known {
				t.Fatalf("the fault %s has no expected outcome", kind)
			}
			e, ok := errors.AsType[*llm.Error](err)
			if !ok || e.Kind != wantKind {
				t.Fatalf("error = %v, want %s", err, wantKind)
			}
			if kind == llmtest.TooMany && e.RetryAfter != 2*time.Second {
				t.Errorf("retry after = %s, want 2s", e.RetryAfter)
			}
			if !cmp.Equal(got, llm.ModelResponse{}) {
				t.Errorf("a failed call has the answer %+v", got)
			}
		})
	}
}

func isGoodAnswer(t *testing.T, r llm.ModelResponse) {
	t.Helper()
	if r.Text != goodAnswer.Text || !slices.Equal(r.Calls, goodAnswer.Calls) {
		t.Errorf("answer = %+v, want %+v", r, goodAnswer)
	}
}

func TestRefusedParameterIsLeftOutFromThenOn(t *testing.T) {
	tests := []struct {
		name    string
		model   string
		refuses string // with this in the body …
		says    string // … the endpoint says this
		without string // and takes a body without it
		with    string
	}{
		{"stream_options", "m", `"stream_options"`, "Extra inputs are not permitted: stream_options", `stream_options`, `"stream":true`},
		{"max_tokens", "m", `"max_tokens"`, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", `"max_tokens"`, `"max_completion_tokens":100`},
		{"max_completion_tokens", "gpt-5-mini", `"max_completion_tokens"`, "unknown field max_completion_tokens", `"max_completion_tokens"`, `"max_tokens":100`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var refused, taken atomic.Int32
			c := newClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				if strings.Contains(string(body), tt.refuses) {
					refused.Add(1)
					http.Error(w, `{"error":{"message":"`+tt.says+`"}}`, http.StatusBadRequest)
					return
				}
				taken.Add(1)
				if !strings.Contains(string(body), tt.with) || strings.Contains(string(body), tt.without) {
					t.Errorf("body = %s, want %s and not %s", body, tt.with, tt.without)
				}
				_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n")
			}), modelhttp.ClientOptions{})
			r := hello
			r.Model = tt.model
			for range 3 {
				if _, err := c.Generate(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			if refused.Load() != 1 || taken.Load() != 3 {
				t.Errorf("refused %d, taken %d, want 1 and 3", refused.Load(), taken.Load())
			}
		})
	}
}

// Gemini requires signed tool calls
// (ai.google.dev/gemini-api/docs/thought-signatures).
func TestCallsAreSignedOnceTheEndpointMissesIt(t *testing.T) {
	var missed, taken atomic.Int32
	c := newClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var said struct {
			Messages []struct {
				ToolCalls []struct {
					Extra struct {
						Google struct {
							Signature string `json:"thought_signature"`
						} `json:"google"`
					} `json:"extra_content"`
				} `json:"tool_calls"`
			} `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&said); err != nil {
			t.Error(err)
		}
		for _, m := range said.Messages {
			for _, call := range m.ToolCalls {
				if call.Extra.Google.Signature == "" {
					missed.Add(1)
					http.Error(w, `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}]`, http.StatusBadRequest)
					return
				}
			}
		}
		taken.Add(1)
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n")
	}), modelhttp.ClientOptions{})
	r := hello
	r.CacheKey = "kai" // whose body is kept, and written on
	for range 3 {
		r.Messages = append(slices.Clip(r.Messages),
			llm.TranscriptMessage{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "look", Args: "{}"}, {ID: "b", Name: "look", Args: "{}"}}},
			llm.TranscriptMessage{Role: llm.Result, CallID: "a", Text: "seen"}, llm.TranscriptMessage{Role: llm.Result, CallID: "b", Text: "seen"})
		if _, err := c.Generate(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if missed.Load() != 1 || taken.Load() != 3 {
		t.Errorf("missed %d, taken %d, want 1 and 3", missed.Load(), taken.Load())
	}
}

func TestRefusalForEverDoesNotLoop(t *testing.T) {
	var asked atomic.Int32
	c := newClient(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, `{"error":{"message":"bad stream_options, max_tokens and max_completion_tokens"}}`, http.StatusBadRequest)
	}), modelhttp.ClientOptions{})
	_, err := c.Generate(t.Context(), hello)
	if llm.KindOf(err) != llm.Rejected || asked.Load() > 4 {
		t.Errorf("asked %d times, error %v", asked.Load(), err)
	}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	var opened atomic.Int32
	srv := httptest.NewUnstartedServer(&llmtest.Server{Model: llmtest.LeakyModel{Brief: true}})
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	transport := modelhttp.NewTransport(zeroCopyDialer)
	t.Cleanup(transport.CloseIdleConnections)
	c := mustNew(t, modelhttp.ClientOptions{BaseURL: srv.URL, Transport: transport})
	for range 20 {
		if _, err := c.Generate(t.Context(), hello); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("20 calls in a row opened %d connections, want 1", n)
	}
}

func TestOpenAIItselfGetsTheCacheKey(t *testing.T) {
	for host, want := range map[string]bool{"api.openai.com": true, "llm.example": false} {
		var body string
		c := mustNew(t, modelhttp.ClientOptions{BaseURL: "https://" + host + "/v1", Transport: fakeTransport(func(r *http.Request) (*http.Response, error) {
			b, err := io.ReadAll(r.Body)
			body = string(b)
			return nil, errors.Join(err, errors.New("no network"))
		})})
		r := hello
		r.CacheKey = "mind-1"
		if _, err := c.Generate(t.Context(), r); llm.KindOf(err) != llm.Unavailable {
			t.Errorf("error = %v, want unavailable", err)
		}
		if got := strings.Contains(body, `"prompt_cache_key":"mind-1"`); got != want {
			t.Errorf("%s: cache key sent = %t, want %t", host, got, want)
		}
	}
}

func TestModelsThatTheLibraryRefusesAreNoModel(t *testing.T) {
	c := canned(t, 200, nil, "")
	for _, name := range []string{"text-davinci-003", "gpt-6-astra"} {
		r := hello
		r.Model = name
		if _, err := c.Generate(t.Context(), r); llm.KindOf(err) != llm.NoModel {
			t.Errorf("%s: error = %v, want no_model", name, err)
		}
	}
}

func TestBaseURLMustBeUsable(t *testing.T) {
	for _, bad := range []string{"api.openai.com/v1", "ftp://host/v1", "http://", "http://user:pass@host/v1", "http://a b"} {
		if _, err := New(modelhttp.ClientOptions{BaseURL: bad}); err == nil {
			t.Errorf("New accepts %q", bad)
		}
	}
}

func TestCancelledCallerGetsTheCause(t *testing.T) {
	cause := errors.New("somebody said stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err := canned(t, 200, nil, "").Generate(ctx, hello)
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || e.Kind != llm.Unavailable || !errors.Is(err, cause) {
		t.Errorf("error = %v, want unavailable with its cause", err)
	}
}

// fixed answers every request with body.
func fixed(body string) fakeTransport {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// Embeddings are returned in the order of the texts, with usage.
func TestEmbeddingsAreInTheOrderOfTheTexts(t *testing.T) {
	served := httptest.NewServer(&llmtest.Server{Model: llmtest.LeakyModel{}, Names: []string{"m"}})
	defer served.Close()
	c, err := New(modelhttp.ClientOptions{BaseURL: served.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"the boiler leaks", "we sail on friday", "the boiler leaks"}
	got, u, err := c.Embed(t.Context(), "m", texts)
	if err != nil || len(got) != 3 || u.Prompt == 0 || u.Estimated {
		t.Fatalf("%d vectors for %+v, %v", len(got), u, err)
	}
	if !cmp.Equal(got[0], got[2]) || cmp.Equal(got[0], got[1]) || !cmp.Equal(got[1], llmtest.Vector(texts[1])) {
		t.Error("the vectors are not in the order of the texts")
	}
	if _, _, err := c.Embed(t.Context(), "other", texts); llm.KindOf(err) != llm.NoModel {
		t.Errorf("a model that does not exist: %v", err)
	}
}

// An answer that lacks a vector is an error.
func TestIncompleteEmbeddingsAreAnError(t *testing.T) {
	for _, body := range []string{
		`{"data":[]}`, `{"data":[{"index":0,"embedding":[1]}]}`, `{"data":[{"index":7,"embedding":[1]},{"index":-1,"embedding":[1]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`,
	} {
		_, _, err := canned(t, http.StatusOK, http.Header{"Content-Type": {"application/json"}}, body).Embed(t.Context(), "m", []string{"a", "b"})
		if llm.KindOf(err) != llm.Garbled {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// Reported usage is clamped: budgets never shrink by it, and no sum of it overflows.
func TestUsageOfEmbeddingsIsReportedOrEstimated(t *testing.T) {
	for usage, want := range map[string]llm.TokenUsage{
		`{"prompt_tokens":7}`:                   {Prompt: 7},
		`{"prompt_tokens":0}`:                   {Prompt: 2, Estimated: true},
		`{"prompt_tokens":-7}`:                  {Prompt: 2, Estimated: true},
		`{"prompt_tokens":9223372036854775807}`: {Prompt: 1<<31 - 1},
	} {
		body := `{"data":[{"index":0,"embedding":[1]}],"usage":` + usage + `}`
		_, got, err := canned(t, http.StatusOK, http.Header{"Content-Type": {"application/json"}}, body).Embed(t.Context(), "m", []string{"eight by"})
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", usage, got, err, want)
		}
	}
}

// A recording is sent to the endpoint's /audio/transcriptions with a file name of
// its type, the key and the model's name.
func TestRecordingIsTranscribed(t *testing.T) {
	got := map[string]string{}
	c, err := New(modelhttp.ClientOptions{BaseURL: "http://model.test/v1", APIKey: "sk-1", Transport: fakeTransport(func(r *http.Request) (*http.Response, error) {
		got["to"] = r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization")
		_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil {
			return nil, err
		}
		form, err := multipart.NewReader(r.Body, params["boundary"]).ReadForm(1 << 20)
		if err != nil {
			return nil, err
		}
		got["model"] = strings.Join(form.Value["model"], " ")
		f, err := form.File["file"][0].Open()
		if err != nil {
			return nil, err
		}
		defer f.Close()
		content, err := io.ReadAll(f)
		got["file"] = form.File["file"][0].Filename + " " + string(content)
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(`{"text":"hello there"}`)),
		}, err
	})})
	if err != nil {
		t.Fatal(err)
	}
	text, u, err := c.Transcribe(t.Context(), "whisper-1", "voice.ogg", strings.NewReader("OggS"), 3000)
	if err != nil || text != "hello there" || u.Prompt != 10 || u.Output != 3 || !u.Estimated {
		t.Errorf("heard %q for %+v, %v", text, u, err)
	}
	want := map[string]string{"to": "POST /v1/audio/transcriptions Bearer sk-1", "model": "whisper-1", "file": "voice.ogg OggS"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// A text is sent to the endpoint's /audio/speech with the model, a voice of it and the form that platforms
// take as a voice message; an answer that is none is refused.
func TestATextIsSpoken(t *testing.T) {
	var got string
	c, err := New(modelhttp.ClientOptions{BaseURL: "http://model.test/v1", APIKey: "sk-1", Transport: fakeTransport(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization") + " " + string(body)
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"audio/ogg"}}, Body: io.NopCloser(strings.NewReader("OggS" + strings.Repeat("x", 896)))}, err
	})})
	if err != nil {
		t.Fatal(err)
	}
	recording, u, err := c.Speak(t.Context(), "gpt-4o-mini-tts", "coral", "hello there")
	if err != nil || len(recording) != 900 || u != (llm.TokenUsage{Prompt: 3, Output: 3, Estimated: true}) {
		t.Errorf("%d bytes for %+v, %v", len(recording), u, err)
	}
	if want := `POST /v1/audio/speech Bearer sk-1 {"model":"gpt-4o-mini-tts","input":"hello there","voice":"coral","response_format":"opus"}`; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	for _, c := range []struct {
		status int
		body   string
		want   llm.ErrorKind
	}{{404, `{"error":{"message":"no such model"}}`, llm.NoModel}, {401, `{"error":{"message":"no"}}`, llm.Denied}, {500, `oops`, llm.Unavailable}, {200, `{"error":"no speech here"}`, llm.Garbled}, {200, "", llm.Garbled}} {
		_, _, err := canned(t, c.status, http.Header{}, c.body).Speak(t.Context(), "m", "v", "x")
		if err == nil || llm.KindOf(err) != c.want {
			t.Errorf("%d %s: %v, want %s", c.status, c.body, err, c.want)
		}
	}
}

// A refused recording has the kind of the refusal.
func TestARefusedRecordingHasItsKind(t *testing.T) {
	for status, want := range map[int]llm.ErrorKind{400: llm.Rejected, 401: llm.Denied, 429: llm.Limited, 500: llm.Unavailable} {
		_, _, err := canned(t, status, http.Header{}, `{"error":{"message":"no"}}`).Transcribe(t.Context(), "m", "voice.ogg", strings.NewReader("x"), 1)
		if err == nil || llm.KindOf(err) != want {
			t.Errorf("%d: %v, want %s", status, err, want)
		}
	}
}

package openai

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

func TestRefusalsAreSortedByWhatTheyMean(t *testing.T) {
	tests := []struct {
		status int
		body   string
		want   llm.ErrorKind
	}{
		{401, `{"error":{"message":"Incorrect API key provided"}}`, llm.Denied},
		{403, `forbidden`, llm.Denied},
		{403, `{"error":{"message":"Project has no access","code":"model_not_found"}}`, llm.NoModel},
		{402, `{"error":{"message":"Insufficient Balance"}}`, llm.Denied},
		{400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, llm.Denied},
		{404, `{"error":"model 'x' not found, try pulling it first"}`, llm.NoModel},
		{400, `{"object":"error","message":"unknown model x","code":400}`, llm.NoModel},
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens, your max_tokens is too large","code":null}}`, llm.TooLong},
		{400, `{"error":{"message":"x","code":"context_length_exceeded"}}`, llm.TooLong},
		{500, `{"error":{"message":"the request exceeds the available context size"}}`, llm.TooLong},
		{413, ``, llm.TooLong},
		{422, `{"detail":[{"loc":["body","messages",3,"content"],"msg":"field required","input":"secret words"}]}`, llm.Rejected},
		{400, `{"detail":"bad messages"}`, llm.Rejected},
		{429, `{"error":{"message":"slow down"}}`, llm.Limited},
		{429, `{"error":{"message":"Request too large for gpt-4 on tokens per min","code":"rate_limit_exceeded"}}`, llm.Limited},
		{429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, llm.Denied},
		{408, ``, llm.Unavailable},
		{500, `<html>oops</html>`, llm.Unavailable},
		{529, `{"error":{"type":"overloaded_error"}}`, llm.Unavailable},
		{301, ``, llm.Unavailable},
		{418, ``, llm.Rejected},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d %.30s", tt.status, tt.body), func(t *testing.T) {
			_, err := canned(t, tt.status, http.Header{}, tt.body).Generate(t.Context(), hello)
			e, ok := errors.AsType[*llm.Error](err)
			if !ok || e.Kind != tt.want || e.Status != tt.status {
				t.Errorf("error = %v, want %s", err, tt.want)
			}
			if strings.Contains(err.Error(), "secret words") {
				t.Errorf("error repeats the prompt: %v", err)
			}
		})
	}
}

func TestErrorsInTheMiddleOfAStreamAreSorted(t *testing.T) {
	for body, want := range map[string]llm.ErrorKind{
		`data: {"error":{"message":"busy","code":"rate_limit_exceeded"}}`:                                                     llm.Limited,
		`data: {"error":{"message":"busy","code":429}}`:                                                                       llm.Limited,
		`data: {"id":"x","error":{"message":"busy","code":502},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`: llm.Unavailable,
		`data: {"id":"x","choices":[{"delta":{"content":"half"},"finish_reason":"error"}]}`:                                   llm.Unavailable,
		`{"error":{"message":"maximum context length is 10","type":"invalid_request_error","param":"messages"}}`:              llm.TooLong,
		"{\n  \"error\": {\"message\": \"model not found\", \"code\": \"x\"}\n}":                                              llm.NoModel,
		`{"id":"x","error":"it broke"}`: llm.Unavailable,
	} {
		_, err := canned(t, 200, nil, body+"\n").Generate(t.Context(), hello)
		if got := llm.KindOf(err); err == nil || got != want {
			t.Errorf("%s: error = %v, want %s", body, err, want)
		}
	}
}

func TestRetryAfterIsReadInEveryForm(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for _, tt := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", " 1.5 ", 1500 * time.Millisecond},
		{"Retry-After", now.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		{"Retry-After", now.Add(-time.Hour).Format(http.TimeFormat), 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"Retry-After", "1e300", 24 * time.Hour},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "-3", 0},
		{"Retry-After", "soon", 0},
		{"X-Other", "7", 0},
	} {
		h := http.Header{}
		h.Set("Date", now.Format(http.TimeFormat))
		h.Set(tt.name, tt.value)
		_, err := canned(t, 429, h, "").Generate(t.Context(), hello)
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.RetryAfter != tt.want {
			t.Errorf("%s: %s gives %v, want %s", tt.name, tt.value, err, tt.want)
		}
	}
}

// No error contains the key.
func TestNoErrorHasTheKey(t *testing.T) {
	const key = "sk-planted-0123456789"
	echo := `{"error":{"message":"Incorrect API key provided: ` + key + `","code":"` + key + `"}}`
	answer := func(status int, body string) fakeTransport {
		return func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{"Location": {"https://x/?k=" + key}}, Body: io.NopCloser(strings.NewReader(body))}, nil
		}
	}
	for name, transport := range map[string]fakeTransport{
		"refused":  answer(401, echo),
		"bad":      answer(400, echo),
		"plain":    answer(400, key),
		"redirect": answer(307, ""),
		"stream":   answer(200, "data: "+echo+"\n\n"),
		"chunk":    answer(200, `data: {"id":1,"error":"`+key+`"}`+"\n\n"),
		"garbled":  answer(200, "data: "+key+"\n\n"),
		"dial": func(r *http.Request) (*http.Response, error) {
			return nil, &url.Error{Op: "Post", URL: r.URL.String() + key, Err: errors.New("refused " + r.Header.Get("Authorization"))}
		},
	} {
		c := mustNew(t, modelhttp.ClientOptions{BaseURL: "http://model.test/v1", APIKey: key, Transport: transport})
		_, err := c.Generate(t.Context(), hello)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		for ; err != nil; err = errors.Unwrap(err) {
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, key) {
				t.Errorf("%s: the error has the key: %s", name, text)
			}
		}
	}
}

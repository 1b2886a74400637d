package openai

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// A window is learned from the refusal, the list or by halving, is smaller after each
// refusal, is kept, and is forgotten once a longer prompt was read whole.
func TestWindowIsLearnedAndForgotten(t *testing.T) {
	words, models, usage := "", "", ""
	c := mustNew(t, modelhttp.ClientOptions{BaseURL: "http://model.test/v1", Transport: fakeTransport(func(r *http.Request) (*http.Response, error) {
		status, body := 400, `{"error":{"message":"`+words+`"}}`
		switch {
		case strings.HasSuffix(r.URL.Path, "/models"):
			status, body = 200, models
		case words == "":
			status, body = 200, `{"choices":[{"message":{"content":"ok"}}],"usage":{"prompt_tokens":`+usage+`}}`
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})})
	r := hello
	r.Tokens, r.MaxOutput = 30_000, 2000
	for _, step := range []struct {
		words, models string
		tokens, want  int
	}{
		{"maximum context length is 16000 tokens, you requested 40000 tokens", "", 30_000, 12_000}, // it counts a third more
		{"maximum context length is 16000 tokens", "", 10_000, 9_000},                              // though it would fit
		{"Prompt exceeds max length", `{"data":[{"id":"m","max_model_len":4096}]}`, 8_000, 4096},
		{"Prompt exceeds max length", `{}`, 6_000, 4_000},
		{"Prompt exceeds max length", `{}`, 100, 1050},
	} {
		words, models, r.Tokens = step.words, step.models, step.tokens
		_, err := c.Generate(t.Context(), r)
		var window int
		if e, ok := errors.AsType[*llm.Error](err); ok && e.Kind == llm.TooLong {
			window = e.Window
		}
		if window != step.want || c.Capability("m").Window != step.want {
			t.Errorf("%s: %v with the window %d, kept %d, want %d", words, err, window, c.Capability("m").Window, step.want)
		}
	}
	words, usage, r.Tokens = "", "900", 2000
	if _, err := c.Generate(t.Context(), r); err != nil || c.Capability("m").Window != 1050 {
		t.Errorf("a prompt that was cut: window %d, %v", c.Capability("m").Window, err)
	}
	usage = "1900"
	if _, err := c.Generate(t.Context(), r); err != nil || c.Capability("m").Window != 0 {
		t.Errorf("a prompt that was read whole: window %d, %v", c.Capability("m").Window, err)
	}
}

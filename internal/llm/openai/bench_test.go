package openai

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// usualRequest is about as large as a request of a lively chat: 20 KB.
func usualRequest() llm.ModelRequest {
	r := llm.ModelRequest{Model: "m", MaxOutput: 1000, CacheKey: "mind"}
	r.Messages = append(r.Messages, llm.TranscriptMessage{Role: llm.System, Text: strings.Repeat("You are Ada, and you live in chats.\n", 100)})
	for range 40 {
		r.Messages = append(r.Messages, llm.TranscriptMessage{Role: llm.User, Text: strings.Repeat(`#a7 [Family] Kai (human): "hello there"`+"\n", 8)})
	}
	r.Messages = append(r.Messages, llm.TranscriptMessage{Role: llm.User, Text: `#b1 [Family] Kai (human): "are you there?" ← TRIGGER`})
	for range 15 {
		r.Tools = append(r.Tools, llm.ToolSpec{Name: "send_message", Description: strings.Repeat("word ", 20), Schema: hello.Tools[0].Schema})
	}
	return r
}

func BenchmarkGenerate(b *testing.B) {
	srv := httptest.NewServer(&llmtest.Server{Model: llmtest.LeakyModel{Brief: true}, Keep: -1})
	defer srv.Close()
	c := mustNew(b, modelhttp.ClientOptions{BaseURL: srv.URL})
	r := usualRequest()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Generate(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkClient is the client alone, without a network or a server.
func BenchmarkClient(b *testing.B) {
	body := stream(`{"choices":[{"index":0,"delta":{"role":"assistant","content":"I shall "}}]}`,
		calls(`{"index":0,"id":"a","function":{"name":"send_message","arguments":"{\"text\":\"hel"}}`), calls(`{"index":0,"function":{"arguments":"lo\"}"}}`),
		called, `{"choices":[],"usage":{"prompt_tokens":5000,"completion_tokens":30}}`)
	c := mustNew(b, modelhttp.ClientOptions{BaseURL: "http://model.test", Transport: fixed(body)})
	r := usualRequest()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Generate(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

package openai

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	goopenai "github.com/sashabaranov/go-openai"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fromLibrary decodes a message with go-openai.
func fromLibrary(m goopenai.ChatCompletionMessage) llm.TranscriptMessage {
	out := llm.TranscriptMessage{Role: llm.MessageRole(m.Role), Text: m.Content, CallID: m.ToolCallID}
	for _, c := range m.ToolCalls {
		out.Calls = append(out.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
	}
	return out
}

// written returns the body of a request without reuse.
func written(r llm.ModelRequest, p parameters) []byte {
	var b requestBody
	b.write(r, p)
	return b.bytes
}

func anyMessage(t *rapid.T) llm.TranscriptMessage {
	m := llm.TranscriptMessage{
		Role: rapid.SampledFrom([]llm.MessageRole{llm.System, llm.User, llm.Assistant, llm.Result}).Draw(t, "role"),
		Text: rapid.String().Draw(t, "text"),
	}
	switch m.Role {
	case llm.Assistant:
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			m.Calls = append(m.Calls, llm.ToolCall{ID: rapid.String().Draw(t, "id"), Name: rapid.String().Draw(t, "name"), Args: rapid.String().Draw(t, "args")})
		}
	case llm.Result:
		m.CallID = rapid.String().Draw(t, "call")
	case llm.System, llm.User:
	}
	return m
}

// CON-49: encoding and decoding a message returns the same message.
func TestMessagesSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(anyMessage), 1, 6).Draw(t, "messages")
		body := written(llm.ModelRequest{Model: "m", Messages: want}, parameters{usage: true, stream: true})
		var got goopenai.ChatCompletionRequest
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		for i := range want {
			if diff := cmp.Diff(want[i], fromLibrary(got.Messages[i])); diff != "" {
				t.Fatalf("message %d (-want +got):\n%s", i, diff)
			}
		}
		if len(got.Messages) != len(want) || !got.Stream || got.Model != "m" {
			t.Fatalf("%d messages, stream %t, model %s", len(got.Messages), got.Stream, got.Model)
		}
	})
}

// Requests with the same first messages begin with the same bytes.
func TestSharedMessagesAreSharedBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shared := rapid.SliceOfN(rapid.Custom(anyMessage), 1, 4).Draw(t, "shared")
		more := func(name string) llm.ModelRequest {
			return llm.ModelRequest{
				Model: "m", Tools: hello.Tools, NoCalls: rapid.Bool().Draw(t, name+" no calls"),
				Messages: append(slices.Clip(shared), rapid.SliceOfN(rapid.Custom(anyMessage), 1, 3).Draw(t, name)...),
			}
		}
		a, b := written(more("a"), parameters{stream: true}), written(more("b"), parameters{usage: true, stream: true, cacheKey: "k"})
		prefix := written(llm.ModelRequest{Model: "m", Tools: hello.Tools, Messages: shared}, parameters{stream: true})
		prefix, _, _ = bytes.Cut(prefix, []byte(`],"stream":true`))
		if !bytes.HasPrefix(a, prefix) || !bytes.HasPrefix(b, prefix) {
			t.Fatalf("not a prefix of both:\n%s\n%s\n%s", prefix, a, b)
		}
	})
}

// A reused body equals a newly written one.
func TestReusedBodyEqualsANewOne(t *testing.T) {
	some := rapid.SampledFrom([]llm.TranscriptMessage{
		{Role: llm.User, Text: "INBOX"},
		{Role: llm.Assistant, Text: "INBOX"},
		{Role: llm.User, Text: "INBOX", Pictures: []llm.ModelImage{{Media: "image/png", Data: []byte("p"), Tokens: 1}}},
		{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "rest", Args: "{}"}}},
		{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "b", Name: "rest", Args: "{}"}}},
		{Role: llm.Result, CallID: "a", Text: "INBOX"},
		{Role: llm.Result, CallID: "b", Text: "INBOX"},
	})
	tools := append(hello.Tools[:1:1], llm.ToolSpec{Name: "rest"})
	rapid.Check(t, func(t *rapid.T) {
		var b requestBody
		var before []llm.TranscriptMessage
		for range rapid.IntRange(2, 20).Draw(t, "requests") {
			r := llm.ModelRequest{
				Model: rapid.SampledFrom([]string{"m", "m", "m", "n"}).Draw(t, "model"), NoCalls: rapid.Bool().Draw(t, "no calls"), MaxOutput: 9,
				Tools:    tools[:rapid.IntRange(1, 2).Draw(t, "tools")],
				Messages: append(slices.Clip(before[:rapid.IntRange(0, len(before)).Draw(t, "shared")]), rapid.SliceOfN(some, 0, 3).Draw(t, "more")...),
			}
			before = slices.Clip(r.Messages)
			p := parameters{usage: rapid.Bool().Draw(t, "usage"), pictures: rapid.Bool().Draw(t, "pictures"), demands: demandSet(rapid.Uint32().Draw(t, "demands")), maxOutput: maxTokens, reasoning: reasoningIn(new(modelhttp.ReasoningMemory), "c")}
			b.write(r, p)
			if want := written(r, p); string(b.bytes) != string(want) {
				t.Fatalf("got\n%s\nwant\n%s", b.bytes, want)
			}
		}
	})
}

// A body holds copies: the caller reuses the memory of a request.
func TestBodyHoldsCopiesOfMessages(t *testing.T) {
	var b requestBody
	messages, calls := make([]llm.TranscriptMessage, 5), make([]llm.ToolCall, 5)
	for k, n := range []int{3, 5, 2, 4} {
		for i := range n {
			calls[i] = llm.ToolCall{ID: strconv.Itoa(max(i, 2*k)), Name: "rest"}
			messages[i] = llm.TranscriptMessage{Role: llm.Assistant, Calls: calls[i : i+1 : i+1]}
		}
		r := llm.ModelRequest{Model: "m", Messages: messages[:n]}
		b.write(r, parameters{stream: true})
		if want := written(r, parameters{stream: true}); string(b.bytes) != string(want) {
			t.Errorf("request %d: got\n%s\nwant\n%s", k, b.bytes, want)
		}
		for i, m := range b.messages[:cap(b.messages)] {
			if i < n && &m.Calls[0] == &calls[i] || i >= n && m.Calls != nil {
				t.Errorf("request %d: the calls of message %d are kept", k, i)
			}
		}
	}
}

// Each byte value is tested at each position of an eight-byte word.
func TestEscapesAreFoundAtEveryPosition(t *testing.T) {
	for c := range 256 {
		for at := range 24 {
			s := []byte(strings.Repeat("x", 24))
			s[at] = byte(c)
			want := len(s)
			if escaped[c] {
				want = at
			}
			if got := plainPrefix(string(s)); got != want {
				t.Fatalf("byte %#x at %d: %d bytes stand as they are, want %d", c, at, got, want)
			}
		}
	}
}

func TestTextIsTheJSONThatTheStandardLibraryReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		var got string
		if err := json.Unmarshal(appendText(nil, s), &got); err != nil {
			t.Fatal(err)
		}
		slow, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(slow, &want); err != nil || got != want {
			t.Fatalf("%q becomes %q, want %q (%v)", s, got, want, err)
		}
	})
}

func TestBodyIsTheGoldenOne(t *testing.T) {
	r := hello
	r.NoCalls = true
	r.CacheKey = "mind-1"
	r.Tools = append(r.Tools[:1:1], llm.ToolSpec{Name: "rest"})
	r.Messages = append(r.Messages[:2:2],
		llm.TranscriptMessage{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "c1", Name: "send_message", Args: `{"text":"hi\n"}`}}},
		llm.TranscriptMessage{Role: llm.Result, CallID: "c1", Text: ""},
		llm.TranscriptMessage{Role: llm.Assistant, Text: "Responded to Kai.\x01"},
	)
	body := written(r, parameters{usage: true, stream: true, forbids: true, cacheKey: r.CacheKey, maxOutput: maxCompletionTokens, output: 100, effort: "none"})
	if !json.Valid(body) {
		t.Errorf("the body is no JSON: %s", body)
	}
	golden(t, "body.json", string(body)+"\n")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestReasoningModelsAreKnownByName(t *testing.T) {
	for name, want := range map[string]bool{
		"o1": true, "o3-mini": true, "o4-mini-high": true, "gpt-5": true, "gpt-5.6-sol": true, "openai/gpt-5-mini": true, "gpt-6-luna": true,
		"gpt-4o": false, "olmo": false, "o": false, "": false, "gpt-50/x": false, "openhermes": false,
	} {
		c := mustNew(t, modelhttp.ClientOptions{BaseURL: "http://model.test", Transport: fakeTransport(nil)})
		got := c.parametersFor(llm.ModelRequest{Model: name, MaxOutput: 1}, 0, llm.ModelCapability{}).maxOutput
		if (got == maxCompletionTokens) != want {
			t.Errorf("%s is sent %s", name, got)
		}
	}
	if p := mustNew(t, modelhttp.ClientOptions{}).parametersFor(llm.ModelRequest{Model: strings.Repeat("x", 3)}, 0, llm.ModelCapability{}); p.maxOutput != "" {
		t.Errorf("no limit is sent as %s", p.maxOutput)
	}
}

package anthropic

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// script is a transport that answers with bodies in turn, the last one again and again, and
// keeps the requests. A body that begins with a brace is a refusal.
type script struct {
	bodies []string
	seen   []string
}

// RoundTrip implements [http.RoundTripper].
func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.seen = append(s.seen, string(text))
	body := s.bodies[0]
	if len(s.bodies) > 1 {
		s.bodies = s.bodies[1:]
	}
	status := http.StatusOK
	if strings.HasPrefix(body, "{") {
		status = http.StatusBadRequest
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func open(tb testing.TB, s *script, compat ...string) *Client {
	tb.Helper()
	c, err := New(modelhttp.ClientOptions{BaseURL: "http://model.test/v1/", APIKey: "k", Transport: s, Compat: compat})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// thinks is an answer that thinks, speaks, thinks again and calls.
const thinks = `event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":5}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"first I "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"think"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig+1/="}}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"secret=="}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I look."}}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"at\":1234567890123456789}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

`

func request(messages ...llm.TranscriptMessage) llm.ModelRequest {
	return llm.ModelRequest{
		Model: "claude-opus-5-5", CacheKey: "c", MaxOutput: 2000, Tools: []llm.ToolSpec{{Name: "look", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: append([]llm.TranscriptMessage{{Role: llm.System, Text: "You are Ada."}, {Role: llm.User, Text: "hello"}}, messages...),
	}
}

// answered returns the messages after an answer with a call.
func answered(resp llm.ModelResponse) []llm.TranscriptMessage {
	return []llm.TranscriptMessage{{Role: llm.Assistant, Text: resp.Text, Calls: resp.Calls}, {Role: llm.Result, CallID: resp.Calls[0].ID, Text: "a tree"}}
}

const (
	thought = `{"signature":"sig+1/=","thinking":"first I think","type":"thinking"},{"data":"secret==","type":"redacted_thinking"},{"text":"I look.","type":"text"},{"id":"toolu_1","input":{"at":1234567890123456789},"name":"look","type":"tool_use"}`
	plain   = `[{"text":"I look.","type":"text"},{"id":"toolu_1","input":{"at":1234567890123456789},"name":"look","type":"tool_use"}]`
)

// Thinking goes back as it came while its call is being answered, and no longer; what the
// endpoint refuses of it is left out, and so is that of another model or conversation.
func TestThinkingGoesBackWithItsCall(t *testing.T) {
	s := &script{bodies: []string{thinks}}
	c := open(t, s)
	first, err := c.Generate(t.Context(), request())
	if err != nil || first.Text != "I look." || len(first.Calls) != 1 || first.Calls[0].Args != `{"at":1234567890123456789}` {
		t.Fatalf("%+v, %v", first, err)
	}
	after := answered(first)
	changed := slices.Clone(after)
	changed[0].Text = "Other words."
	other := request(after...)
	other.Model = "claude-sonnet-5-5"
	elsewhere := request(after...)
	elsewhere.CacheKey = "d"
	for name, test := range map[string]struct {
		r    llm.ModelRequest
		want string
	}{
		"the next step":        {request(after...), thought},
		"with other words":     {request(changed...), `{"text":"Other words.","type":"text"},{"id":"toolu_1"`},
		"after a person spoke": {request(append(slices.Clone(after), llm.TranscriptMessage{Role: llm.User, Text: "and?"})...), plain},
		"another model":        {other, plain},
		"another conversation": {elsewhere, plain},
	} {
		if _, err := c.Generate(t.Context(), test.r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if sent := s.seen[len(s.seen)-1]; !strings.Contains(sent, test.want) {
			t.Errorf("%s: the request is\n%s\nwithout\n%s", name, sent, test.want)
		}
	}
	s.bodies = []string{`{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid signature in thinking block"}}`, thinks}
	n := len(s.seen)
	if _, err := c.Generate(t.Context(), request(after...)); err != nil || len(s.seen) != n+2 || !strings.Contains(s.seen[n+1], plain) || len(c.Capability("claude-opus-5-5").Demands) > 0 {
		t.Errorf("after a refusal: %v, %d requests, learned %v", err, len(s.seen)-n, c.Capability("claude-opus-5-5"))
	}
}

// The cache holds what stays: the system text, the messages before the newest of a person,
// and all of the transcript.
func TestCacheBreakpointsStandBehindWhatStays(t *testing.T) {
	s := &script{bodies: []string{thinks}}
	c := open(t, s)
	if _, err := c.Generate(t.Context(), request(
		llm.TranscriptMessage{Role: llm.Assistant, Text: "hi"}, llm.TranscriptMessage{Role: llm.User, Text: "newest"},
		llm.TranscriptMessage{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "toolu_9", Name: "look", Args: "{}"}}}, llm.TranscriptMessage{Role: llm.Result, CallID: "toolu_9", Text: "a tree"},
	)); err != nil {
		t.Fatal(err)
	}
	const mark = `"cache_control":{"type":"ephemeral"}`
	sent := s.seen[0]
	if n := strings.Count(sent, mark); n != 3 {
		t.Errorf("the request has %d breakpoints, want 3:\n%s", n, sent)
	}
	var q struct {
		Messages []struct{ Content []map[string]any }
	}
	if err := json.Unmarshal([]byte(sent), &q); err != nil {
		t.Fatal(err)
	}
	var marked []int
	for i, m := range q.Messages {
		if m.Content[len(m.Content)-1]["cache_control"] != nil {
			marked = append(marked, i)
		}
	}
	if !slices.Equal(marked, []int{1, 4}) {
		t.Errorf("the messages %v are marked, want 1 and 4", marked)
	}
}

// What the API refuses is never sent: empty texts, foreign ids, calls without tools, an
// answer at the end, a transcript that an answer begins.
func TestTranscriptIsWhatTheAPIAccepts(t *testing.T) {
	call := llm.TranscriptMessage{Role: llm.Assistant, Text: " \n", Calls: []llm.ToolCall{{ID: "functions.look:0", Name: "look.at", Args: "not json"}}}
	result := llm.TranscriptMessage{Role: llm.Result, CallID: "functions.look:0"}
	noTools := request(call, result)
	noTools.Tools = nil
	for name, r := range map[string]llm.ModelRequest{
		"foreign":    request(call, result),
		"no tools":   noTools,
		"an answer":  request(llm.TranscriptMessage{Role: llm.Assistant, Text: "so"}),
		"empty":      {Model: "m"},
		"blank":      {Model: "m", Messages: []llm.TranscriptMessage{{Role: llm.System, Text: " "}, {Role: llm.Assistant, Text: "a"}, {Role: llm.User, Text: "\n"}}},
		"assistants": request(llm.TranscriptMessage{Role: llm.Assistant, Text: "a"}, llm.TranscriptMessage{Role: llm.Assistant, Text: "b"}, llm.TranscriptMessage{Role: llm.User, Text: "c"}),
	} {
		s := &script{bodies: []string{thinks}}
		if _, err := open(t, s).Generate(t.Context(), r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		q, err := llmtest.AnthropicDialect().Read("/v1/messages", []byte(s.seen[0]))
		if err != nil || len(q.Messages) == 0 || q.Messages[len(q.Messages)-1].Role == llm.Assistant || strings.Contains(s.seen[0], "functions.look:0") || strings.Contains(s.seen[0], `"system":[]`) {
			t.Errorf("%s: %v in\n%s", name, err, s.seen[0])
		}
		for _, m := range q.Messages {
			if r.Tools == nil && (len(m.Calls) > 0 || m.Role == llm.Result) {
				t.Errorf("%s: calls without tools in\n%s", name, s.seen[0])
			}
		}
	}
}

// Thinking is counted as output, so a model that thinks has room for it.
func TestModelsThatThinkHaveRoomForIt(t *testing.T) {
	for model, want := range map[string]string{"claude-opus-5-5": `"max_tokens":18384`, "claude-of-next-year": `"max_tokens":18384`} {
		s := &script{bodies: []string{thinks}}
		r := request()
		r.Model = model
		if _, err := open(t, s).Generate(t.Context(), r); err != nil || !strings.Contains(s.seen[0], want) {
			t.Errorf("%s: %v in\n%s\nwant %s", model, err, s.seen[0], want)
		}
	}
	s := &script{bodies: []string{`{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 18384 > 8192, which is the maximum allowed number of output tokens for m"}}`, thinks}}
	c := open(t, s)
	if _, err := c.Generate(t.Context(), request()); err != nil || len(s.seen) != 2 || !strings.Contains(s.seen[1], `"max_tokens":8192`) || c.Capability("claude-opus-5-5").MaxOutput != 8192 {
		t.Errorf("a smaller limit: %v, %q, %+v", err, s.seen, c.Capability("claude-opus-5-5"))
	}
}

// A compatible endpoint without pictures or tools is learned; the operator's word counts.
func TestDemandsOfCompatibleEndpointsAreLearned(t *testing.T) {
	pictured := request()
	pictured.Messages[1].Pictures = []llm.ModelImage{{Media: "image/png", Data: []byte("p")}}
	s := &script{bodies: []string{`{"error":{"message":"this model does not support image input"}}`, thinks}}
	c := open(t, s)
	for range 2 {
		if _, err := c.Generate(t.Context(), pictured); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.seen) != 3 || strings.Contains(s.seen[2], "base64") || !slices.Equal(c.Capability(pictured.Model).Demands, []string{noPictures}) {
		t.Errorf("%d requests, learned %+v", len(s.seen), c.Capability(pictured.Model))
	}
	s = &script{bodies: []string{`{"error":{"message":"this model does not support image input"}}`}}
	if _, err := open(t, s, "-no_pictures").Generate(t.Context(), pictured); llm.KindOf(err) != llm.Rejected || len(s.seen) != 1 {
		t.Errorf("what is never done: %v, %d requests", err, len(s.seen))
	}
}

// An event that is lost does not make a whole answer.
func TestLostPieceIsSeen(t *testing.T) {
	broken := strings.Replace(thinks, `"text":"I look."}}`, `"text":"I look`, 1)
	if got, err := open(t, &script{bodies: []string{broken}}).Generate(t.Context(), request()); llm.KindOf(err) != llm.Garbled || err == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(thinks)
	f.Add(llmtest.AnthropicDialect().Answer(llmtest.DialectAnswer{Pieces: []string{"a"}, Finish: llm.Stopped}))
	f.Add(`{"type":"message","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"look","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":1}}`)
	f.Fuzz(func(t *testing.T, body string) {
		resp, err := open(t, &script{bodies: []string{"data: {}\n\n" + body}}).Generate(t.Context(), request())
		if err != nil {
			return
		}
		if len(resp.Calls) > 0 != (resp.Finish == llm.Called) {
			t.Errorf("%d calls and the finish %s", len(resp.Calls), resp.Finish)
		}
		for _, c := range resp.Calls {
			if c.ID == "" || c.Name == "" || c.Args == "" {
				t.Errorf("a call without its parts: %+v", c)
			}
		}
		next := request(answeredAll(resp)...)
		s := &script{bodies: []string{thinks}}
		if _, err := open(t, s).Generate(t.Context(), next); err != nil {
			t.Errorf("the next request: %v", err)
		}
		if _, err := llmtest.AnthropicDialect().Read("/v1/messages", []byte(s.seen[0])); err != nil {
			t.Errorf("the next request: %v", err)
		}
	})
}

// answeredAll returns the messages after an answer.
func answeredAll(resp llm.ModelResponse) []llm.TranscriptMessage {
	all := []llm.TranscriptMessage{{Role: llm.Assistant, Text: resp.Text, Calls: resp.Calls}}
	for _, c := range resp.Calls {
		all = append(all, llm.TranscriptMessage{Role: llm.Result, CallID: c.ID, Text: "a tree"})
	}
	return all
}

// What is written to the cache is told apart, for it costs more.
func TestUsageTellsWhatIsWrittenToTheCache(t *testing.T) {
	c := open(t, &script{bodies: []string{strings.Replace(thinks, `"input_tokens":5`, `"input_tokens":5,"cache_creation_input_tokens":70,"cache_read_input_tokens":20`, 1)}})
	resp, err := c.Generate(t.Context(), llm.ModelRequest{Model: "m", Messages: []llm.TranscriptMessage{{Role: llm.User, Text: "hello"}}})
	if want := (llm.TokenUsage{Prompt: 95, Cached: 20, Written: 70, Output: 9}); err != nil || resp.Usage != want {
		t.Errorf("usage %+v, %v, want %+v", resp.Usage, err, want)
	}
}

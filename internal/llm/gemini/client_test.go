package gemini

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

func open(tb testing.TB, s *script) *Client {
	tb.Helper()
	c, err := New(modelhttp.ClientOptions{BaseURL: "http://model.test/v1beta/", APIKey: "k", Transport: s})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// thinks is an answer with thoughts, a text and two calls, of which the first is signed.
const thinks = `data: {"candidates":[{"content":{"parts":[{"text":"hm","thought":true}],"role":"model"}}],"usageMetadata":{"promptTokenCount":5}}

data: {"candidates":[{"content":{"parts":[{"text":"I look."},{"functionCall":{"name":"look","args":{"at":1234567890123456789}},"thoughtSignature":"si-g_1/="},{"functionCall":{"name":"look","args":{}}}],"role":"model"}}]}

data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":7,"thoughtsTokenCount":11}}

`

func request(messages ...llm.TranscriptMessage) llm.ModelRequest {
	return llm.ModelRequest{
		Model: "gemini-3.5-flash", CacheKey: "c", MaxOutput: 2000,
		Tools:    []llm.ToolSpec{{Name: "look", Description: "looks", Schema: json.RawMessage(`{"type":"object","properties":{"at":{"type":["integer","null"]}},"additionalProperties":false}`)}},
		Messages: append([]llm.TranscriptMessage{{Role: llm.System, Text: "You are Ada."}, {Role: llm.User, Text: "hello"}}, messages...),
	}
}

// answered returns the messages after an answer.
func answered(resp llm.ModelResponse) []llm.TranscriptMessage {
	all := []llm.TranscriptMessage{{Role: llm.Assistant, Text: resp.Text, Calls: resp.Calls}}
	for _, c := range resp.Calls {
		all = append(all, llm.TranscriptMessage{Role: llm.Result, CallID: c.ID, Text: "a tree"})
	}
	return all
}

// A signature goes back with its call, letter by letter, while the call is being answered;
// where it is lost and the model wants one, the documented placeholder does.
func TestSignaturesGoBackWithTheirCalls(t *testing.T) {
	s := &script{bodies: []string{thinks}}
	c := open(t, s)
	first, err := c.Generate(t.Context(), request())
	if err != nil || first.Text != "I look." || len(first.Calls) != 2 || first.Calls[0].Args != `{"at":1234567890123456789}` || first.Usage.Output != 18 {
		t.Fatalf("%+v, %v", first, err)
	}
	after := answered(first)
	signed := `"args":{"at":1234567890123456789}},"thoughtSignature":"si-g_1/="}`
	if _, err := c.Generate(t.Context(), request(after...)); err != nil || strings.Count(s.seen[1], "thoughtSignature") != 1 || !strings.Contains(s.seen[1], signed) {
		t.Errorf("%v in\n%s", err, s.seen[1])
	}
	later := request(append(slices.Clone(after), llm.TranscriptMessage{Role: llm.User, Text: "and?"})...)
	if _, err := c.Generate(t.Context(), later); err != nil || strings.Contains(s.seen[2], "thoughtSignature") {
		t.Errorf("after a person spoke: %v in\n%s", err, s.seen[2])
	}
	restarted := &script{bodies: []string{`{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}`, thinks}}
	c = open(t, restarted)
	for range 2 {
		if _, err := c.Generate(t.Context(), request(after...)); err != nil {
			t.Fatal(err)
		}
	}
	if len(restarted.seen) != 3 || strings.Count(restarted.seen[2], `"thoughtSignature":"skip_thought_signature_validator"`) != 1 || !slices.Equal(c.Capability("gemini-3.5-flash").Demands, []string{signedCalls}) {
		t.Errorf("after a restart: %d requests, learned %+v, the last\n%s", len(restarted.seen), c.Capability("gemini-3.5-flash"), restarted.seen[len(restarted.seen)-1])
	}
}

// What a model refuses is learned from its words.
func TestDemandsOfModelsAreLearned(t *testing.T) {
	pictured := request()
	pictured.Messages[1].Pictures = []llm.ModelImage{{Media: "image/png", Data: []byte("p")}}
	called := request(llm.TranscriptMessage{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "1", Name: "look", Args: "{}"}}}, llm.TranscriptMessage{Role: llm.Result, CallID: "1", Text: "a tree"})
	for _, test := range []struct {
		said, demand string
		r            llm.ModelRequest
		gone         string // from the next request
	}{
		{"Developer instruction is not enabled for models/gemma-3-27b-it", noSystemRole, request(), "systemInstruction"},
		{"Function calling is not enabled for models/gemma-3-27b-it", llm.NoTools, called, "functionCall"},
		{"Invalid JSON payload received. Unknown name \\\"additionalProperties\\\" at 'tools[0].function_declarations[0].parameters'", plainSchemas, request(), "additionalProperties"},
		{"Image input modality is not enabled for models/m", noPictures, pictured, "inlineData"},
	} {
		s := &script{bodies: []string{`{"error":{"code":400,"message":"` + test.said + `","status":"INVALID_ARGUMENT"}}`, thinks}}
		c := open(t, s)
		if _, err := c.Generate(t.Context(), test.r); err != nil || len(s.seen) != 2 || strings.Contains(s.seen[1], test.gone) || !strings.Contains(s.seen[0], test.gone) {
			t.Errorf("%s: %v, %d requests, the last\n%s", test.demand, err, len(s.seen), s.seen[len(s.seen)-1])
		}
		if got := c.Capability(test.r.Model).Demands; !slices.Equal(got, []string{test.demand}) {
			t.Errorf("%s: learned %q", test.demand, got)
		}
	}
}

// What an answer without a reason means: a call that cannot be read is tried again, a
// blocked prompt is not.
func TestAnswersWithoutWordsAreSorted(t *testing.T) {
	c := open(t, &script{bodies: []string{`data: {"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"print(look())"}],"usageMetadata":{"promptTokenCount":5}}` + "\n\n"}})
	if _, err := c.Generate(t.Context(), request()); llm.KindOf(err) != llm.Garbled {
		t.Errorf("a malformed call: %v", err)
	}
	c = open(t, &script{bodies: []string{`data: {"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":5}}` + "\n\n"}})
	if got, err := c.Generate(t.Context(), request()); err != nil || got.Finish != llm.Blocked || got.Text != "" {
		t.Errorf("a blocked prompt: %+v, %v", got, err)
	}
	c = open(t, &script{bodies: []string{`[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},` + "\n" + `{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}]`}})
	if got, err := c.Generate(t.Context(), request()); err != nil || got.Text != "ab" || !got.Usage.Estimated {
		t.Errorf("a list: %+v, %v", got, err)
	}
}

// What the API refuses is never sent: turns of nobody, results without a name, arguments
// that are no object.
func TestTranscriptIsWhatTheAPIAccepts(t *testing.T) {
	call := llm.TranscriptMessage{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "1", Name: "look", Args: "not json"}}}
	for name, r := range map[string]llm.ModelRequest{
		"odd arguments": request(call, llm.TranscriptMessage{Role: llm.Result, CallID: "1"}),
		"empty":         {Model: "gemini-3.5-flash"},
		"an answer":     {Model: "gemini-3.5-flash", Messages: []llm.TranscriptMessage{{Role: llm.System}, {Role: llm.Assistant, Text: "a"}, {Role: llm.User}}},
		"joined":        request(call, llm.TranscriptMessage{Role: llm.Result, CallID: "1"}, llm.TranscriptMessage{Role: llm.User, Text: "a"}, llm.TranscriptMessage{Role: llm.User, Text: "b"}),
	} {
		s := &script{bodies: []string{thinks}}
		if _, err := open(t, s).Generate(t.Context(), r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := llmtest.GeminiDialect().Read("/v1beta/models/m:streamGenerateContent", []byte(s.seen[0])); err != nil || !json.Valid([]byte(s.seen[0])) {
			t.Errorf("%s: %v in\n%s", name, err, s.seen[0])
		}
	}
}

// A call without a name, and an event that is lost, do not make a whole answer.
func TestDamagedAnswersAreSeen(t *testing.T) {
	c := open(t, &script{bodies: []string{`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"","args":{}}},{"functionCall":{"name":"default_api:look","args":{}}}]},"finishReason":"STOP"}]}` + "\n\n"}})
	got, err := c.Generate(t.Context(), request())
	if err != nil || len(got.Calls) != 2 || got.Calls[0].Name != "_" || got.Calls[1].Name != "look" {
		t.Errorf("%+v, %v", got, err)
	}
	c = open(t, &script{bodies: []string{`data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}` + "\n\ndata: {\"candidates\":[{]}\n\n" + `data: {"candidates":[{"content":{"parts":[{"text":"c"}]},"finishReason":"STOP"}]}` + "\n\n"}})
	if got, err := c.Generate(t.Context(), request()); llm.KindOf(err) != llm.Garbled {
		t.Errorf("a lost piece: %+v, %v", got, err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(thinks)
	f.Add(llmtest.GeminiDialect().Answer(llmtest.DialectAnswer{Pieces: []string{"a"}, Finish: llm.Stopped}))
	f.Fuzz(func(t *testing.T, body string) {
		resp, err := open(t, &script{bodies: []string{"data: {}\n\n" + body}}).Generate(t.Context(), request())
		if err != nil {
			return
		}
		if len(resp.Calls) > 0 != (resp.Finish == llm.Called) {
			t.Errorf("%d calls and the finish %s", len(resp.Calls), resp.Finish)
		}
		ids := map[string]bool{}
		for _, c := range resp.Calls {
			if c.ID == "" || c.Args == "" || ids[c.ID] {
				t.Errorf("a call without its parts: %+v", c)
			}
			ids[c.ID] = true
		}
		s := &script{bodies: []string{thinks}}
		if _, err := open(t, s).Generate(t.Context(), request(answered(resp)...)); err != nil || !json.Valid([]byte(s.seen[0])) {
			t.Errorf("the next request: %v", err)
		}
	})
}

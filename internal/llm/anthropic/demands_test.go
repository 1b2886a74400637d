package anthropic

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// What an endpoint demands is learned from its words within the same answer, stored, and met
// from the first request on by the next process.
func TestDemandIsMetWithinTheAnswerAndKept(t *testing.T) {
	called := request(llm.TranscriptMessage{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "t1", Name: "look", Args: "{}"}}}, llm.TranscriptMessage{Role: llm.Result, CallID: "t1", Text: "a tree"})
	forbidden := request()
	forbidden.NoCalls = true
	detailed := request()
	detailed.Tools = []llm.ToolSpec{{Name: "look", Schema: []byte(`{"type":"object","properties":{"at":{"type":"string"}},"additionalProperties":false}`)}}
	for _, test := range []struct {
		said, demand string
		r            llm.ModelRequest
		gone         string // from the next request
	}{
		{"*.cache_control: Extra inputs are not permitted", noCacheKey, request(), "cache_control"},
		{"system.0.cache_control: Extra inputs are not permitted", noCacheKey, request(), "cache_control"},
		{"tool_choice: type 'none' is not supported", noToolChoice, forbidden, "tool_choice"},
		{"Thinking may not be enabled when tool_choice forces tool use.", noToolChoice, forbidden, "tool_choice"},
		{"tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12", plainSchemas, detailed, "additionalProperties"},
		{"Unknown name additionalProperties at 'tools[0].function_declarations[0].parameters'", plainSchemas, detailed, "additionalProperties"},
		{"system: Extra inputs are not permitted", noSystemRole, request(), `"system"`},
		{"registry.ollama.ai/library/m does not support tools", llm.NoTools, called, `"tools"`},
		{"tool use is not supported by this model", llm.NoTools, called, `"tools"`},
		{"messages.1: tool_use ids were found without tool_result blocks immediately after", noToolMessages, called, "tool_result"},
		{"streaming is not supported for this model", noStreaming, request(), `"stream":true`},
		{"This model does not support stream mode", noStreaming, request(), `"stream":true`},
	} {
		path := filepath.Join(t.TempDir(), "models.json")
		s := &script{bodies: []string{`{"type":"error","error":{"type":"invalid_request_error","message":"` + test.said + `"}}`, thinks}}
		open := func() *Client {
			c, err := New(modelhttp.ClientOptions{BaseURL: "http://model.test", APIKey: "secret", Transport: s, Learned: &llm.CapabilityFile{Path: path}})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		c := open()
		got, err := c.Generate(t.Context(), test.r)
		if err != nil || got.Text != "I look." || len(s.seen) != 2 || !strings.Contains(s.seen[0], test.gone) || strings.Contains(s.seen[1], test.gone) {
			t.Errorf("%s: %+v, %v, %d requests:\n%s", test.said, got, err, len(s.seen), strings.Join(s.seen, "\n"))
			continue
		}
		if shown := c.Capability(test.r.Model).Demands; !slices.Equal(shown, []string{test.demand}) {
			t.Errorf("%s: learned %q, want %s", test.said, shown, test.demand)
		}
		if _, err := open().Generate(t.Context(), test.r); err != nil || len(s.seen) != 3 || strings.Contains(s.seen[2], test.gone) {
			t.Errorf("%s: the next process: %v, %d requests", test.said, err, len(s.seen))
		}
	}
}

package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// The first words in which servers refuse a request tell the demand, whatever the status,
// and the answer comes to the same call.
func TestWordingsOfRefusalsTellTheDemand(t *testing.T) {
	pictured := demanding()
	pictured.Messages = slices.Clone(pictured.Messages)
	pictured.Messages[1].Pictures = []llm.ModelImage{{Media: "image/png", Data: []byte("p")}}
	for _, tt := range []struct {
		said, demand string
	}{
		{`"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`, llm.NoTools},
		{"registry.ollama.ai/library/gemma3:latest does not support tools", llm.NoTools},
		{"No endpoints found that support tool use. Try disabling \"look\".", llm.NoTools},
		{"tools param requires --jinja flag", llm.NoTools},
		{"`tool calling` is not supported with this model", llm.NoTools},
		{"Function calling is not enabled for this model", llm.NoTools},
		{"deepseek-reasoner does not support this tool_choice", "no_tool_choice"},
		{"The tool_choice parameter does not support being set to required or object in thinking mode", "no_tool_choice"},
		{"Unrecognized request argument supplied: stream_options", "no_stream_options"},
		{"Your organization must be verified to stream this model.", "no_streaming"},
		{"This model does not support streaming", "no_streaming"},
		{"Unsupported value: 'messages[0].role' does not support 'system' with this model.", "no_system_role"},
		{"System role not supported", "no_system_role"},
		{"Developer instruction is not enabled for models/gemma-3-27b-it", "no_system_role"},
		{"invalid params, chat content has system role in non-first position: role system", "no_system_role"},
		{"Tool call id was call_one but must be a-z, A-Z, 0-9, with a length of 9.", "short_call_ids"},
		{"Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot find field.", "plain_schemas"},
		{"Unexpected role 'user' after role 'tool'", "answered_results"},
		{"After the optional system message, conversation roles must alternate user/assistant/user/assistant/...", "alternating_roles"},
		{"The content field is a required field.", "filled_content"},
		{"messages: text content blocks must be non-empty", "filled_content"},
		{"Invalid value for 'content': expected a string, got null.", "filled_content"},
		{"Function call is missing a thought_signature in functionCall parts.", "signed_calls"},
		{"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2", "reasoning"},
		{"This model only supports single tool-calls at once!", "single_calls"},
		{"image_url is only supported by certain models", "no_pictures"},
		{"At most 0 image(s) may be provided in one prompt.", "no_pictures"},
	} {
		for _, status := range []int{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError} {
			sent := 0
			text, err := json.Marshal(map[string]any{"error": map[string]any{"message": tt.said, "type": "invalid_request_error"}})
			if err != nil {
				t.Fatal(err)
			}
			c := mustNew(t, modelhttp.ClientOptions{BaseURL: "http://model.test/v1", Transport: fakeTransport(func(*http.Request) (*http.Response, error) {
				if sent++; sent == 1 {
					return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(text)))}, nil
				}
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(stream(`{"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}`)))}, nil
			})})
			got, err := c.Generate(t.Context(), pictured)
			if err != nil || got.Text != "Hello" || sent != 2 || !slices.Contains(c.Capability("m").Demands, tt.demand) {
				t.Errorf("%d %s\n\tgives %q, %v after %d requests, learned %q, want %s", status, tt.said, got.Text, err, sent, c.Capability("m").Demands, tt.demand)
			}
		}
	}
}

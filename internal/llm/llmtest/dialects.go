package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// OpenAIDialect is OpenAI's chat completions API
// (platform.openai.com/docs/api-reference/chat).
func OpenAIDialect() ProviderDialect {
	return ProviderDialect{
		Name:    "openai",
		Comment: ": OPENROUTER PROCESSING\n\n",
		Answer: func(a DialectAnswer) string {
			resp := llm.ModelResponse{Text: strings.Join(a.Pieces, ""), Calls: a.Calls, Finish: a.Finish, Usage: a.Usage}
			req := wireRequest{Usage: true}
			cut := func(text string) []string {
				if text == resp.Text && len(a.Pieces) > 0 {
					return a.Pieces
				}
				return splitHalves(text)
			}
			return string(joinEvents(answerEvents(req, 1, resp, cut))) + "data: [DONE]\n\n"
		},
		Half: func(text string) string {
			return string(joinEvents([][]byte{streamEvent(1, "m", delta{Role: "assistant", Content: text}, "")}))
		},
		Thought: func(text string) string {
			return "data: " + string(encodeJSON(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"reasoning_content": text}}}})) + "\n\n"
		},
		Refusals: []DialectRefusal{
			{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-x.","type":"invalid_request_error","code":"invalid_api_key"}}`, Want: llm.Denied},
			{Status: 429, Body: `{"error":{"message":"You exceeded your current quota.","code":"insufficient_quota"}}`, Want: llm.Denied},
			{Status: 429, Header: http.Header{"Retry-After": {"7"}}, Body: `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`, Want: llm.Limited, Wait: 7 * time.Second},
			{Status: 404, Body: `{"error":{"message":"The model does not exist","code":"model_not_found"}}`, Want: llm.NoModel},
			{Status: 503, Body: `{"error":{"message":"The server is overloaded","type":"server_error"}}`, Want: llm.Unavailable},
			{Body: "data: {\"error\":{\"message\":\"The server had an error\",\"type\":\"server_error\"}}\n\n", Want: llm.Unavailable},
			{Status: 400, Body: `{"error":{"message":"This content was flagged by moderation","code":"content_policy_violation"}}`, Want: llm.Rejected},
			{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 200000 tokens. However, your messages resulted in 410000 tokens.","code":"context_length_exceeded"}}`, Want: llm.TooLong, Window: 195_121},
			{Status: 400, Body: `{"error":{"message":"Prompt exceeds max length"}}`, Want: llm.TooLong, Window: 200_000},
		},
		Model: `{"object":"list","data":[{"id":"m","object":"model","context_length":200000}]}`,
		Read: func(_ string, body []byte) (DialectRequest, error) {
			q, err := decodeRequest(body)
			if err != nil {
				return DialectRequest{}, err
			}
			var rest struct {
				Choice string `json:"tool_choice"`
				Most   int    `json:"max_tokens"`
				Tools  []struct {
					Function struct{ Name string }
				}
			}
			err = json.Unmarshal(body, &rest)
			out := DialectRequest{Model: q.Model, Stream: q.Stream, Messages: q.Messages, NoCalls: rest.Choice == "none", MaxOutput: rest.Most}
			for _, t := range rest.Tools {
				out.Tools = append(out.Tools, t.Function.Name)
			}
			return out, err
		},
		HasKey: func(r *http.Request, key string) bool { return r.Header.Get("Authorization") == "Bearer "+key },
	}
}

// AnthropicDialect is Anthropic's Messages API (platform.claude.com/docs/en/api/messages).
func AnthropicDialect() ProviderDialect {
	return ProviderDialect{
		Name:    "anthropic",
		Comment: "event: ping\ndata: {\"type\": \"ping\"}\n\n: keep-alive\n\n",
		Answer:  anthropicAnswer,
		Half: func(text string) string {
			return anthropicStart(llm.TokenUsage{Prompt: 9}) + anthropicText(0, text)
		},
		Thought: func(text string) string {
			return anthropicStart(llm.TokenUsage{Prompt: 9}) + anthropicEvent("content_block_start", `"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}`) +
				anthropicEvent("content_block_delta", `"index":0,"delta":{"type":"thinking_delta","thinking":`+quoted(text)+`}`)
		},
		Refusals: []DialectRefusal{
			{Status: 401, Body: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_011CS"}`, Want: llm.Denied},
			{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`, Want: llm.Denied},
			{Status: 403, Body: `{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}`, Want: llm.Denied},
			{Status: 429, Header: http.Header{"Retry-After": {"7"}}, Body: `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 50,000 input tokens per minute."}}`, Want: llm.Limited, Wait: 7 * time.Second},
			{Status: 404, Body: `{"type":"error","error":{"type":"not_found_error","message":"model: claude-none"}}`, Want: llm.NoModel},
			{Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Want: llm.Unavailable},
			{Body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", Want: llm.Unavailable},
			{Body: anthropicStart(llm.TokenUsage{Prompt: 9}) + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}\n\n", Want: llm.Limited},
			{Status: 500, Body: `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, Want: llm.Unavailable},
			{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"messages: at least one message is required"}}`, Want: llm.Rejected},
			{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 410000 tokens > 200000 maximum"}}`, Want: llm.TooLong, Window: 195_121},
			{Status: 413, Body: `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, Want: llm.TooLong, Window: 200_000},
		},
		Model:  `{"type":"model","id":"m","display_name":"M","max_input_tokens":200000,"max_tokens":64000}`,
		Read:   readAnthropic,
		HasKey: func(r *http.Request, key string) bool { return r.Header.Get("X-Api-Key") == key },
	}
}

// quoted returns a text as JSON.
func quoted(text string) string { return string(encodeJSON(text)) }

func anthropicEvent(name, fields string) string {
	return "event: " + name + "\ndata: {\"type\":\"" + name + "\"," + fields + "}\n\n"
}

func anthropicStart(u llm.TokenUsage) string {
	return anthropicEvent("message_start", fmt.Sprintf(`"message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"stop_sequence":null,`+
		`"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":1}}`, u.Prompt-u.Cached-u.Written, u.Written, u.Cached))
}

// anthropicText returns the events of a text block of one piece, without its end.
func anthropicText(index int, text string) string {
	return anthropicEvent("content_block_start", fmt.Sprintf(`"index":%d,"content_block":{"type":"text","text":""}`, index)) +
		anthropicEvent("content_block_delta", fmt.Sprintf(`"index":%d,"delta":{"type":"text_delta","text":%s}`, index, quoted(text)))
}

func anthropicAnswer(a DialectAnswer) string {
	out, index := anthropicStart(a.Usage), 0
	stop := func() {
		out += anthropicEvent("content_block_stop", fmt.Sprintf(`"index":%d`, index))
		index++
	}
	for i, piece := range a.Pieces {
		if i == 0 {
			out += anthropicText(0, piece)
			continue
		}
		out += anthropicEvent("content_block_delta", fmt.Sprintf(`"index":0,"delta":{"type":"text_delta","text":%s}`, quoted(piece)))
	}
	if len(a.Pieces) > 0 {
		stop()
	}
	for _, c := range a.Calls {
		out += anthropicEvent("content_block_start", fmt.Sprintf(`"index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}`, index, c.ID, c.Name))
		for _, piece := range splitHalves(c.Args) {
			out += anthropicEvent("content_block_delta", fmt.Sprintf(`"index":%d,"delta":{"type":"input_json_delta","partial_json":%s}`, index, quoted(piece)))
		}
		stop()
	}
	reason := map[llm.FinishReason]string{llm.Stopped: "end_turn", llm.Called: "tool_use", llm.Length: "max_tokens", llm.Blocked: "refusal"}[a.Finish]
	return out + anthropicEvent("message_delta", fmt.Sprintf(`"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d}`, reason, a.Usage.Output)) +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
}

// readAnthropic decodes a request, and refuses what the API does.
func readAnthropic(path string, body []byte) (DialectRequest, error) {
	type block struct {
		Type, Text, ID, Name string
		Input                json.RawMessage
		Use                  string          `json:"tool_use_id"`
		Content              json.RawMessage // of a result
		Source               struct {
			Type  string
			Media string `json:"media_type"`
			Data  []byte
		}
	}
	var q struct {
		Model    string
		Most     int `json:"max_tokens"`
		Stream   bool
		System   []block
		Messages []struct {
			Role    string
			Content []block
		}
		Tools []struct {
			Name   string
			Schema json.RawMessage `json:"input_schema"`
		}
		Choice struct{ Type string } `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &q); err != nil || !strings.HasSuffix(path, "/v1/messages") || q.Most < 1 {
		return DialectRequest{}, fmt.Errorf("%s is no request at %s: %w", body, path, err)
	}
	out := DialectRequest{Model: q.Model, Stream: q.Stream, NoCalls: q.Choice.Type == "none", MaxOutput: q.Most}
	for _, t := range q.Tools {
		if !isObject(string(t.Schema)) || !strings.Contains(string(t.Schema), `"type":"object"`) {
			return out, fmt.Errorf("the tool %s has the schema %s", t.Name, t.Schema)
		}
		out.Tools = append(out.Tools, t.Name)
	}
	for _, b := range q.System {
		out.Messages = append(out.Messages, llm.TranscriptMessage{Role: llm.System, Text: b.Text})
	}
	for i, m := range q.Messages {
		if i == 0 && m.Role != "user" || i > 0 && q.Messages[i-1].Role == m.Role {
			return out, fmt.Errorf("message %d has the role %s", i, m.Role)
		}
		for _, b := range m.Content {
			one := llm.TranscriptMessage{Role: llm.MessageRole(m.Role)}
			switch b.Type {
			case "text":
				if one.Text = b.Text; strings.TrimSpace(b.Text) == "" {
					return out, fmt.Errorf("message %d has an empty text", i)
				}
			case "image":
				one.Pictures = []llm.ModelImage{{Media: b.Source.Media, Data: b.Source.Data}}
			case "tool_use":
				one.Calls = []llm.ToolCall{{ID: b.ID, Name: b.Name, Args: string(b.Input)}}
			case "tool_result":
				one.Role, one.CallID, one.Text = llm.Result, b.Use, resultText(b.Content)
			}
			out.Messages = append(out.Messages, one)
		}
	}
	return out, nil
}

// resultText returns the text of a result: a string or a list of texts.
func resultText(content json.RawMessage) string {
	var text string
	var parts []struct{ Text string }
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	if json.Unmarshal(content, &parts) == nil {
		for _, p := range parts {
			text += p.Text
		}
	}
	return text
}

package llmtest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// A RawRequest is a chat completion request as it came, for an [EndpointRule].
type RawRequest struct {
	Fields   map[string]json.RawMessage
	Messages []RawMessage
	Tools    []RawTool
}

// A RawMessage is one message of a [RawRequest].
type RawMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	CallID    string          `json:"tool_call_id"`
	Reasoning *string         `json:"reasoning_content"`
	Calls     []struct {
		ID       string `json:"id"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
		Extra json.RawMessage `json:"extra_content"`
	} `json:"tool_calls"`
}

// text returns the content if it is a text, and false for other values.
func (m *RawMessage) text() (string, bool) {
	var text string
	err := json.Unmarshal(m.Content, &text)
	return text, err == nil && len(m.Content) > 0 && string(m.Content) != "null"
}

// A RawTool is one tool of a [RawRequest].
type RawTool struct {
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// An EndpointRule is something that an endpoint requires of requests, and the words in
// which it refuses others. The words are those of the endpoints that Name says.
type EndpointRule struct {
	Name   string
	Status int
	Body   string
	Breaks func(*RawRequest) bool
}

// refused answers a request that breaks a rule of the server.
func (s *Server) refused(w http.ResponseWriter, body []byte) bool {
	if len(s.Rules) == 0 {
		return false
	}
	var r RawRequest
	if json.Unmarshal(body, &r.Fields) != nil || json.Unmarshal(r.Fields["messages"], &r.Messages) != nil {
		return false
	}
	_ = json.Unmarshal(r.Fields["tools"], &r.Tools) // none
	for _, rule := range s.Rules {
		if !rule.Breaks(&r) {
			continue
		}
		s.ledger.refuse(rule.Name)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(rule.Status)
		_, _ = w.Write([]byte(rule.Body))
		return true
	}
	return false
}

// refuse counts a refusal.
func (l *ledger) refuse(rule string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals = append(l.refusals, rule)
}

// Refusals returns the names of the rules that requests broke, in order.
func (s *Server) Refusals() []string {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return slices.Clone(s.ledger.refusals)
}

// anyMessage returns a check that holds when one message does.
func anyMessage(breaks func(*RawMessage) bool) func(*RawRequest) bool {
	return func(r *RawRequest) bool {
		return slices.ContainsFunc(r.Messages, func(m RawMessage) bool { return breaks(&m) })
	}
}

// follows returns a check that holds when a message of one role follows one of another.
func follows(role, after string) func(*RawRequest) bool {
	return func(r *RawRequest) bool {
		for i := 1; i < len(r.Messages); i++ {
			if r.Messages[i].Role == role && r.Messages[i-1].Role == after {
				return true
			}
		}
		return false
	}
}

// hasField returns a check that holds when a request has that field.
func hasField(name string) func(*RawRequest) bool {
	return func(r *RawRequest) bool { _, has := r.Fields[name]; return has }
}

// inSchemas returns a check that holds when the arguments of a tool contain a text.
func inSchemas(text string) func(*RawRequest) bool {
	return func(r *RawRequest) bool {
		return slices.ContainsFunc(r.Tools, func(t RawTool) bool { return strings.Contains(string(t.Function.Parameters), text) })
	}
}

// badRoles holds unless user and assistant alternate and a user begins, calls and
// results apart.
func badRoles(r *RawRequest) bool {
	user := true
	for i, m := range r.Messages {
		if m.Role == "system" && i == 0 || m.Role == "tool" || len(m.Calls) > 0 {
			continue
		}
		if m.Role == "system" || (m.Role == "user") != user {
			return true
		}
		user = !user
	}
	return false
}

var nineLetters = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

func badID(m *RawMessage) bool {
	if m.Role == "tool" && !nineLetters.MatchString(m.CallID) {
		return true
	}
	for _, c := range m.Calls {
		if !nineLetters.MatchString(c.ID) {
			return true
		}
	}
	return false
}

// EndpointRules returns the rules of known endpoints.
func EndpointRules() []EndpointRule {
	return []EndpointRule{
		{"DeepSeek: reasoning of calls", 400, `{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 4","type":"invalid_request_error"}}`, anyMessage(func(m *RawMessage) bool {
			return len(m.Calls) > 0 && (m.Reasoning == nil || *m.Reasoning == "")
		})},
		{"Kimi: reasoning of all messages", 400, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API.","type":"invalid_request_error"}}`, anyMessage(func(m *RawMessage) bool {
			return m.Role == "assistant" && (m.Reasoning == nil || *m.Reasoning == "")
		})},
		{"Mistral: user after tool", 400, `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","param":null,"code":"3230"}`, follows("user", "tool")},
		{"Mistral: ids of nine letters", 400, `{"object":"error","message":"Tool call id was call_x but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","param":null,"code":"3280"}`, anyMessage(badID)},
		{"OpenAI: long ids", 400, `{"error":{"message":"Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 9, but got a string with length 14 instead.","type":"invalid_request_error","param":"messages[2].tool_calls[0].id","code":"string_above_max_length"}}`, anyMessage(badID)},
		{"Ollama: no tools", 400, `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error","param":null,"code":null}}`, hasField("tools")},
		{"OpenRouter: no tools", 404, `{"error":{"message":"No endpoints found that support tool use. Try disabling \"send_message\".","code":404}}`, hasField("tools")},
		{"llama.cpp: no tools", 500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`, hasField("tools")},
		{"vLLM: no tools", 400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`, hasField("tools")},
		{"Gemini: no tools", 400, `[{"error":{"code":400,"message":"Function calling is not enabled for models/gemma-3-27b-it","status":"INVALID_ARGUMENT"}}]`, hasField("tools")},
		{"Together: no tools", 400, `{"error":{"message":"Function calling is not supported for this model.","type":"invalid_request_error"}}`, hasField("tools")},
		{"DeepSeek: tool_choice", 400, `{"error":{"message":"deepseek-reasoner does not support this tool_choice","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, hasField("tool_choice")},
		{"Qwen: tool_choice", 400, `{"error":{"code":"invalid_parameter_error","param":null,"message":"<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to none in thinking mode","type":"invalid_request_error"}}`, hasField("tool_choice")},
		{"vLLM: alternating roles", 400, `{"object":"error","message":"Conversation roles must alternate user/assistant/user/assistant/...","type":"BadRequestError","param":null,"code":400}`, badRoles},
		{"llama.cpp: alternating roles", 500, `{"error":{"code":500,"message":"Value is not callable: Jinja Exception: After the optional system message, conversation roles must alternate user/assistant/user/assistant/...","type":"server_error"}}`, badRoles},
		{"LM Studio: alternating roles", 422, `{"error":"Error rendering prompt with jinja template: Conversation roles must alternate"}`, badRoles},
		{"Databricks: alternating roles", 200, `data: {"error":{"message":"Invalid request: messages must alternate between user and assistant","code":400}}` + "\n\n", badRoles},
		{"Gemma: no system role", 400, `{"object":"error","message":"System role not supported","type":"BadRequestError","code":400}`, anyMessage(func(m *RawMessage) bool { return m.Role == "system" })},
		{"MiniMax: no system role", 200, `{"choices":null,"base_resp":{"status_code":2013,"status_msg":"invalid params, invalid message role: system"}}`, anyMessage(func(m *RawMessage) bool { return m.Role == "system" })},
		{"OpenAI o1: no system role", 400, `{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","type":"invalid_request_error","param":"messages[0].role","code":"unsupported_value"}}`, anyMessage(func(m *RawMessage) bool { return m.Role == "system" })},
		{"GLM: no null content", 400, `{"error":{"code":"1214","message":"messages[2].content cannot be null"}}`, anyMessage(func(m *RawMessage) bool { _, ok := m.text(); return !ok })},
		{"FastAPI: no null content", 422, `{"detail":[{"type":"string_type","loc":["body","messages",2,"content"],"msg":"Input should be a valid string","input":null}]}`, anyMessage(func(m *RawMessage) bool { _, ok := m.text(); return !ok })},
		{"Anthropic: no empty content", 400, `{"error":{"type":"invalid_request_error","message":"messages: text content blocks must be non-empty"}}`, anyMessage(func(m *RawMessage) bool { text, _ := m.text(); return strings.TrimSpace(text) == "" })},
		{"Gemini: no additionalProperties", 400, `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools.function_declarations[0].parameters': Cannot find field.","status":"INVALID_ARGUMENT"}}]`, inSchemas("additionalProperties")},
		{"Gemini: no two types", 400, `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"type\" at 'tools[0].function_declarations[0].parameters.properties[0].value': Proto field is not repeating, cannot start list.","status":"INVALID_ARGUMENT"}}]`, inSchemas(`"type":["`)},
		{"llama.cpp: grammar of schemas", 500, `{"error":{"code":500,"message":"JSON schema conversion failed: failed to parse grammar","type":"server_error"}}`, inSchemas("anyOf")},
		{"Gemini: names of results", 400, `[{"error":{"code":400,"message":"* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.","status":"INVALID_ARGUMENT"}}]`, anyMessage(func(m *RawMessage) bool { return m.Role == "tool" && m.Name == "" })},
		{"Gemini: signatures", 400, `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}]`, anyMessage(func(m *RawMessage) bool {
			return len(m.Calls) > 0 && !strings.Contains(string(m.Calls[0].Extra), "thought_signature")
		})},
		{"names without underscores", 400, `{"error":{"message":"Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9]{1,32}$'.","type":"invalid_request_error"}}`, func(r *RawRequest) bool {
			return slices.ContainsFunc(r.Tools, func(t RawTool) bool { return strings.ContainsAny(t.Function.Name, "_-") || len(t.Function.Name) > 32 })
		}},
		{"Llama: single calls", 400, `{"object":"error","message":"This model only supports single tool-calls at once!","code":400}`, anyMessage(func(m *RawMessage) bool { return len(m.Calls) > 1 })},
		{"no role tool", 422, `{"error":{"message":"Failed to deserialize the JSON body into the target type: messages[3].role: unknown variant 'tool', expected one of 'system', 'user', 'assistant'"}}`, anyMessage(func(m *RawMessage) bool { return m.Role == "tool" || len(m.Calls) > 0 })},
		{"roles without an explanation", 400, `{"error":{"message":"Bad Request"}}`, follows("user", "tool")},
		{"calls without an explanation", 400, `{}`, anyMessage(func(m *RawMessage) bool { return m.Role == "tool" || len(m.Calls) > 0 })},
		{"stream_options", 422, `{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, hasField("stream_options")},
		{"o1: no streaming", 400, `{"error":{"message":"Your organization must be verified to stream this model.","type":"invalid_request_error","param":"stream","code":"unsupported_value"}}`, func(r *RawRequest) bool { return string(r.Fields["stream"]) == "true" }},
		{"OpenAI: output limit", 400, `{"error":{"message":"max_tokens is too large: 100. This model supports at most 64 completion tokens, whereas you provided 100.","type":"invalid_request_error","param":"max_tokens"}}`, func(r *RawRequest) bool { return string(r.Fields["max_tokens"]) == "100" }},
		{"OpenAI: max_completion_tokens", 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","code":"unsupported_parameter"}}`, hasField("max_tokens")},
		{"no output limit", 400, `{"error":{"message":"Unrecognized request arguments supplied: max_tokens, max_completion_tokens"}}`, func(r *RawRequest) bool {
			return hasField("max_tokens")(r) || hasField("max_completion_tokens")(r)
		}},
	}
}

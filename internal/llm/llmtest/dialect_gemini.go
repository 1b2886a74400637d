package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// GeminiDialect is Google's Gemini API (ai.google.dev/api/generate-content).
func GeminiDialect() ProviderDialect {
	return ProviderDialect{
		Name:    "gemini",
		Comment: ": keep-alive\n\n",
		Answer:  geminiAnswer,
		Half: func(text string) string {
			return geminiEvent(`{"text":`+quoted(text)+`}`, "", llm.TokenUsage{Prompt: 9})
		},
		Thought: func(text string) string {
			return geminiEvent(`{"text":`+quoted(text)+`,"thought":true}`, "", llm.TokenUsage{Prompt: 9})
		},
		Refusals: []DialectRefusal{
			{Status: 400, Body: `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}`, Want: llm.Denied},
			{Status: 403, Body: `{"error":{"code":403,"message":"Permission denied: Consumer has been suspended.","status":"PERMISSION_DENIED"}}`, Want: llm.Denied},
			{Status: 429, Body: `{"error":{"code":429,"message":"Your prepayment credits are depleted: insufficient credit.","status":"RESOURCE_EXHAUSTED"}}`, Want: llm.Denied},
			{Status: 429, Body: `{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 14.5s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"14s"}]}}`, Want: llm.Limited, Wait: 14500 * time.Millisecond},
			{Status: 404, Body: `{"error":{"code":404,"message":"models/m is not found for API version v1beta, or is not supported for generateContent.","status":"NOT_FOUND"}}`, Want: llm.NoModel},
			{Status: 503, Body: `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, Want: llm.Unavailable},
			{Body: "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded. Please try again later.\",\"status\":\"UNAVAILABLE\"}}\n\n", Want: llm.Unavailable},
			{Status: 500, Body: `[{"error":{"code":500,"message":"An internal error has occurred.","status":"INTERNAL"}}]`, Want: llm.Unavailable},
			{Status: 400, Body: `{"error":{"code":400,"message":"Please ensure that the number of parts is equal to that of the call.","status":"INVALID_ARGUMENT"}}`, Want: llm.Rejected},
			{Status: 400, Body: `{"error":{"code":400,"message":"The input token count (410000) exceeds the maximum number of tokens allowed (200000).","status":"INVALID_ARGUMENT"}}`, Want: llm.TooLong, Window: 195_121},
			{Status: 413, Body: `{"error":{"code":413,"message":"Request payload size exceeds the limit"}}`, Want: llm.TooLong, Window: 200_000},
		},
		Model:  `{"name":"models/m","version":"001","inputTokenLimit":200000,"outputTokenLimit":65536}`,
		Read:   readGemini,
		HasKey: func(r *http.Request, key string) bool { return r.Header.Get("X-Goog-Api-Key") == key },
	}
}

func geminiEvent(part, finish string, u llm.TokenUsage) string {
	parts, reason := "", ""
	if part != "" {
		parts = `"parts":[` + part + `],`
	}
	if finish != "" {
		reason = `"finishReason":"` + finish + `",`
	}
	return fmt.Sprintf(`data: {"candidates":[{"content":{%s"role":"model"},%s"index":0}],"usageMetadata":{"promptTokenCount":%d,"cachedContentTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d},"modelVersion":"m","responseId":"r1"}`+"\n\n",
		parts, reason, u.Prompt, u.Cached, u.Output, u.Prompt+u.Output)
}

func geminiAnswer(a DialectAnswer) string {
	var out strings.Builder
	for _, piece := range a.Pieces {
		out.WriteString(geminiEvent(`{"text":`+quoted(piece)+`}`, "", llm.TokenUsage{Prompt: a.Usage.Prompt}))
	}
	for _, c := range a.Calls { // older models give no ids
		out.WriteString(geminiEvent(fmt.Sprintf(`{"functionCall":{"name":%q,"args":%s}}`, c.Name, c.Args), "", llm.TokenUsage{Prompt: a.Usage.Prompt}))
	}
	reason := map[llm.FinishReason]string{llm.Stopped: "STOP", llm.Called: "STOP", llm.Length: "MAX_TOKENS", llm.Blocked: "SAFETY"}[a.Finish]
	return out.String() + geminiEvent("", reason, a.Usage)
}

// readGemini decodes a request, and refuses what the API does.
func readGemini(path string, body []byte) (DialectRequest, error) {
	type part struct {
		Text       string
		InlineData struct {
			MIMEType string
			Data     []byte
		}
		FunctionCall *struct {
			ID, Name string
			Args     json.RawMessage
		}
		FunctionResponse *struct {
			ID, Name string
			Response map[string]string
		}
	}
	type content struct {
		Role  string
		Parts []part
	}
	var q struct {
		Contents          []content
		SystemInstruction content
		Tools             []struct {
			FunctionDeclarations []struct{ Name string }
		}
		ToolConfig       struct{ FunctionCallingConfig struct{ Mode string } }
		GenerationConfig struct{ MaxOutputTokens int }
	}
	model, ok := strings.CutSuffix(path, ":streamGenerateContent")
	_, model, named := strings.Cut(model, "/v1beta/models/")
	if err := json.Unmarshal(body, &q); err != nil || !ok || !named {
		return DialectRequest{}, fmt.Errorf("%s is no request at %s: %w", body, path, err)
	}
	out := DialectRequest{Model: model, Stream: true, NoCalls: q.ToolConfig.FunctionCallingConfig.Mode == "NONE", MaxOutput: q.GenerationConfig.MaxOutputTokens}
	for _, t := range q.Tools {
		for _, f := range t.FunctionDeclarations {
			out.Tools = append(out.Tools, f.Name)
		}
	}
	for _, p := range q.SystemInstruction.Parts {
		out.Messages = append(out.Messages, llm.TranscriptMessage{Role: llm.System, Text: p.Text})
	}
	for i, c := range q.Contents {
		role, known := map[string]llm.MessageRole{"user": llm.User, "model": llm.Assistant}[c.Role]
		if !known || i == 0 && role != llm.User || len(c.Parts) == 0 {
			return out, fmt.Errorf("turn %d has the role %q and %d parts", i, c.Role, len(c.Parts))
		}
		for _, p := range c.Parts {
			one := llm.TranscriptMessage{Role: role, Text: p.Text}
			switch {
			case p.FunctionCall != nil:
				one.Calls = []llm.ToolCall{{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Args: string(p.FunctionCall.Args)}}
			case p.FunctionResponse != nil:
				if p.FunctionResponse.Name == "" {
					return out, fmt.Errorf("a result in turn %d names no function", i)
				}
				one.Role, one.CallID, one.Text = llm.Result, p.FunctionResponse.ID, p.FunctionResponse.Response["output"]
			case p.InlineData.MIMEType != "":
				one.Pictures = []llm.ModelImage{{Media: p.InlineData.MIMEType, Data: p.InlineData.Data}}
			}
			out.Messages = append(out.Messages, one)
		}
	}
	return out, nil
}

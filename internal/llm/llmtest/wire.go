package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A wireRequest is the body of a chat completion.
type wireRequest struct {
	llm.Request
	Stream   bool
	Usage    bool            // stream_options.include_usage
	RawTools json.RawMessage // may alias the body
	tools    *decodedTools
}

var errNoRequest = errors.New("the body is no chat completion request")

// decodeRequest decodes every form of a request that the API allows for text and
// pictures. Only RawTools aliases the body.
func decodeRequest(body []byte) (wireRequest, error) {
	var b struct {
		Model         string            `json:"model"`
		Messages      []json.RawMessage `json:"messages"`
		Tools         json.RawMessage   `json:"tools"`
		ToolChoice    json.RawMessage   `json:"tool_choice"`
		MaxTokens     int               `json:"max_tokens"`
		MaxCompletion int               `json:"max_completion_tokens"`
		CacheKey      string            `json:"prompt_cache_key"`
		Stream        bool              `json:"stream"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if json.Unmarshal(body, &b) != nil {
		return wireRequest{}, errNoRequest
	}
	w := wireRequest{Stream: b.Stream, Usage: b.StreamOptions.IncludeUsage, RawTools: b.Tools}
	w.Model, w.CacheKey, w.MaxOutput = b.Model, b.CacheKey, max(b.MaxTokens, b.MaxCompletion)
	w.NoCalls = string(b.ToolChoice) == `"none"`
	for _, raw := range b.Messages {
		m, err := decodeMessage(raw)
		if err != nil {
			return wireRequest{}, errNoRequest
		}
		w.Messages = append(w.Messages, m)
	}
	return w, nil
}

func decodeMessage(raw json.RawMessage) (llm.Message, error) {
	var m struct {
		Role      llm.MessageRole `json:"role"`
		Content   json.RawMessage `json:"content"`
		CallID    string          `json:"tool_call_id"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name string `json:"name"`
				Args string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return llm.Message{}, err
	}
	out := llm.Message{Role: m.Role, CallID: m.CallID}
	if err := decodeContent(m.Content, &out); err != nil {
		return llm.Message{}, err
	}
	for _, c := range m.ToolCalls {
		out.Calls = append(out.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Args: c.Function.Args})
	}
	return out, nil
}

// decodeContent reads a text, nothing, or a list of parts: texts, and pictures as
// data URLs.
func decodeContent(raw json.RawMessage, into *llm.Message) error {
	if len(raw) == 0 || json.Unmarshal(raw, &into.Text) == nil {
		return nil
	}
	var parts []struct {
		Text  string `json:"text"`
		Image *struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		into.Text += p.Text
		if p.Image == nil {
			continue
		}
		head, data, _ := strings.Cut(p.Image.URL, ";base64,")
		content, err := base64.StdEncoding.DecodeString(data)
		if media, inline := strings.CutPrefix(head, "data:"); err == nil && inline {
			into.Pictures = append(into.Pictures, llm.ModelImage{Media: media, Data: content})
			continue
		}
		return errNoRequest
	}
	return nil
}

// decodeTools reads the tools of a request. The schemas are copies.
func decodeTools(raw json.RawMessage) ([]llm.Tool, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var list []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil, errNoRequest
	}
	tools := make([]llm.Tool, len(list))
	for i := range list {
		f := &list[i].Function
		tools[i] = llm.Tool{Name: f.Name, Description: f.Description, Schema: slices.Clone(f.Parameters)}
	}
	return tools, nil
}

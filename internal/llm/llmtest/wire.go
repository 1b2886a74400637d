package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A wireRequest is the body of a chat completion.
type wireRequest struct {
	llm.ModelRequest
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

func decodeMessage(raw json.RawMessage) (llm.TranscriptMessage, error) {
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
		return llm.TranscriptMessage{}, err
	}
	out := llm.TranscriptMessage{Role: m.Role, CallID: m.CallID}
	if err := decodeContent(m.Content, &out); err != nil {
		return llm.TranscriptMessage{}, err
	}
	for _, c := range m.ToolCalls {
		out.Calls = append(out.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Args: c.Function.Args})
	}
	return out, nil
}

// decodeContent decodes a text, nothing, or a list of parts: texts, and images as
// data URLs.
func decodeContent(raw json.RawMessage, into *llm.TranscriptMessage) error {
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
func decodeTools(raw json.RawMessage) ([]llm.ToolSpec, error) {
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
	tools := make([]llm.ToolSpec, len(list))
	for i := range list {
		f := &list[i].Function
		tools[i] = llm.ToolSpec{Name: f.Name, Description: f.Description, Schema: slices.Clone(f.Parameters)}
	}
	return tools, nil
}

// A delta is the part of an answer in an event; in a plain answer it is the whole
// message.
type delta struct {
	Role      string     `json:"role,omitempty"`
	Content   string     `json:"content,omitempty"`
	ToolCalls []wireCall `json:"tool_calls,omitempty"`
}

type wireCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name string `json:"name,omitempty"`
	Args string `json:"arguments"`
}

type wireChoice struct {
	Index   int     `json:"index"`
	Delta   *delta  `json:"delta,omitempty"`
	Message *delta  `json:"message,omitempty"`
	Finish  *string `json:"finish_reason"`
}

type wireUsage struct {
	Prompt  int `json:"prompt_tokens"`
	Output  int `json:"completion_tokens"`
	Total   int `json:"total_tokens"`
	Details struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

type wireAnswer struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []wireChoice `json:"choices"`
	Usage   *wireUsage   `json:"usage,omitempty"`
}

// writeAnswer writes a whole answer, as a stream if the request asks for one.
func writeAnswer(w http.ResponseWriter, req wireRequest, n int, resp llm.ModelResponse) {
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(wholeAnswer(req, n, resp))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(append(joinEvents(answerEvents(req, n, resp, splitHalves)), "data: [DONE]\n\n"...))
}

// wholeAnswer returns the answer as one JSON object.
func wholeAnswer(req wireRequest, n int, resp llm.ModelResponse) []byte {
	a := newAnswer(n, req.Model, "chat.completion")
	finish := string(resp.Finish)
	message := &delta{Role: string(llm.Assistant), Content: resp.Text}
	for _, c := range resp.Calls {
		message.ToolCalls = append(message.ToolCalls, wholeCall(nil, c))
	}
	a.Choices = []wireChoice{{Message: message, Finish: &finish}}
	a.Usage = usageOf(resp.Usage)
	return encodeJSON(a)
}

// answerEvents returns the answer as events, with texts and arguments split by cut.
func answerEvents(req wireRequest, n int, resp llm.ModelResponse, cut func(string) []string) [][]byte {
	var events [][]byte
	add := func(d delta, finish string) { events = append(events, streamEvent(n, req.Model, d, finish)) }
	text := cut(resp.Text)
	add(delta{Role: string(llm.Assistant), Content: text[0]}, "")
	for _, more := range text[1:] {
		add(delta{Content: more}, "")
	}
	for i, c := range resp.Calls {
		args := cut(c.Args)
		c.Args = args[0]
		add(delta{ToolCalls: []wireCall{wholeCall(&i, c)}}, "")
		for _, more := range args[1:] {
			add(delta{ToolCalls: []wireCall{{Index: &i, Function: wireFunction{Args: more}}}}, "")
		}
	}
	add(delta{}, string(resp.Finish))
	if req.Usage {
		a := newAnswer(n, req.Model, "chat.completion.chunk")
		a.Usage = usageOf(resp.Usage)
		events = append(events, encodeJSON(a))
	}
	return events
}

// streamEvent is one event of a stream.
func streamEvent(n int, name string, d delta, finish string) []byte {
	a := newAnswer(n, name, "chat.completion.chunk")
	a.Choices = []wireChoice{{Delta: &d}}
	if finish != "" {
		a.Choices[0].Finish = &finish
	}
	return encodeJSON(a)
}

func joinEvents(events [][]byte) []byte {
	var b []byte
	for _, e := range events {
		b = append(append(append(b, "data: "...), e...), "\n\n"...)
	}
	return b
}

func newAnswer(n int, name, object string) wireAnswer {
	return wireAnswer{
		ID:      "chatcmpl-" + strconv.Itoa(n),
		Object:  object,
		Created: time.Now().Unix(),
		Model:   name,
		Choices: []wireChoice{},
	}
}

func wholeCall(index *int, c llm.ToolCall) wireCall {
	return wireCall{Index: index, ID: c.ID, Type: "function", Function: wireFunction{Name: c.Name, Args: c.Args}}
}

func usageOf(u llm.TokenUsage) *wireUsage {
	w := &wireUsage{Prompt: u.Prompt, Output: u.Output, Total: u.Prompt + u.Output}
	w.Details.Cached = u.Cached
	return w
}

// splitHalves splits s near the middle, between two characters.
func splitHalves(s string) []string {
	n := len(s) / 2
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if n == 0 {
		return []string{s}
	}
	return []string{s[:n], s[n:]}
}

// list writes the available models.
func (s *Server) list(w http.ResponseWriter) {
	type entry struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	data := make([]entry, len(s.Names))
	for i, n := range s.Names {
		data[i] = entry{ID: n, Object: "model"}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encodeJSON(struct {
		Object string  `json:"object"`
		Data   []entry `json:"data"`
	}{"list", data}))
}

// writeError answers with an error in OpenAI's form.
func writeError(w http.ResponseWriter, status int, code, message string) {
	type detail struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    string `json:"code"`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encodeJSON(struct {
		Error detail `json:"error"`
	}{detail{message, code, code}}))
}

// writeLimited answers 429 with Retry-After in whole seconds, rounded up.
func writeLimited(w http.ResponseWriter, retryAfter time.Duration) {
	if retryAfter > 0 {
		seconds := int((retryAfter + time.Second - 1) / time.Second)
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	writeError(w, http.StatusTooManyRequests, "rate_limit_exceeded", "Rate limit reached.")
}

// encodeJSON returns the JSON of one of the structs above.
func encodeJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("llmtest: " + err.Error())
	}
	return b
}

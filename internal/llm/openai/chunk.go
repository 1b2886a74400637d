package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A chunk is one event of a stream, or a whole plain answer. It has the fields that
// are read, in all forms that endpoints send.
type chunk struct {
	Choices listOf[choice]  `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index   position        `json:"index"`
	Delta   *piece          `json:"delta"`
	Message *piece          `json:"message"` // in place of delta: a plain answer
	Text    contentText     `json:"text"`    // of the older completions
	Finish  plainText       `json:"finish_reason"`
	Error   json.RawMessage `json:"error"`
}

type piece struct {
	Content   contentText      `json:"content"`
	Refusal   plainText        `json:"refusal"`
	ToolCalls listOf[callPart] `json:"tool_calls"`
	Call      *callFunction    `json:"function_call"` // before tool_calls
	// The reasoning has one of these names.
	Reasoning thoughtText `json:"reasoning_content"`
	Thoughts  thoughtText `json:"reasoning"`
	Thinking  thoughtText `json:"thinking"`
}

// isEmpty reports whether the piece holds nothing of an answer.
func (p *piece) isEmpty() bool {
	return p == nil || p.Content == "" && p.Refusal == "" && len(p.ToolCalls) == 0 && p.Call == nil && p.reasoning() == ""
}

// reasoning returns the reasoning in the piece. Some endpoints send it under two names.
func (p *piece) reasoning() string {
	return string(cmp.Or(p.Reasoning, p.Thoughts, p.Thinking))
}

// calls returns the parts of calls in the piece.
func (p *piece) calls() []callPart {
	if p.Call != nil {
		return append(p.ToolCalls, callPart{Function: *p.Call})
	}
	return p.ToolCalls
}

// A callPart is a part of a call. Some endpoints leave out the object function and
// send its fields in its place.
type callPart struct {
	Index    position     `json:"index"`
	ID       callID       `json:"id"`
	Function callFunction `json:"function"`
	callFunction
}

type callFunction struct {
	Name       plainText    `json:"name"`
	Args       argumentText `json:"arguments"`
	Parameters argumentText `json:"parameters"` // in place of arguments
	Input      argumentText `json:"input"`      // in place of arguments
}

func (c *callPart) name() string {
	return string(cmp.Or(c.Function.Name, c.Name))
}

func (c *callPart) args() string {
	f, g := &c.Function, &c.callFunction
	return string(cmp.Or(f.Args, g.Args, f.Parameters, g.Parameters, f.Input, g.Input))
}

// A callID is a text or a number. Other values read as none.
type callID string

// UnmarshalJSON reads either form.
func (c *callID) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		*c = callID(decodeText(b))
	case b[0] >= '0' && b[0] <= '9':
		*c = callID(b)
	}
	return nil
}

type usage struct {
	Prompt  float64 `json:"prompt_tokens"`
	Output  float64 `json:"completion_tokens"`
	Hits    float64 `json:"prompt_cache_hit_tokens"` // DeepSeek
	Details *struct {
		Cached float64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// tokens returns the usage that the endpoint reported; ok is false without one.
func (u *usage) tokens() (n llm.TokenUsage, ok bool) {
	if u == nil || u.Prompt < 1 {
		return llm.TokenUsage{}, false
	}
	n = llm.TokenUsage{Prompt: whole32(u.Prompt), Output: whole32(u.Output), Cached: whole32(u.Hits)}
	if u.Details != nil {
		n.Cached = max(n.Cached, whole32(u.Details.Cached))
	}
	n.Cached = min(n.Cached, n.Prompt)
	return n, true
}

// whole32 converts f to an int within 0 and 1<<31-1.
func whole32(f float64) int {
	return int(min(max(f, 0), 1<<31-1))
}

// isDone reports whether data ends a stream.
func isDone(data []byte) bool {
	return strings.Trim(string(data[:min(len(data), 16)]), ` "[]`+"\t\r\n") == "DONE"
}

// isSet reports whether a value of JSON is more than null, false or empty.
func isSet(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", "0", `""`, "{}", "[]":
		return false
	}
	return true
}

package openai

import (
	"cmp"
	"encoding/json"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// A chunk is one event of a stream, or a whole plain answer. It has the fields that
// are read, in all forms that endpoints send.
type chunk struct {
	Choices modelhttp.ListField[choice] `json:"choices"`
	Usage   *usage                      `json:"usage"`
	Error   json.RawMessage             `json:"error"`
}

type choice struct {
	Index   modelhttp.IndexField   `json:"index"`
	Delta   *piece                 `json:"delta"`
	Message *piece                 `json:"message"` // in place of delta: a plain answer
	Text    modelhttp.ContentField `json:"text"`    // of the older completions
	Finish  modelhttp.FinishField  `json:"finish_reason"`
	Error   json.RawMessage        `json:"error"`
}

type piece struct {
	Content   modelhttp.ContentField        `json:"content"`
	Refusal   modelhttp.TextField           `json:"refusal"`
	ToolCalls modelhttp.ListField[callPart] `json:"tool_calls"`
	Call      *callFunction                 `json:"function_call"` // before tool_calls
	// The reasoning has one of these names.
	Reasoning modelhttp.ThoughtField `json:"reasoning_content"`
	Thoughts  modelhttp.ThoughtField `json:"reasoning"`
	Thinking  modelhttp.ThoughtField `json:"thinking"`
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
	Index    modelhttp.IndexField `json:"index"`
	ID       callID               `json:"id"`
	Function callFunction         `json:"function"`
	callFunction
}

type callFunction struct {
	Name       modelhttp.TextField     `json:"name"`
	Args       modelhttp.ArgumentField `json:"arguments"`
	Parameters modelhttp.ArgumentField `json:"parameters"` // in place of arguments
	Input      modelhttp.ArgumentField `json:"input"`      // in place of arguments
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
		*c = callID(modelhttp.DecodeText(b))
	case b[0] >= '0' && b[0] <= '9':
		*c = callID(b)
	}
	return nil
}

type usage struct {
	Prompt  modelhttp.NumberField `json:"prompt_tokens"`
	Output  modelhttp.NumberField `json:"completion_tokens"`
	Hits    modelhttp.NumberField `json:"prompt_cache_hit_tokens"` // DeepSeek
	Details *struct {
		Cached  modelhttp.NumberField `json:"cached_tokens"`
		Written modelhttp.NumberField `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
}

// tokens returns the usage that the endpoint reported; ok is false without one.
func (u *usage) tokens() (n llm.TokenUsage, ok bool) {
	if u == nil || u.Prompt < 1 {
		return llm.TokenUsage{}, false
	}
	n = llm.TokenUsage{Prompt: u.Prompt.Whole(), Output: u.Output.Whole(), Cached: u.Hits.Whole()}
	if u.Details != nil {
		n.Cached, n.Written = max(n.Cached, u.Details.Cached.Whole()), u.Details.Written.Whole()
	}
	n.Cached = min(n.Cached, n.Prompt)
	n.Written = min(n.Written, n.Prompt-n.Cached)
	return n, true
}

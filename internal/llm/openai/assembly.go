package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/llm"
)

var (
	errCut       = errors.New("the answer was cut off")
	errManyCalls = errors.New("the answer has more calls than any model means")
	errBroken    = errors.New("the endpoint broke off with an error it does not explain")
)

// mostCalls bounds the calls of one answer.
const mostCalls = 512

// A streamAssembler assembles the pieces of one answer.
//
// A tool call arrives in pieces that should have its index, and the first one its id
// and name; endpoints omit or repeat any of the three. See partFor.
type streamAssembler struct {
	request llm.ModelRequest
	sees    bool // its images were sent
	mint    func() string
	text    strings.Builder
	calls   []*partialCall
	output  int // bytes of text, names and arguments
	reason  string
	usage   *usage
	plain   bool // a whole answer came, not pieces
}

// A partialCall is a tool call that is still arriving.
type partialCall struct {
	index *int
	id    string
	name  string
	args  strings.Builder
}

// add adds the next event of the stream.
func (a *streamAssembler) add(line []byte) error {
	var c chunk
	if err := json.Unmarshal(line, &c); err != nil {
		return err
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return streamError(c.Error)
	}
	if c.Usage != nil {
		a.usage = c.Usage
	}
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			continue // one choice was requested
		}
		if err := a.addChoice(&c.Choices[i]); err != nil {
			return err
		}
		if a.request.Hear != nil {
			a.request.Hear(a.soFar())
		}
	}
	return nil
}

// soFar returns the answer as far as it has arrived.
func (a *streamAssembler) soFar() llm.ModelResponse {
	resp := llm.ModelResponse{Text: withoutReasoning(a.text.String())}
	if !a.request.NoCalls {
		for _, p := range a.calls {
			resp.Calls = append(resp.Calls, llm.ToolCall{ID: p.id, Name: p.name, Args: p.args.String()})
		}
	}
	return resp
}

// streamError converts an error event in a stream.
func streamError(raw json.RawMessage) error {
	r := &apiError{reason: readError(raw)}
	var numbered struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(raw, &numbered) == nil {
		r.status = httpStatus(numbered.Code)
	}
	if r.reason.Message == "" {
		r.reason.Message = errBroken.Error()
	}
	return r
}

func (a *streamAssembler) addChoice(c *choice) error {
	if c.Finish != "" {
		a.reason = c.Finish
	}
	p := c.Delta
	if p == nil {
		if p = c.Message; p == nil {
			return nil
		}
		a.plain = true
	}
	a.text.WriteString(string(p.Content))
	a.text.WriteString(p.Refusal)
	a.output += len(p.Content) + len(p.Refusal)
	for i := range p.ToolCalls {
		if err := a.addCall(&p.ToolCalls[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *streamAssembler) addCall(c *callPart) error {
	name, args := c.Function.Name, string(c.Function.Args)
	a.output += len(name) + len(args)
	p := a.partFor(c)
	if p == nil {
		if len(a.calls) == mostCalls {
			return errManyCalls
		}
		p = &partialCall{index: c.Index, id: c.ID}
		a.calls = append(a.calls, p)
	}
	if p.id == "" {
		p.id = c.ID
	}
	if name != p.name { // some endpoints repeat it in every piece
		p.name += name
	}
	p.args.WriteString(args)
	return nil
}

// partFor returns the call that c continues, or nil when it begins one.
func (a *streamAssembler) partFor(c *callPart) *partialCall {
	for i, p := range slices.Backward(a.calls) {
		switch {
		case c.ID != "" && c.ID == p.id:
			if c.Index == nil || p.index == nil || *c.Index == *p.index {
				return p
			}
		case c.Index != nil && p.index != nil && *c.Index == *p.index, c.Index == nil && i == len(a.calls)-1:
			if p.continuedBy(c) {
				return p
			}
			return nil
		}
	}
	return nil
}

// continuedBy reports whether c, which has p's position but not its id, continues p.
// Some endpoints give every call the same index or none. A piece that begins a call
// has a name: it is a new call if it has another id, or if p is complete.
func (p *partialCall) continuedBy(c *callPart) bool {
	if c.Function.Name == "" || p.name == "" {
		return true
	}
	if c.ID != "" && p.id != "" {
		return false
	}
	return p.args.Len() == 0 || !json.Valid([]byte(p.args.String()))
}

// finish returns the whole answer. sent is the size of the request in bytes.
func (a *streamAssembler) finish(sent int) (llm.ModelResponse, error) {
	switch {
	case a.reason == "" && !a.plain:
		return llm.ModelResponse{}, errCut
	case a.reason == "error":
		return llm.ModelResponse{}, &apiError{reason: errorReason{Message: errBroken.Error()}}
	}
	resp := llm.ModelResponse{Text: withoutReasoning(a.text.String()), Finish: a.finishReason(), Usage: a.tokenUsage(sent)}
	if resp.Finish == llm.Called {
		resp.Calls = a.wholeCalls()
	}
	return resp, nil
}

// finishReason returns the finish reason, corrected by the calls: endpoints send stop with
// calls and tool_calls without any.
func (a *streamAssembler) finishReason() llm.FinishReason {
	switch a.reason {
	case "length", "max_tokens":
		return llm.Length
	case "content_filter":
		return llm.Blocked
	}
	if len(a.calls) > 0 && !a.request.NoCalls {
		return llm.Called
	}
	return llm.Stopped
}

// tokenUsage returns the reported usage, or an estimate: a quarter of the bytes, plus
// the tokens of the images that were sent.
func (a *streamAssembler) tokenUsage(sent int) llm.TokenUsage {
	if u, ok := a.usage.tokens(); ok {
		return u
	}
	seen := 0
	for i := 0; a.sees && i < len(a.request.Messages); i++ {
		for j := range a.request.Messages[i].Pictures {
			p := &a.request.Messages[i].Pictures[j]
			sent -= pictureSize(p)
			seen += p.Tokens
		}
	}
	return llm.TokenUsage{Prompt: (max(sent, 0)+3)/4 + seen, Output: (a.output + 3) / 4, Estimated: true}
}

// wholeCalls returns the calls with ids that are unique among themselves and those
// of the request: some endpoints send none, or call_0 in every answer.
func (a *streamAssembler) wholeCalls() []llm.ToolCall {
	calls := make([]llm.ToolCall, 0, len(a.calls))
	for _, p := range a.calls {
		id := p.id
		if id == "" || a.hasCallID(id) || slices.ContainsFunc(calls, func(c llm.ToolCall) bool { return c.ID == id }) {
			id = a.mint()
		}
		calls = append(calls, llm.ToolCall{ID: id, Name: validToolName(p.name), Args: cmp.Or(p.args.String(), "{}")})
	}
	return calls
}

// mostName is the longest tool name that endpoints accept.
const mostName = 64

// validToolName returns name in a form that every endpoint accepts in later requests: some
// models call invalid names ("functions.send_message"), and endpoints then refuse
// every request with that call.
// https://platform.openai.com/docs/api-reference/chat/create (tools.function.name).
func validToolName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-') {
			return r
		}
		return '_'
	}, strings.TrimPrefix(name, "functions."))
	return cmp.Or(name[:min(len(name), mostName)], "_")
}

// hasCallID reports whether the request has a call with that id.
func (a *streamAssembler) hasCallID(id string) bool {
	for i := range a.request.Messages {
		for j := range a.request.Messages[i].Calls {
			if a.request.Messages[i].Calls[j].ID == id {
				return true
			}
		}
	}
	return false
}

// Many servers return the reasoning of a model between these tags.
const (
	thinking = "<think>"
	thought  = "</think>"
)

// withoutReasoning returns an answer without the reasoning in front of it, so that
// it is neither sent nor stored as context. Some chat templates consume the opening
// tag, so a closing tag alone on its line counts too.
func withoutReasoning(text string) string {
	before, after, ended := strings.Cut(text, thought)
	begun := strings.HasPrefix(strings.TrimSpace(before), thinking)
	switch {
	case begun && !ended:
		return "" // it ended within the reasoning
	case begun, ended && !strings.Contains(before, thinking) && strings.HasSuffix(before, "\n") && strings.HasPrefix(after, "\n"):
		return strings.TrimSpace(after)
	}
	return text
}

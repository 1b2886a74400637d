package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// mostCalls bounds the calls of one answer.
const mostCalls = 512

var errManyCalls = errors.New("the answer has more calls than any model means")

// An answerReader assembles an answer from its events, each a part of one
// (ai.google.dev/api/generate-content#v1beta.GenerateContentResponse).
type answerReader struct {
	request *llm.ModelRequest
	watch   *modelhttp.CallTimeouts
	mint    func() string

	text       strings.Builder
	thoughts   strings.Builder
	calls      []llm.ToolCall
	signatures keptSignatures
	usage      wireUsage
	reason     modelhttp.FinishField
	blocked    bool // the prompt was
	output     int  // bytes of text, names and arguments
	parts      int
	lost       string
	words      []byte // in no known form
	refusal    error  // what the endpoint said in place of an answer
	done       bool   // no more is kept, or comes
}

// wireAnswer has the fields that are read of an event. Arguments stay as they are written.
type wireAnswer struct {
	Candidates modelhttp.ListField[wireCandidate] `json:"candidates"`
	Feedback   wireFeedback                       `json:"promptFeedback"`
	Usage      wireUsage                          `json:"usageMetadata"`
	Error      json.RawMessage                    `json:"error"`
	Response   *wireAnswer                        `json:"response"` // in which some gateways wrap it
}

type wireCandidate struct {
	Index   modelhttp.IndexField  `json:"index"`
	Content wireTurn              `json:"content"`
	Finish  modelhttp.FinishField `json:"finishReason"`
}

type wireFeedback struct {
	Reason modelhttp.TextField `json:"blockReason"`
}

// wireUsage is the usage so far. Thoughts are output.
type wireUsage struct {
	Prompt   modelhttp.NumberField `json:"promptTokenCount"`
	Tools    modelhttp.NumberField `json:"toolUsePromptTokenCount"`
	Cached   modelhttp.NumberField `json:"cachedContentTokenCount"`
	Output   modelhttp.NumberField `json:"candidatesTokenCount"`
	Thoughts modelhttp.NumberField `json:"thoughtsTokenCount"`
}

// UnmarshalJSON reads an event with its keys in camelCase or in snake_case, as all below.
func (w *wireAnswer) UnmarshalJSON(b []byte) error {
	type fields wireAnswer
	return modelhttp.WithoutTypeErrors(json.Unmarshal(modelhttp.CamelKeys(b), (*fields)(w)))
}

// UnmarshalJSON reads a candidate.
func (c *wireCandidate) UnmarshalJSON(b []byte) error {
	type fields wireCandidate
	return modelhttp.WithoutTypeErrors(json.Unmarshal(modelhttp.CamelKeys(b), (*fields)(c)))
}

// UnmarshalJSON reads what is said of the prompt.
func (f *wireFeedback) UnmarshalJSON(b []byte) error {
	type fields wireFeedback
	return modelhttp.WithoutTypeErrors(json.Unmarshal(modelhttp.CamelKeys(b), (*fields)(f)))
}

// UnmarshalJSON reads the usage.
func (u *wireUsage) UnmarshalJSON(b []byte) error {
	type fields wireUsage
	return modelhttp.WithoutTypeErrors(json.Unmarshal(modelhttp.CamelKeys(b), (*fields)(u)))
}

// wireTurn is the parts of an event.
type wireTurn struct {
	Parts modelhttp.ListField[wirePart] `json:"parts"`
}

// UnmarshalJSON reads a turn, or parts in its place.
func (t *wireTurn) UnmarshalJSON(b []byte) error {
	if b[0] != '{' {
		return t.Parts.UnmarshalJSON(b)
	}
	type fields wireTurn
	return modelhttp.WithoutTypeErrors(json.Unmarshal(b, (*fields)(t)))
}

type wirePart struct {
	Text      modelhttp.ContentField `json:"text"`
	Thought   json.RawMessage        `json:"thought"`
	Signature modelhttp.TextField    `json:"thoughtSignature"`
	Call      *struct {
		ID   modelhttp.TextField     `json:"id"`
		Name modelhttp.TextField     `json:"name"`
		Args modelhttp.ArgumentField `json:"args"`
	} `json:"functionCall"`
}

// UnmarshalJSON reads a part, or a text in its place.
func (p *wirePart) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*p = wirePart{Text: modelhttp.ContentField(modelhttp.DecodeText(b))}
		return nil
	}
	type fields wirePart
	return modelhttp.WithoutTypeErrors(json.Unmarshal(modelhttp.CamelKeys(b), (*fields)(p)))
}

// isThought reports whether the text is thinking.
func (p *wirePart) isThought() bool { return strings.Trim(string(p.Thought), `"`) == "true" }

// readAll reads the events of an answer to their end. What fails after the reason to finish
// is no part of it.
func (a *answerReader) readAll(events *modelhttp.EventReader) error {
	for !a.done {
		e, err := events.Next()
		if err == nil {
			err = a.add(e.Name, bytes.TrimSpace(e.Data))
		}
		switch {
		case errors.Is(err, io.EOF), err != nil && a.reason != "" && a.parts > 0 && !errors.Is(err, modelhttp.ErrTooLarge):
			a.words = append(a.words, events.Words...)
			return nil
		case err != nil:
			return err
		}
		if a.request.Hear != nil {
			a.request.Hear(a.soFar(false))
		}
	}
	return nil
}

// add adds one event of that name, or the events of a list, in which the API sends errors
// and answers that are not streamed as events.
func (a *answerReader) add(name string, data []byte) error {
	switch {
	case len(data) == 0:
		return nil
	case modelhttp.IsDone(data):
		a.done = true
		return nil
	case name == "error":
		return modelhttp.ErrorInAnswer(modelhttp.ReadReason(data))
	case data[0] == '[':
		return modelhttp.EachListed(data, func(one []byte) error { return a.add("", one) }, a.lose)
	case data[0] != '{': // words, or a sign of life
		a.words = append(append(a.words, data[:min(len(data), modelhttp.KeptWords)]...), ' ')
		return nil
	}
	var w wireAnswer
	if modelhttp.DecodeLenient(data, &w) != nil {
		a.lose(data)
		return nil
	}
	if modelhttp.FailureIn(w.Error) != nil {
		return modelhttp.ErrorInAnswer(modelhttp.ReadReason(data))
	}
	if w.Response != nil {
		w = *w.Response
	}
	if w.Usage.Prompt > 0 {
		a.usage = w.Usage
	}
	a.blocked = a.blocked || w.Feedback.Reason != ""
	if len(w.Candidates) == 0 && a.refusal == nil {
		if r := modelhttp.ReadReason(data); r.IsFailure() {
			a.refusal = modelhttp.ErrorInAnswer(r) // of an answer that has nothing else
		}
	}
	for i := range w.Candidates {
		c := &w.Candidates[i]
		if c.Index.N != 0 {
			continue // one was requested
		}
		for j := range c.Content.Parts {
			a.addPart(&c.Content.Parts[j])
		}
		if c.Finish != "" {
			a.reason = c.Finish
			a.watch.Ending()
		}
	}
	if len(a.calls) > mostCalls {
		return errManyCalls
	}
	if a.output > llm.KeptBytes(a.request.MaxOutput) {
		a.reason, a.done = modelhttp.LengthReached, true // the endpoint does not keep to the limit
	}
	return nil
}

// lose notes an event that cannot be decoded. After the reason to finish it is no part of
// the answer.
func (a *answerReader) lose(data []byte) {
	if a.reason == "" {
		a.lost = cmp.Or(a.lost, modelhttp.PlainWords(data), "an event that is no text")
	}
}

// addPart adds a part of an answer.
func (a *answerReader) addPart(p *wirePart) {
	a.parts++
	a.watch.Grow(len(p.Text))
	limit := llm.KeptBytes(a.request.MaxOutput)
	switch {
	case p.Call != nil:
		n := len(p.Call.Name) + len(p.Call.Args)
		a.watch.Grow(n)
		if a.output += n; a.output > limit {
			return
		}
		args := modelhttp.WholeText(strings.TrimSpace(string(p.Call.Args)), true)
		a.calls = append(a.calls, llm.ToolCall{ID: string(p.Call.ID), Name: modelhttp.CallName(string(p.Call.Name)), Args: cmp.Or(args, "{}")})
		a.signatures.Calls = append(a.signatures.Calls, string(p.Signature))
	case p.isThought():
		a.thoughts.WriteString(llm.CutText(string(p.Text), modelhttp.MostReasoning-a.thoughts.Len()))
	default:
		a.text.WriteString(llm.CutText(string(p.Text), limit-a.output))
		a.output += len(p.Text)
		a.signatures.Text = cmp.Or(string(p.Signature), a.signatures.Text)
	}
}

// soFar returns the answer as far as it has arrived, or all of it once it has ended.
func (a *answerReader) soFar(ended bool) llm.ModelResponse {
	resp := llm.ModelResponse{Text: modelhttp.WholeText(a.text.String(), ended)}
	if !a.request.NoCalls {
		resp.Calls = slices.Clone(a.calls)
	}
	return resp
}

// The reasons of answers whose calls cannot be read.
var brokenReasons = []modelhttp.FinishField{"malformed_function_call", "unexpected_tool_call", "too_many_tool_calls"}

// finish returns the whole answer.
func (a *answerReader) finish() (llm.ModelResponse, error) {
	resp := a.soFar(true)
	switch {
	case a.reason.Failed():
		return llm.ModelResponse{}, modelhttp.ErrorInAnswer(modelhttp.ErrorReason{})
	case a.lost != "":
		return llm.ModelResponse{}, fmt.Errorf("the answer cannot be read: %s", a.lost)
	case a.parts == 0 && a.refusal != nil && !a.blocked:
		return llm.ModelResponse{}, a.refusal
	case a.reason == "" && !a.blocked && (!a.done || a.parts == 0) && !modelhttp.AreWhole(resp.Calls):
		return llm.ModelResponse{}, cmp.Or(a.refusal, modelhttp.CutAnswer(a.words))
	case len(a.calls) == 0 && slices.Contains(brokenReasons, a.reason):
		return llm.ModelResponse{}, &llm.Error{Kind: llm.Garbled, Err: fmt.Errorf("the model wrote a call that cannot be read (%s)", a.reason)}
	}
	resp.Reasoning = strings.TrimSpace(modelhttp.WholeText(a.thoughts.String(), true))
	resp.Finish = a.reason.Reason(len(resp.Calls) > 0)
	if a.blocked && a.parts == 0 {
		resp.Finish = llm.Blocked
	}
	resp.Usage = a.tokenUsage()
	if resp.Finish != llm.Called {
		resp.Calls = nil
	}
	for i := range resp.Calls {
		c := &resp.Calls[i]
		if c.ID == "" || a.request.HasCallID(c.ID) || slices.ContainsFunc(resp.Calls[:i], func(o llm.ToolCall) bool { return o.ID == c.ID }) {
			c.ID = a.mint()
		}
	}
	return resp, nil
}

// tokenUsage returns the reported usage, or an estimate.
func (a *answerReader) tokenUsage() llm.TokenUsage {
	if u := &a.usage; u.Prompt > 0 {
		prompt := (u.Prompt + u.Tools).Whole()
		return llm.TokenUsage{Prompt: prompt, Cached: min(u.Cached.Whole(), prompt), Output: (u.Output + u.Thoughts).Whole()}
	}
	return modelhttp.EstimateUsage(a.request, a.output)
}

// keptSignatures are the signatures of an answer: of its text, and of each of its calls.
type keptSignatures struct {
	Text  string   `json:"text,omitempty"`
	Calls []string `json:"calls,omitempty"`
}

// kept returns the signatures of an answer with calls; "" when it has none.
func (a *answerReader) kept() string {
	s := a.signatures
	if s.Text == "" && !slices.ContainsFunc(s.Calls, func(one string) bool { return one != "" }) {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(text)
}

// readSignatures returns what kept returned.
func readSignatures(kept string) (s keptSignatures) {
	if kept != "" && json.Unmarshal([]byte(kept), &s) != nil {
		return keptSignatures{}
	}
	return s
}

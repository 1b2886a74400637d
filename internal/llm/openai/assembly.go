package openai

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

var errManyCalls = errors.New("the answer has more calls than any model means")

// Limits of one answer: its calls, and the bytes of the id of each.
const (
	mostCalls = 512
	mostID    = 256
)

// A streamAssembler assembles the pieces of one answer.
//
// A tool call arrives in pieces that should have its index, and the first one its id
// and name; endpoints omit or repeat any of the three. See partFor.
type streamAssembler struct {
	request llm.ModelRequest
	watch   *modelhttp.CallTimeouts
	sees    bool // its images were sent
	// plainNames is true when the tools were sent by their plain names.
	plainNames bool
	mint       func() string
	text       strings.Builder
	reasoning  strings.Builder
	calls      []*partialCall
	output     int // bytes of text, names and arguments
	reason     modelhttp.FinishField
	usage      *usage
	plain      bool // a whole answer came, not pieces
	done       bool // the endpoint said that the stream ends
	counted    bool // the usage came after the pieces
	pieces     int  // that held something of the answer
	words      []byte
	lost       string                   // the first event that could not be decoded
	refusal    *modelhttp.EndpointError // what the endpoint said in place of choices
}

// A partialCall is a tool call that is still arriving.
type partialCall struct {
	index modelhttp.IndexField
	id    string
	name  string
	args  *modelhttp.CallArguments
}

// readAll adds all events of an answer. What comes after a reason to finish is not
// waited for long: some endpoints leave the body open.
func (a *streamAssembler) readAll(events *modelhttp.EventReader) error {
	for !a.done {
		e, err := events.Next()
		if err == nil {
			err = a.add(e)
		}
		switch {
		case err == nil && a.reason != "":
			a.watch.Ending()
		case err == nil:
		case errors.Is(err, io.EOF), a.reason != "" && !errors.Is(err, modelhttp.ErrTooLarge):
			return nil
		default:
			return err
		}
	}
	return nil
}

// add adds the next event of the answer. It returns an error when the endpoint says
// that it failed.
func (a *streamAssembler) add(e modelhttp.AnswerEvent) error {
	data := bytes.TrimSpace(e.Data)
	if modelhttp.IsDone(data) {
		a.done = true
		return nil
	}
	if e.Name == "error" {
		return modelhttp.ErrorInAnswer(modelhttp.ReadReason(data))
	}
	switch {
	case len(data) == 0, data[0] != '{' && data[0] != '[':
		if len(a.words) < modelhttp.KeptWords { // words, or a sign of life
			a.words = append(append(a.words, data[:min(len(data), modelhttp.KeptWords)]...), ' ')
		}
		return nil
	case data[0] == '[':
		return modelhttp.EachListed(data, func(one []byte) error { return a.add(modelhttp.AnswerEvent{Data: one}) }, a.lose)
	}
	var c chunk
	if err := modelhttp.DecodeLenient(data, &c); err != nil {
		a.lose(data)
		return nil
	}
	return a.addChunk(&c, data)
}

// lose notes an event that cannot be decoded. After the reason to finish it is no part of
// the answer.
func (a *streamAssembler) lose(data []byte) {
	if a.reason == "" {
		a.lost = cmp.Or(a.lost, modelhttp.PlainWords(data), "an event that is no text")
	}
}

func (a *streamAssembler) addChunk(c *chunk, data []byte) error {
	if err := modelhttp.FailureIn(c.Error); err != nil {
		return err
	}
	if _, ok := c.Usage.tokens(); ok {
		a.usage = c.Usage
		a.counted = len(c.Choices) == 0 && a.pieces > 0
	}
	if len(c.Choices) == 0 && a.refusal == nil && !a.counted {
		if r := modelhttp.ReadReason(data); r.IsFailure() {
			a.refusal = modelhttp.ErrorInAnswer(r) // of an answer that has nothing else
		}
	}
	for i := range c.Choices {
		o := &c.Choices[i]
		if o.Index.N != 0 {
			continue // one choice was requested
		}
		if err := modelhttp.FailureIn(o.Error); err != nil {
			return err
		}
		a.addChoice(o)
		if len(a.calls) > mostCalls {
			return errManyCalls
		}
		if a.request.Hear != nil {
			a.request.Hear(a.soFar())
		}
	}
	return nil
}

// soFar returns the answer as far as it has arrived.
func (a *streamAssembler) soFar() llm.ModelResponse {
	var resp llm.ModelResponse
	_, resp.Text = splitReasoning(modelhttp.WholeText(a.text.String(), false))
	if !a.request.NoCalls {
		for _, p := range a.calls {
			resp.Calls = append(resp.Calls, llm.ToolCall{ID: p.id, Name: a.toolName(p.name), Args: p.args.SoFar()})
		}
	}
	return resp
}

func (a *streamAssembler) addChoice(c *choice) {
	a.reason = cmp.Or(c.Finish, a.reason)
	p := c.Delta
	if p.isEmpty() && c.Message != nil {
		if p = c.Message; a.pieces > 0 {
			return // it repeats the pieces
		}
		a.plain = true
	}
	if p == nil && c.Text != "" {
		p = &piece{Content: c.Text}
	}
	if p.isEmpty() {
		return
	}
	a.pieces++
	limit := llm.KeptBytes(a.request.MaxOutput)
	a.reasoning.WriteString(llm.CutText(p.reasoning(), min(modelhttp.MostReasoning, limit)-a.reasoning.Len()))
	before := a.output
	for _, words := range []string{string(p.Content), string(p.Refusal)} {
		a.text.WriteString(llm.CutText(words, limit-a.output))
		a.output += len(words)
	}
	calls := p.calls()
	for i := range calls {
		if a.addCall(&calls[i]); a.output > limit || len(a.calls) > mostCalls {
			break
		}
	}
	a.watch.Grow(a.output - before + len(p.reasoning()))
	if a.output > limit {
		a.reason, a.done = modelhttp.LengthReached, true // the endpoint does not keep to the limit
	}
}

// addCall adds a part of a call. Of one that makes the answer too long nothing is kept:
// such an answer has no calls.
func (a *streamAssembler) addCall(c *callPart) {
	name, args := c.name(), c.args()
	a.output += len(name) + len(args)
	if len(c.ID) > mostID {
		c.ID = "" // a new one is made
	}
	if a.output > llm.KeptBytes(a.request.MaxOutput) {
		return
	}
	p := a.partFor(c)
	if p == nil {
		p = &partialCall{index: c.Index, id: string(c.ID), args: new(modelhttp.CallArguments)}
		a.calls = append(a.calls, p)
	}
	if p.id == "" {
		p.id = string(c.ID)
	}
	switch {
	case strings.HasPrefix(name, p.name): // some endpoints repeat it in every piece
		p.name = name
	case name != "":
		p.name += name
	}
	p.args.Add(args)
}

// arguments returns the whole arguments.
func (p *partialCall) arguments() string { return cmp.Or(p.args.Whole(), "{}") }

// partFor returns the call that c continues, or nil when it begins one.
func (a *streamAssembler) partFor(c *callPart) *partialCall {
	if len(a.calls) == 0 {
		return nil
	}
	last := a.calls[len(a.calls)-1]
	if c.ID == "" && c.name() == "" {
		return a.continued(c, last)
	}
	for _, p := range slices.Backward(a.calls) {
		sameIndex := !c.Index.Known || !p.index.Known || c.Index.N == p.index.N
		switch {
		case c.ID != "" && string(c.ID) == p.id:
			if sameIndex || c.name() == "" {
				return p
			}
		case c.Index.Known && p.index.Known && sameIndex, !c.Index.Known && p == last:
			if p.continuedBy(c) {
				return p
			}
			return nil
		}
	}
	return nil
}

// continued returns the call that a piece without id and name continues: that with its
// index, or the last one. Some endpoints count the pieces otherwise than the calls, so
// a complete call is not continued while the last one is open.
func (a *streamAssembler) continued(c *callPart, last *partialCall) *partialCall {
	for _, p := range slices.Backward(a.calls) {
		if !c.Index.Known || !p.index.Known || p.index.N != c.Index.N {
			continue
		}
		if p != last && modelhttp.IsObject(p.args.Text()) && !modelhttp.IsObject(last.args.Text()) {
			return last
		}
		return p
	}
	return last
}

// continuedBy reports whether c, which has p's position but not its id, continues p.
// Some endpoints give every call the same index or none. A piece that begins a call
// has a name: it is a new call if it has another id, or if p is complete.
func (p *partialCall) continuedBy(c *callPart) bool {
	if c.name() == "" || p.name == "" {
		return true
	}
	if c.ID != "" && p.id != "" {
		return false
	}
	if c.Index.Known && c.name() == p.name && c.args() == p.args.Text() {
		return true // the whole call repeated
	}
	return p.args.IsEmpty() || !modelhttp.IsObject(p.args.Text())
}

// finish returns the whole answer. sent is the size of the request in bytes, and words
// is what the endpoint sent in no known form.
func (a *streamAssembler) finish(sent int, words []byte) (llm.ModelResponse, error) {
	a.mergeNameless()
	words = append(words, a.words...)
	switch {
	case a.reason.Failed():
		return llm.ModelResponse{}, modelhttp.ErrorInAnswer(modelhttp.ErrorReason{})
	case a.lost != "":
		return llm.ModelResponse{}, fmt.Errorf("the answer cannot be read: %s", a.lost)
	case a.reason != "", a.plain, a.done && a.pieces > 0, a.counted && len(a.calls) == 0, a.ended():
	case a.refusal != nil:
		return llm.ModelResponse{}, a.refusal
	default:
		return llm.ModelResponse{}, modelhttp.CutAnswer(words)
	}
	if a.pieces == 0 && a.refusal != nil {
		return llm.ModelResponse{}, a.refusal
	}
	resp := llm.ModelResponse{Finish: a.reason.Reason(len(a.calls) > 0 && !a.request.NoCalls), Usage: a.tokenUsage(sent)}
	resp.Reasoning, resp.Text = splitReasoning(modelhttp.WholeText(a.text.String(), true))
	resp.Reasoning = cmp.Or(strings.TrimSpace(modelhttp.WholeText(a.reasoning.String(), true)), resp.Reasoning)
	if resp.Finish == llm.Called {
		resp.Calls = a.wholeCalls()
	}
	return resp, nil
}

// ended reports whether an answer with calls that was not ended by a reason is whole: each
// of its calls is.
func (a *streamAssembler) ended() bool {
	if len(a.calls) == 0 {
		return false
	}
	for _, p := range a.calls {
		if p.name == "" || !modelhttp.IsObject(p.args.Whole()) {
			return false
		}
	}
	return true
}

// mergeNameless gives the arguments of a call without a name to the call before that
// has none.
func (a *streamAssembler) mergeNameless() {
	for i := 1; i < len(a.calls); i++ {
		p, before := a.calls[i], a.calls[i-1]
		if p.name == "" && before.args.IsEmpty() {
			before.args = p.args
			a.calls = slices.Delete(a.calls, i, i+1)
			i--
		}
	}
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
		if id == "" || a.request.HasCallID(id) || slices.ContainsFunc(calls, func(c llm.ToolCall) bool { return c.ID == id }) {
			id = a.mint()
		}
		calls = append(calls, llm.ToolCall{ID: id, Name: a.toolName(validToolName(p.name)), Args: p.arguments()})
	}
	return calls
}

// toolName returns the name of a tool as the request has it.
func (a *streamAssembler) toolName(name string) string {
	if a.plainNames {
		return toolNamed(a.request.Tools, name)
	}
	return name
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

// Many servers return the reasoning of a model between these tags.
const (
	thinking = "<think>"
	thought  = "</think>"
)

// splitReasoning returns the reasoning in front of an answer, and the answer without it,
// so that it is neither sent nor stored as context. Some chat templates consume the
// opening tag, so a closing tag alone on its line counts too.
func splitReasoning(text string) (reasoning, answer string) {
	before, after, ended := strings.Cut(text, thought)
	begun := strings.HasPrefix(strings.TrimSpace(before), thinking)
	switch {
	case begun && !ended: // it ended within the reasoning
		return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(before), thinking)), ""
	case begun, ended && !strings.Contains(before, thinking) && strings.HasSuffix(before, "\n") && strings.HasPrefix(after, "\n"):
		return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(before), thinking)), strings.TrimSpace(after)
	}
	return "", text
}

package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	watch   *callTimeouts
	sees    bool // its images were sent
	// plainNames is true when the tools were sent by their plain names.
	plainNames bool
	mint       func() string
	text       strings.Builder
	reasoning  strings.Builder
	calls      []*partialCall
	output     int // bytes of text, names and arguments
	reason     string
	usage      *usage
	plain      bool // a whole answer came, not pieces
	done       bool // the endpoint said that the stream ends
	pieces     int  // that held something of the answer
	words      []byte
	lost       string    // the first event that could not be decoded
	refusal    *apiError // what the endpoint said in place of choices
}

// A partialCall is a tool call that is still arriving.
type partialCall struct {
	index   position
	id      string
	name    string
	args    *strings.Builder
	last    string // piece of args
	growing bool   // last begins with the piece before
}

// readAll adds all events of an answer. What comes after a reason to finish is not
// waited for long: some endpoints leave the body open.
func (a *streamAssembler) readAll(events *eventReader) error {
	for !a.done {
		e, err := events.next()
		if err == nil {
			err = a.add(e)
		}
		switch {
		case err == nil && a.reason != "":
			a.watch.ending()
		case err == nil:
		case errors.Is(err, io.EOF), a.reason != "" && !errors.Is(err, errTooLarge):
			return nil
		default:
			return err
		}
	}
	return nil
}

// add adds the next event of the answer. It returns an error when the endpoint says
// that it failed.
func (a *streamAssembler) add(e answerEvent) error {
	data := bytes.TrimSpace(e.data)
	if isDone(data) {
		a.done = true
		return nil
	}
	if e.name == "error" {
		return inAnswer(readReason(data))
	}
	switch {
	case len(data) == 0, data[0] != '{' && data[0] != '[':
		if len(a.words) < keptWords { // words, or a sign of life
			a.words = append(append(a.words, data[:min(len(data), keptWords)]...), ' ')
		}
		return nil
	case data[0] == '[':
		return a.addList(data)
	}
	var c chunk
	if err := decodeLenient(data, &c); err != nil {
		if a.reason != "" {
			return nil // nothing of the answer
		}
		a.lost = cmp.Or(a.lost, plainWords(data), "an event that is no text")
		return nil
	}
	return a.addChunk(&c, data)
}

// addList adds the chunks of a list, in which Google wraps errors.
func (a *streamAssembler) addList(data []byte) error {
	var list []json.RawMessage
	if decodeLenient(data, &list) != nil {
		a.lost = cmp.Or(a.lost, plainWords(data))
		return nil
	}
	for _, one := range list {
		if !bytes.HasPrefix(one, []byte("{")) {
			continue
		}
		if err := a.add(answerEvent{data: one}); err != nil {
			return err
		}
	}
	return nil
}

func (a *streamAssembler) addChunk(c *chunk, data []byte) error {
	if err := a.failure(c.Error); err != nil {
		return err
	}
	if c.Usage != nil {
		a.usage = c.Usage
	}
	if len(c.Choices) == 0 && a.refusal == nil {
		if r := readReason(data); r.isFailure() {
			a.refusal = inAnswer(r) // of an answer that has nothing else
		}
	}
	for i := range c.Choices {
		o := &c.Choices[i]
		if o.Index.n != 0 {
			continue // one choice was requested
		}
		if err := a.failure(o.Error); err != nil {
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
	resp := llm.ModelResponse{Text: withoutReasoning(wholeText(a.text.String(), false))}
	if !a.request.NoCalls {
		for _, p := range a.calls {
			resp.Calls = append(resp.Calls, llm.ToolCall{ID: p.id, Name: a.toolName(p.name), Args: wholeText(p.args.String(), false)})
		}
	}
	return resp
}

// failure returns the error in the value of an error field, or nil when it reports none.
func (a *streamAssembler) failure(raw json.RawMessage) error {
	if !isSet(raw) {
		return nil
	}
	r := readError(raw)
	if r.isFailure() || r.Message == "" && r.Code != "" && r.Code != "0" && r.Code != "200" {
		return inAnswer(r)
	}
	return nil
}

// inAnswer returns the error of a reason that came within an answer.
func inAnswer(r errorReason) *apiError {
	if r.Message == "" {
		r.Message = errBroken.Error()
	}
	return &apiError{status: httpStatus(r.number), retryAfter: waitIn(r.Message), reason: r}
}

func (a *streamAssembler) addChoice(c *choice) {
	if reason := strings.ToLower(string(c.Finish)); reason != "" && reason != "null" {
		a.reason = reason
	}
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
	if a.reasoning.Len() < mostReasoning {
		a.reasoning.WriteString(p.reasoning())
	}
	a.text.WriteString(string(p.Content))
	a.text.WriteString(string(p.Refusal))
	before := a.output
	a.output += len(p.Content) + len(p.Refusal)
	calls := p.calls()
	for i := range calls {
		a.addCall(&calls[i])
	}
	a.watch.grow(a.output - before + len(p.reasoning()))
	if a.request.MaxOutput > 0 && a.output > max(leastKept, a.request.MaxOutput*tokenBytes) {
		a.reason, a.done = lengthReasons[0], true // the endpoint does not keep to the limit
	}
}

// Limits of what is kept of one answer: bytes for each token of its output limit, and
// the bytes that are kept whatever the limit.
const (
	tokenBytes = 16
	leastKept  = 16 << 10
)

func (a *streamAssembler) addCall(c *callPart) {
	name, args := c.name(), c.args()
	a.output += len(name) + len(args)
	p := a.partFor(c)
	if p == nil {
		p = &partialCall{index: c.Index, id: string(c.ID), args: new(strings.Builder)}
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
	p.addArgs(args)
}

// addArgs adds a piece of the arguments. Some endpoints send all that came so far in
// each piece, or repeat the whole at the end.
func (p *partialCall) addArgs(args string) {
	if args == "" || args == p.args.String() && isObject(args) {
		return
	}
	p.growing = strings.HasPrefix(args, p.last)
	p.last = args
	p.args.WriteString(args)
}

// arguments returns the whole arguments.
func (p *partialCall) arguments() string {
	all := wholeText(p.args.String(), true)
	if p.growing && len(p.last) < p.args.Len() && !isObject(all) {
		if last := wholeText(p.last, true); isObject(last) {
			return last
		}
	}
	return cmp.Or(all, "{}")
}

// isObject reports whether text is one JSON object.
func isObject(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
}

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
		sameIndex := !c.Index.known || !p.index.known || c.Index.n == p.index.n
		switch {
		case c.ID != "" && string(c.ID) == p.id:
			if sameIndex || c.name() == "" {
				return p
			}
		case c.Index.known && p.index.known && sameIndex, !c.Index.known && p == last:
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
		if !c.Index.known || !p.index.known || p.index.n != c.Index.n {
			continue
		}
		if p != last && isObject(p.args.String()) && !isObject(last.args.String()) {
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
	if c.Index.known && c.name() == p.name && c.args() == p.args.String() {
		return true // the whole call repeated
	}
	return p.args.Len() == 0 || !isObject(p.args.String())
}

// The reasons to finish, as endpoints name them in lower case.
var (
	failedReasons  = []string{"error", "network_error", "failed", "abort", "aborted", "cancelled", "insufficient_system_resource"}
	lengthReasons  = []string{"length", "max_tokens", "max_output_tokens", "max_length", "token_limit", "model_length", "model_context_window_exceeded"}
	blockedReasons = []string{"content_filter", "content-filter", "safety", "recitation", "sensitive", "refusal", "prohibited_content", "blocklist"}
)

// finish returns the whole answer. sent is the size of the request in bytes, and words
// is what the endpoint sent in no known form.
func (a *streamAssembler) finish(sent int, words []byte) (llm.ModelResponse, error) {
	a.mergeNameless()
	words = append(words, a.words...)
	switch {
	case slices.Contains(failedReasons, a.reason):
		return llm.ModelResponse{}, inAnswer(errorReason{})
	case a.lost != "":
		return llm.ModelResponse{}, fmt.Errorf("the answer cannot be read: %s", a.lost)
	case a.reason != "", a.plain, a.done && a.pieces > 0, a.ended():
	case a.refusal != nil:
		return llm.ModelResponse{}, a.refusal
	default:
		return llm.ModelResponse{}, cutWith(words)
	}
	if a.pieces == 0 && a.refusal != nil {
		return llm.ModelResponse{}, a.refusal
	}
	resp := llm.ModelResponse{Text: withoutReasoning(wholeText(a.text.String(), true)), Finish: a.finishReason(), Usage: a.tokenUsage(sent)}
	if resp.Finish == llm.Called {
		resp.Calls = a.wholeCalls()
	}
	return resp, nil
}

// cutWith returns the error of an answer that came to nothing, with the words in it.
func cutWith(words []byte) error {
	text := plainWords(words)
	if text == "" {
		return errCut
	}
	r := &apiError{reason: errorReason{Message: text}}
	if k := r.kindByWords(llm.Garbled); k != llm.Garbled {
		return r
	}
	return fmt.Errorf("the answer is no completion: %s", text)
}

// ended reports whether an answer that was not ended by a reason is whole: each of its
// calls is, or the usage came after it.
func (a *streamAssembler) ended() bool {
	if len(a.calls) == 0 {
		return false
	}
	for _, p := range a.calls {
		if p.name == "" || !isObject(p.arguments()) {
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
		if p.name == "" && before.args.Len() == 0 {
			before.args, before.last, before.growing = p.args, p.last, p.growing
			a.calls = slices.Delete(a.calls, i, i+1)
			i--
		}
	}
}

// finishReason returns the finish reason, corrected by the calls: endpoints send stop with
// calls and tool_calls without any.
func (a *streamAssembler) finishReason() llm.FinishReason {
	switch {
	case slices.Contains(lengthReasons, a.reason):
		return llm.Length
	case slices.Contains(blockedReasons, a.reason):
		return llm.Blocked
	case len(a.calls) > 0 && !a.request.NoCalls:
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

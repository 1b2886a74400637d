package anthropic

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

// mostBlocks bounds the blocks of one answer.
const mostBlocks = 512

var errManyBlocks = errors.New("the answer has more parts than any model means")

// An answerReader assembles an answer from its events
// (platform.claude.com/docs/en/build-with-claude/streaming).
type answerReader struct {
	request *llm.ModelRequest
	watch   *modelhttp.CallTimeouts
	mint    func() string

	blocks  []*answerBlock
	usage   wireUsage
	reason  modelhttp.FinishField
	done    bool // the whole answer came
	output  int  // bytes of text, names and arguments
	lost    string
	words   []byte // in no known form
	refusal error  // what the endpoint said in place of an answer
}

// An answerBlock is one part of an answer.
type answerBlock struct {
	index     modelhttp.IndexField
	kind      blockKind
	text      strings.Builder // of text and thinking
	signature string          // of thinking
	data      string          // of redacted thinking
	id, name  string          // of a call
	args      modelhttp.CallArguments
	whole     string // arguments that came at once
}

// A blockKind is what a block holds.
type blockKind string

// The kinds of blocks that are read.
const (
	textBlock     blockKind = "text"
	thinkingBlock blockKind = "thinking"
	redactedBlock blockKind = "redacted_thinking"
	callBlock     blockKind = "tool_use"
)

// wireUsage is the usage that events tell of; later ones replace what they hold.
type wireUsage struct {
	Input   modelhttp.NumberField `json:"input_tokens"`
	Written modelhttp.NumberField `json:"cache_creation_input_tokens"`
	Cached  modelhttp.NumberField `json:"cache_read_input_tokens"`
	Output  modelhttp.NumberField `json:"output_tokens"`
}

// wireEvent has the fields that are read of events, and of an answer that is not streamed.
type wireEvent struct {
	Type    modelhttp.TextField  `json:"type"`
	Index   modelhttp.IndexField `json:"index"`
	Message struct {
		Usage   wireUsage                      `json:"usage"`
		Content modelhttp.ListField[wireBlock] `json:"content"`
	} `json:"message"`
	Block   wireBlock                      `json:"content_block"`
	Delta   wireDelta                      `json:"delta"`
	Usage   wireUsage                      `json:"usage"`
	Stop    modelhttp.FinishField          `json:"stop_reason"`
	Content modelhttp.ListField[wireBlock] `json:"content"`
	Error   json.RawMessage                `json:"error"`
}

// wireDelta is a piece of a block, or of the message.
type wireDelta struct {
	Text      modelhttp.ContentField  `json:"text"`
	JSON      modelhttp.ArgumentField `json:"partial_json"`
	Thinking  modelhttp.ThoughtField  `json:"thinking"`
	Signature modelhttp.TextField     `json:"signature"`
	Stop      modelhttp.FinishField   `json:"stop_reason"`
}

// wireBlock is a block as it begins, or whole.
type wireBlock struct {
	Type      modelhttp.TextField     `json:"type"`
	Text      modelhttp.ContentField  `json:"text"`
	Thinking  modelhttp.ThoughtField  `json:"thinking"`
	Signature modelhttp.TextField     `json:"signature"`
	Data      modelhttp.TextField     `json:"data"`
	ID        modelhttp.TextField     `json:"id"`
	Name      modelhttp.TextField     `json:"name"`
	Input     modelhttp.ArgumentField `json:"input"`
}

// UnmarshalJSON reads a block, or a text in its place.
func (w *wireBlock) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*w = wireBlock{Text: modelhttp.ContentField(modelhttp.DecodeText(b))}
		return nil
	}
	type fields wireBlock
	return modelhttp.WithoutTypeErrors(json.Unmarshal(b, (*fields)(w)))
}

// kind returns what the block holds, by its fields where it does not say.
func (w *wireBlock) kind() blockKind {
	switch {
	case w.Type != "":
		return blockKind(w.Type)
	case w.Name != "":
		return callBlock
	case w.Thinking != "":
		return thinkingBlock
	}
	return textBlock
}

// readAll reads the events of an answer until it is complete. What fails after the reason
// to finish is no part of it.
func (a *answerReader) readAll(events *modelhttp.EventReader) error {
	for !a.done {
		e, err := events.Next()
		if err == nil {
			err = a.add(e.Name, bytes.TrimSpace(e.Data))
		}
		switch {
		case errors.Is(err, io.EOF), err != nil && a.reason != "" && !errors.Is(err, modelhttp.ErrTooLarge):
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

// add adds one event of that name, which its data repeat as a rule. Unknown ones are left
// out, as the API asks its clients to do.
func (a *answerReader) add(name string, data []byte) error {
	switch {
	case len(data) == 0:
		return nil
	case modelhttp.IsDone(data):
		a.done = len(a.blocks) > 0
		return nil
	case name == "error":
		return modelhttp.ErrorInAnswer(modelhttp.ReadReason(data))
	case data[0] == '[':
		return modelhttp.EachListed(data, func(one []byte) error { return a.add(name, one) }, a.lose)
	case data[0] != '{': // words, or a sign of life
		a.words = append(append(a.words, data[:min(len(data), modelhttp.KeptWords)]...), ' ')
		return nil
	}
	var e wireEvent
	if modelhttp.DecodeLenient(data, &e) != nil {
		a.lose(data)
		return nil
	}
	if e.Type == "error" {
		return modelhttp.ErrorInAnswer(modelhttp.ReadReason(data))
	}
	if modelhttp.FailureIn(e.Error) != nil {
		return modelhttp.ErrorInAnswer(modelhttp.ReadReason(data))
	}
	a.addEvent(cmp.Or(string(e.Type), name), &e, data)
	if len(a.blocks) > mostBlocks {
		return errManyBlocks
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

// addEvent adds an event of a kind.
func (a *answerReader) addEvent(kind string, e *wireEvent, data []byte) {
	a.usage.take(e.Message.Usage)
	a.usage.take(e.Usage)
	switch kind {
	case "message_start":
		a.addWhole(e.Message.Content)
	case "content_block_start":
		a.begin(e.Index, e.Block)
	case "content_block_delta":
		a.grow(e)
	case "message_delta":
		a.end(cmp.Or(e.Delta.Stop, e.Stop))
	case "message_stop":
		a.done = true
	default:
		if (kind == "message" || kind == "") && (len(e.Content) > 0 || e.Stop != "") { // it is not streamed
			a.addWhole(e.Content)
			a.end(e.Stop)
			a.done = true
		} else if r := modelhttp.ReadReason(data); r.IsFailure() && a.refusal == nil {
			a.refusal = modelhttp.ErrorInAnswer(r)
		}
	}
}

// end takes in the reason to finish.
func (a *answerReader) end(reason modelhttp.FinishField) {
	if reason != "" {
		a.reason = reason
		a.watch.Ending()
	}
}

// take replaces the figures that are given.
func (u *wireUsage) take(v wireUsage) {
	for _, f := range []struct{ old, now *modelhttp.NumberField }{{&u.Input, &v.Input}, {&u.Written, &v.Written}, {&u.Cached, &v.Cached}, {&u.Output, &v.Output}} {
		if *f.now > 0 {
			*f.old = *f.now
		}
	}
}

// addWhole adds blocks that came at once.
func (a *answerReader) addWhole(blocks []wireBlock) {
	for i := range blocks {
		a.begin(modelhttp.IndexField{N: i, Known: true}, blocks[i])
	}
}

// begin adds a block.
func (a *answerReader) begin(index modelhttp.IndexField, w wireBlock) {
	b := &answerBlock{index: index, kind: w.kind(), signature: string(w.Signature), data: string(w.Data), id: string(w.ID), name: string(w.Name)}
	if text := strings.TrimSpace(string(w.Input)); text != "{}" {
		b.whole = text
	}
	a.blocks = append(a.blocks, b)
	a.addText(b, string(w.Text)+string(w.Thinking))
	if n := len(w.Name) + len(b.whole); b.kind == callBlock && n > 0 {
		a.output += n
		a.watch.Grow(n)
	}
}

// grow adds a piece to the block that it continues.
func (a *answerReader) grow(e *wireEvent) {
	d := &e.Delta
	switch {
	case d.JSON != "":
		b := a.blockOf(e.Index, callBlock)
		if b == nil {
			return
		}
		a.output += len(d.JSON)
		if a.output <= llm.KeptBytes(a.request.MaxOutput) {
			b.args.Add(string(d.JSON))
		}
		a.watch.Grow(len(d.JSON))
	case d.Thinking != "", d.Signature != "":
		b := a.blockOf(e.Index, thinkingBlock)
		a.addText(b, string(d.Thinking))
		b.signature += string(d.Signature)
	case d.Text != "":
		a.addText(a.blockOf(e.Index, textBlock), string(d.Text))
	}
}

// blockOf returns the block of a kind that a piece with that index continues: the newest
// with the index, or else the last block. Where that is of another kind, the piece begins a
// block, for some endpoints leave out the event that does; arguments continue the newest
// call, nil without one.
func (a *answerReader) blockOf(index modelhttp.IndexField, kind blockKind) *answerBlock {
	for i := len(a.blocks) - 1; i >= 0 && index.Known; i-- {
		if b := a.blocks[i]; b.index == index && b.kind == kind {
			return b
		}
	}
	for i, b := range slices.Backward(a.blocks) {
		if b.kind == kind && (i == len(a.blocks)-1 || kind == callBlock) {
			return b
		}
	}
	if kind == callBlock {
		return nil
	}
	b := &answerBlock{index: index, kind: kind}
	a.blocks = append(a.blocks, b)
	return b
}

// addText adds words or thinking, of which only so much is kept.
func (a *answerReader) addText(b *answerBlock, text string) {
	a.watch.Grow(len(text))
	if b.kind == thinkingBlock {
		b.text.WriteString(llm.CutText(text, modelhttp.MostReasoning-b.text.Len()))
		return
	}
	b.text.WriteString(llm.CutText(text, llm.KeptBytes(a.request.MaxOutput)-a.output))
	a.output += len(text)
}

// soFar returns the answer as far as it has arrived, or all of it once it has ended.
func (a *answerReader) soFar(ended bool) llm.ModelResponse {
	var resp llm.ModelResponse
	var text, thoughts strings.Builder
	for _, b := range a.blocks {
		switch b.kind {
		case thinkingBlock:
			thoughts.WriteString(b.text.String() + "\n")
		case textBlock:
			text.WriteString(b.text.String())
		case callBlock:
			if !a.request.NoCalls {
				resp.Calls = append(resp.Calls, llm.ToolCall{ID: b.id, Name: b.name, Args: b.arguments(ended)})
			}
		case redactedBlock: // it is kept for the next request alone
		}
	}
	resp.Text = modelhttp.WholeText(text.String(), ended)
	resp.Reasoning = strings.TrimSpace(modelhttp.WholeText(thoughts.String(), ended))
	return resp
}

// arguments returns the arguments of a call as far as they have arrived, or all of them.
func (b *answerBlock) arguments(ended bool) string {
	switch {
	case b.args.IsEmpty():
		return b.whole
	case ended:
		return b.args.Whole()
	}
	return b.args.SoFar()
}

// finish returns the whole answer.
func (a *answerReader) finish() (llm.ModelResponse, error) {
	resp := a.soFar(true)
	switch {
	case a.reason.Failed():
		return llm.ModelResponse{}, modelhttp.ErrorInAnswer(modelhttp.ErrorReason{})
	case a.lost != "":
		return llm.ModelResponse{}, fmt.Errorf("the answer cannot be read: %s", a.lost)
	case len(a.blocks) == 0 && a.refusal != nil:
		return llm.ModelResponse{}, a.refusal
	case a.reason == "" && !a.done && !modelhttp.AreWhole(resp.Calls):
		return llm.ModelResponse{}, cmp.Or(a.refusal, modelhttp.CutAnswer(a.words))
	}
	resp.Finish = a.reason.Reason(len(resp.Calls) > 0)
	resp.Usage = a.tokenUsage()
	if resp.Finish != llm.Called {
		resp.Calls = nil
	}
	for i := range resp.Calls {
		c := &resp.Calls[i]
		if c.ID == "" || a.request.HasCallID(c.ID) || slices.ContainsFunc(resp.Calls[:i], func(o llm.ToolCall) bool { return o.ID == c.ID }) {
			c.ID = a.mint()
		}
		c.Name = toolName(a.request.Tools, c.Name)
		if strings.TrimSpace(c.Args) == "" {
			c.Args = "{}"
		}
	}
	return resp, nil
}

// toolName returns the name of the tool that the API's form of a name stands for.
func toolName(tools []llm.ToolSpec, name string) string {
	for i := range tools {
		if modelhttp.CallName(tools[i].Name) == name {
			return tools[i].Name
		}
	}
	return modelhttp.CallName(name)
}

// tokenUsage returns the reported usage, or an estimate.
func (a *answerReader) tokenUsage() llm.TokenUsage {
	u := a.usage
	if prompt := u.Input + u.Written + u.Cached; prompt > 0 {
		return llm.TokenUsage{Prompt: prompt.Whole(), Cached: u.Cached.Whole(), Written: u.Written.Whole(), Output: u.Output.Whole()}
	}
	return modelhttp.EstimateUsage(a.request, a.output)
}

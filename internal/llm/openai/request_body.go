package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// A requestBody is the JSON of a request and the values it was built from. The next request
// of the same conversation usually begins with the same bytes, so only the part from
// the first difference on is written again: reading all texts of a full context
// window costs more than the rest of a call.
type requestBody struct {
	bytes    []byte
	model    string
	tools    []llm.ToolSpec
	messages []llm.TranscriptMessage // those before the first with images, which are large and rarely reused
	ends     []int                   // of each message in bytes
	form     demandSet               // that the messages and tools meet
}

// write makes b the body of r.
//
// The order of the fields puts what changes least first, so that two requests with
// the same tools and first messages are equal up to the first different message.
// Schemas are copied unchanged.
func (b *requestBody) write(r llm.ModelRequest, p parameters) {
	form := p.demands & inMessages
	known := b.commonMessages(&r, form)
	if known == 0 {
		b.bytes = append(slices.Grow(b.bytes[:0], roughSize(r)), `{"model":`...)
		b.bytes = appendText(b.bytes, r.Model)
		b.bytes = appendTools(b.bytes, r.Tools, form)
		b.bytes = append(b.bytes, `,"messages":[`...)
		b.model, b.tools, b.form = r.Model, r.Tools, form
	} else {
		b.bytes = b.bytes[:b.ends[known-1]]
	}
	b.ends = b.ends[:known]
	b.remember(known, r.Messages)
	if form&namedResults != 0 {
		p.names = modelhttp.CallNames(r.Messages[:known])
	}
	for i := known; i < len(r.Messages); i++ {
		for _, call := range r.Messages[i].Calls {
			if p.names != nil {
				p.names[call.ID] = call.Name
			}
		}
		if i > 0 {
			b.bytes = append(b.bytes, ',')
		}
		b.bytes = appendMessage(b.bytes, &r.Messages[i], p)
		b.ends = append(b.ends, len(b.bytes))
	}
	b.bytes = appendEnd(b.bytes, p)
}

// remember stores the values behind the body, of which the first known messages are
// unchanged. It copies messages and calls, whose memory belongs to the caller.
func (b *requestBody) remember(known int, messages []llm.TranscriptMessage) {
	before := b.messages
	b.messages = slices.Grow(b.messages[:known], len(messages)-known)
	for _, m := range messages[known:] {
		if withImages(m) {
			break
		}
		m.Calls = slices.Clone(m.Calls)
		b.messages = append(b.messages, m)
	}
	if n := len(b.messages); n < len(before) {
		clear(before[n:])
	}
}

// memorySize returns the memory that the body holds, apart from the texts.
func (b *requestBody) memorySize() int {
	return cap(b.bytes) + cap(b.messages)*messageRoom + cap(b.ends)*8
}

// messageRoom is the memory of a message with one call.
const messageRoom = 96 + 48

// commonMessages returns how many messages at the beginning of r are in the body already.
func (b *requestBody) commonMessages(r *llm.ModelRequest, form demandSet) int {
	if b.model != r.Model || b.form != form || !slices.EqualFunc(b.tools, r.Tools, sameTool) {
		return 0
	}
	n := 0
	for n < min(len(b.messages), len(r.Messages)) && sameMessage(&b.messages[n], &r.Messages[n]) {
		n++
	}
	return n
}

func sameTool(a, b llm.ToolSpec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

// sameMessage reports whether two messages without images are equal. Messages of one
// conversation mostly share their strings, so the comparison rarely reads them.
func sameMessage(a, b *llm.TranscriptMessage) bool {
	return a.Role == b.Role && a.Text == b.Text && a.CallID == b.CallID && slices.Equal(a.Calls, b.Calls) && !withImages(*b)
}

// withImages reports whether a message has images.
func withImages(m llm.TranscriptMessage) bool { return len(m.Pictures) > 0 }

// appendEnd appends the fields after the messages.
func appendEnd(b []byte, p parameters) []byte {
	b = append(b, `],"stream":`...)
	b = strconv.AppendBool(b, p.stream)
	if p.usage {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	if p.forbids {
		b = append(b, `,"tool_choice":"none"`...)
	}
	if p.maxOutput != "" {
		b = append(b, `,"`+p.maxOutput+`":`...)
		b = strconv.AppendInt(b, int64(p.output), 10)
	}
	if p.effort != "" {
		b = append(b, `,"reasoning_effort":`...)
		b = appendText(b, p.effort)
	}
	if p.cacheKey != "" {
		b = append(b, `,"prompt_cache_key":`...)
		b = appendText(b, p.cacheKey)
	}
	return append(b, '}')
}

// roughSize estimates the JSON size of a request.
func roughSize(r llm.ModelRequest) int {
	n := 256
	for i := range r.Tools {
		n += 96 + len(r.Tools[i].Description) + len(r.Tools[i].Schema)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		n += 64 + len(m.Text)
		for j := range m.Pictures {
			n += 96 + pictureSize(&m.Pictures[j])
		}
		for j := range m.Calls {
			n += 96 + len(m.Calls[j].Args)
		}
	}
	return n + n/16
}

func appendTools(b []byte, tools []llm.ToolSpec, form demandSet) []byte {
	if len(tools) == 0 {
		return b
	}
	b = append(b, `,"tools":[`...)
	for i := range tools {
		t := tools[i]
		if i > 0 {
			b = append(b, ',')
		}
		if form&plainNames != 0 {
			t.Name = plainName(t.Name)
		}
		parameters := t.Schema
		if form&plainSchemas != 0 {
			t.Description, parameters = textformat.ClipBytes(t.Description, modelhttp.MostDescription), modelhttp.PlainSchema(t.Schema)
		} else if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = appendText(b, t.Name)
		b = append(b, `,"description":`...)
		b = appendText(b, t.Description)
		if len(parameters) > 0 {
			b = append(b, `,"parameters":`...)
			b = append(b, parameters...)
		}
		b = append(b, `}}`...)
	}
	return append(b, ']')
}

// unsigned is the placeholder that Google accepts for a missing signature of a tool
// call (ai.google.dev/gemini-api/docs/thought-signatures).
const unsigned = `,"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`

func appendMessage(b []byte, m *llm.TranscriptMessage, p parameters) []byte {
	b = append(b, `{"role":`...)
	b = appendText(b, string(m.Role))
	if m.Role == llm.Result {
		b = append(b, `,"tool_call_id":`...)
		b = appendText(b, p.callID(m.CallID))
		if p.demands&namedResults != 0 {
			b = append(b, `,"name":`...)
			b = appendText(b, p.toolName(p.names[m.CallID]))
		}
	}
	b = append(b, `,"content":`...)
	switch {
	case m.Text == "" && p.demands&filledContent != 0:
		b = appendText(b, filling(m))
	case m.Text == "" && len(m.Calls) > 0:
		b = append(b, `null`...)
	case p.pictures && len(m.Pictures) > 0:
		b = appendParts(b, m)
	default:
		b = appendText(b, m.Text)
	}
	if m.Role == llm.Assistant && (p.demands&reasoningEverywhere != 0 || p.demands&handBackReasoning != 0 && len(m.Calls) > 0) {
		b = append(b, `,"reasoning_content":`...)
		b = appendText(b, p.reasoning(m.Calls))
	}
	for i := range m.Calls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendCall(b, &m.Calls[i], p)
	}
	if len(m.Calls) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func appendCall(b []byte, c *llm.ToolCall, p parameters) []byte {
	b = append(b, `{"id":`...)
	b = appendText(b, p.callID(c.ID))
	b = append(b, `,"type":"function","function":{"name":`...)
	b = appendText(b, p.toolName(c.Name))
	b = append(b, `,"arguments":`...)
	b = appendText(b, c.Args)
	b = append(b, '}')
	if p.demands&signedCalls != 0 {
		b = append(b, unsigned...)
	}
	return append(b, '}')
}

// filling returns the text of a message that has none.
func filling(m *llm.TranscriptMessage) string {
	switch {
	case m.Role == llm.Result:
		return emptyResult
	case len(m.Calls) > 0:
		return goingOn
	case m.Role == llm.Assistant:
		return emptySaid
	}
	return emptyUser
}

// appendParts appends the text of a message and then its images.
func appendParts(b []byte, m *llm.TranscriptMessage) []byte {
	b = append(b, `[{"type":"text","text":`...)
	b = appendText(b, m.Text)
	b = append(b, '}')
	for i := range m.Pictures {
		p := &m.Pictures[i]
		b = append(b, `,{"type":"image_url","image_url":{"url":"data:`...)
		b = append(b, p.Media...)
		b = append(b, `;base64,`...)
		b = base64.StdEncoding.AppendEncode(b, p.Data)
		b = append(b, `"}}`...)
	}
	return append(b, ']')
}

// pictureSize returns the size of an image in a request.
func pictureSize(p *llm.ModelImage) int { return base64.StdEncoding.EncodedLen(len(p.Data)) }

// appendText appends s as a JSON string with the required escapes only. Invalid
// UTF-8 becomes U+FFFD.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0 // start of the part that is not appended yet
	for n := plainPrefix(s); n < len(s); n += plainPrefix(s[n:]) {
		if s[n] >= utf8.RuneSelf {
			if r, size := utf8.DecodeRuneInString(s[n:]); r != utf8.RuneError || size > 1 {
				n += size
				continue
			}
		}
		b = modelhttp.AppendEscape(append(b, s[from:n]...), s[n])
		n++
		from = n
	}
	return append(append(b, s[from:]...), '"')
}

const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
)

// plainPrefix returns how many bytes at the beginning of s are ASCII and need no
// escape. It tests eight bytes at a time: a byte below a limit, or a zero byte,
// borrows from its high bit, and the lowest byte with that bit set is exact.
func plainPrefix(s string) int {
	n := 0
	for ; n+8 <= len(s); n += 8 {
		w := uint64(s[n]) | uint64(s[n+1])<<8 | uint64(s[n+2])<<16 | uint64(s[n+3])<<24 |
			uint64(s[n+4])<<32 | uint64(s[n+5])<<40 | uint64(s[n+6])<<48 | uint64(s[n+7])<<56
		quote, slash := w^('"'*eachByte), w^('\\'*eachByte)
		if found := (w | (w - ' '*eachByte) | (quote-eachByte)&^quote | (slash-eachByte)&^slash) & highBits; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(s) && !escaped[s[n]] {
		n++
	}
	return n
}

// escaped marks the bytes that need an escape in a JSON string, and the non-ASCII
// ones.
var escaped = func() (escaped [256]bool) {
	for c := range 256 {
		escaped[c] = c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf
	}
	return escaped
}()

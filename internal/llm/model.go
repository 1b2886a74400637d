// Package llm is the contract between Trestle and a language model.
//
// A [Model] answers single requests and keeps no conversation. The package imports
// no other package of the module but money. Implementations: openai (any compatible
// endpoint), offline (works without one), llmtest (scripted models for tests).
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// A ChatModel answers requests. Calls may be concurrent.
type ChatModel interface {
	// Generate sends one request and returns the whole answer. It never retries: a
	// failure is an [*Error] whose kind tells the caller what to do. It returns
	// within the deadlines of the model even if ctx has none. When ctx ends first the
	// error wraps context.Cause(ctx). It does not read r after it has returned: see
	// [Request] for what it may keep.
	Generate(ctx context.Context, r ModelRequest) (ModelResponse, error)
}

// MessageRole is the author of a message.
type MessageRole string

// The roles of the chat format.
const (
	System    MessageRole = "system"
	User      MessageRole = "user"
	Assistant MessageRole = "assistant"
	Result    MessageRole = "tool"
)

// A TranscriptMessage is one entry of the transcript.
type TranscriptMessage struct {
	Role   MessageRole
	Text   string
	Calls  []ToolCall // only on Assistant messages
	CallID string     // only on Result messages: the call it answers
	// Pictures follow Text, in order; only on User messages, and only for models with
	// vision.
	Pictures []ModelImage
}

// A ModelImage is an image in a message.
type ModelImage struct {
	Media  string // media type, such as "image/jpeg"
	Data   []byte // immutable
	Tokens int    // estimate, for endpoints that report no usage
}

// A ToolCall is one call that the model requests. Args is the text of the model,
// unchecked.
type ToolCall struct {
	ID   string
	Name string
	Args string
}

// A ToolSpec is offered to the model.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the arguments, canonical bytes
}

// ModelRequest holds all inputs of one call. Tools are immutable, and a model may keep
// them. The caller reuses the memory of the messages and their calls after Generate
// has returned: a model keeps copies.
type ModelRequest struct {
	Model     string // name of the model at the endpoint
	Messages  []TranscriptMessage
	Tools     []ToolSpec
	NoCalls   bool   // the tools are shown but may not be called (tool_choice none): the answer has no calls
	MaxOutput int    // tokens; 0 leaves it to the endpoint
	Tokens    int    // of messages and tools, as the caller counts them; 0 is unknown
	CacheKey  string // the same for requests that share a prefix; opaque
	// Hear, unless nil, is called while the answer arrives, each time with all that has
	// arrived: its text and its calls, of which the last may be incomplete and ids may
	// be missing. The model calls it in the goroutine that called Generate, never after
	// Generate has returned; Hear may keep the slice. The answer is provisional: after a
	// failed attempt the next one starts from the first word.
	Hear func(soFar ModelResponse)
	// Grew, unless nil, is called while the answer arrives with the number of bytes by
	// which it grew, its reasoning included: as Hear is, and for less.
	Grew func(bytes int)
}

// FinishReason tells why the model stopped.
type FinishReason string

// The reasons to finish.
const (
	Stopped FinishReason = "stop"
	Called  FinishReason = "tool_calls"
	Length  FinishReason = "length" // cut at MaxOutput; incomplete calls are dropped
	Blocked FinishReason = "content_filter"
)

// ModelResponse is one whole answer. It may be empty: no text and no calls.
type ModelResponse struct {
	Text   string
	Calls  []ToolCall // ids are unique among themselves and those of the request
	Finish FinishReason
	Usage  TokenUsage
	// Reasoning is what the endpoint tells of the model's own reasoning, for the record
	// alone; empty where it tells nothing.
	Reasoning string
	// Model is the name of the model that answered in place of the one that was asked;
	// empty when that did.
	Model string
}

// TokenUsage counts the tokens of a call.
type TokenUsage struct {
	Prompt    int
	Cached    int // of Prompt
	Written   int // of Prompt, to the endpoint's cache
	Output    int
	Estimated bool // not reported by the endpoint
}

// ErrorKind classifies a failed call by what the caller can do.
type ErrorKind int

// The kinds of failure.
const (
	// Unavailable: the endpoint cannot be reached or fails (dial, 5xx). Retry later.
	Unavailable ErrorKind = iota
	// Limited: too many requests; RetryAfter holds the requested wait, if any.
	Limited
	// Timeout: no answer, or an idle stream, within the limits. Retry.
	Timeout
	// Garbled: the answer is HTML, cut off or too large. Retry.
	Garbled
	// Denied: the credential is refused (401, 403). Pauses that credential only.
	Denied
	// NoModel: the endpoint has no such model.
	NoModel
	// Rejected: the endpoint refuses this transcript (400). Counts against the conversation.
	Rejected
	// TooLong: the transcript is longer than the model's window.
	TooLong
)

// String returns the kind's name in stored data and logs.
func (k ErrorKind) String() string {
	names := [...]string{"unavailable", "limited", "timeout", "garbled", "denied", "no_model", "rejected", "too_long"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind_%d", int(k))
	}
	return names[k]
}

// Outage reports whether the endpoint fails every request until an operator acts or
// time passes.
func (k ErrorKind) Outage() bool {
	return k == Unavailable || k == Limited || k == Denied || k == NoModel
}

// Retryable reports whether the same request may succeed later.
func (k ErrorKind) Retryable() bool { return k <= Garbled }

// An Error is a failed call.
type Error struct {
	Kind       ErrorKind
	Status     int           // HTTP status; 0 when there was none
	RetryAfter time.Duration // wait requested by the endpoint or by a paused credential; 0 if none
	// Window is the number of tokens, as the caller counts them, that a request and its
	// answer may have; only with TooLong, 0 if unknown.
	Window int
	// Hung is true when an answer did not begin in time; only with Timeout.
	Hung bool
	Err  error // cause, without credentials
}

// Error describes the failure in one line without any credential.
func (e *Error) Error() string {
	s := "model " + e.Kind.String()
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first [*Error] in err's chain, and Unavailable
// when there is none.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unavailable
}

// Interrupted returns the error of a call whose ctx ended before the answer: Timeout
// after a deadline, Unavailable after a cancellation. It wraps context.Cause(ctx).
func Interrupted(ctx context.Context) *Error {
	kind := Unavailable
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = Timeout
	}
	return &Error{Kind: kind, Err: context.Cause(ctx)}
}

// An Embedder computes embeddings of texts. Calls may be concurrent.
type Embedder interface {
	// Embed sends one request to the model of that name and returns a vector for each
	// text, in order and all of one length. It fails with an [*Error], never retries,
	// and returns within the deadlines of the embedder even if ctx has none.
	Embed(ctx context.Context, name string, texts []string) ([][]float32, TokenUsage, error)
}

// An AudioTranscriber turns recordings into text. Calls may be concurrent.
type AudioTranscriber interface {
	// Transcribe sends a recording of that file name and size to the model of that name
	// and returns its text. It fails with an [*Error], never retries, and returns within
	// the deadlines of the transcriber even if ctx has none.
	Transcribe(ctx context.Context, name, file string, recording io.Reader, size int64) (string, TokenUsage, error)
}

// A SpeechSynthesizer turns texts into recordings. Calls may be concurrent.
type SpeechSynthesizer interface {
	// Speak sends a text to the model of that name, to be spoken with a voice of it, and returns a
	// recording in Ogg Opus. It fails with an [*Error], never retries, and returns within the deadlines of
	// the synthesizer even if ctx has none.
	Speak(ctx context.Context, name, voice, text string) ([]byte, TokenUsage, error)
}

// A CallObserver reports every call of a model, answered or failed.
type CallObserver struct {
	Model ChatModel
	// Saw is called after each call that its caller has not given up, with its duration,
	// and must not keep the request. It may be called concurrently.
	Saw func(r ModelRequest, resp ModelResponse, took time.Duration, err error)
}

var _ ChatModel = CallObserver{}

// Generate calls the model and reports the call.
func (w CallObserver) Generate(ctx context.Context, r ModelRequest) (ModelResponse, error) {
	asked := time.Now()
	resp, err := w.Model.Generate(ctx, r)
	if err == nil || ctx.Err() == nil {
		w.Saw(r, resp, time.Since(asked), err)
	}
	return resp, err
}

// HasCallID reports whether a message of the request has a call with that id.
func (r ModelRequest) HasCallID(id string) bool {
	for i := range r.Messages {
		for j := range r.Messages[i].Calls {
			if r.Messages[i].Calls[j].ID == id {
				return true
			}
		}
	}
	return false
}

// Size returns the bytes of text and schema in a request.
func (r ModelRequest) Size() int {
	n := 0
	for _, m := range r.Messages {
		n += len(m.Text)
		for _, c := range m.Calls {
			n += len(c.Name) + len(c.Args)
		}
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

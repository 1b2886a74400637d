// Package llm is the contract between Trestle and a language model.
//
// A [Model] answers one request at a time and holds nothing between calls. The
// package knows nothing of spaces, agents or prompts, and imports nothing of
// ours. Implementations: openai (any compatible endpoint), offline (works
// without one), llmtest (scripted stand-ins for tests).
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// A Model answers requests. Calls may overlap.
type Model interface {
	// Generate asks once and returns the whole answer. It never retries: a
	// failure is an [*Error] whose kind tells the caller what to do. It returns
	// within the deadlines it was built with even if ctx has none. When ctx ends
	// first the error wraps context.Cause(ctx). It looks at r no more once it has
	// returned: see [Request] for what it may keep.
	Generate(ctx context.Context, r Request) (Response, error)
}

// MessageRole is who speaks in a message.
type MessageRole string

// The roles of the chat format.
const (
	System    MessageRole = "system"
	User      MessageRole = "user"
	Assistant MessageRole = "assistant"
	Result    MessageRole = "tool"
)

// A Message is one entry of the transcript.
type Message struct {
	Role   MessageRole
	Text   string
	Calls  []ToolCall // only on Assistant messages
	CallID string     // only on Result messages: the call it answers
	// Pictures stand behind Text, in order; only on User messages, and only for a
	// model that sees.
	Pictures []ModelImage
}

// A ModelImage is shown to a model as it is.
type ModelImage struct {
	Media  string // its type: "image/jpeg"
	Data   []byte // nobody changes them
	Tokens int    // what it is taken for where the endpoint does not count
}

// A ToolCall is one act the model asks for. Args is the model's own text and may be
// anything; nothing has checked it.
type ToolCall struct {
	ID   string
	Name string
	Args string
}

// A Tool is one act offered to the model.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the arguments, canonical bytes
}

// Request is everything one call is made of. Nobody changes its tools any more, and
// a model may keep them. The messages and their calls stand in room that the caller
// uses again once Generate has returned: of them a model keeps copies.
type Request struct {
	Model     string // the endpoint's name for the model
	Messages  []Message
	Tools     []Tool
	NoCalls   bool   // the tools are shown but may not be called (tool_choice none): the answer has no calls
	MaxOutput int    // tokens; 0 leaves it to the endpoint
	CacheKey  string // the same for requests that share a prefix; opaque
	// Hear is told of the answer while it comes, each time of all that is there: its
	// text and its calls, of which the last may end anywhere and ids may be missing.
	// The model calls it in the goroutine that called Generate, never after that has
	// returned; whoever listens keeps the slice. What is heard is nothing yet: an
	// attempt that fails is heard for nothing, and the next one begins from the first
	// word. nil: nobody listens.
	Hear func(soFar Response)
}

// FinishReason is why the model stopped.
type FinishReason string

// The reasons to finish.
const (
	Stopped FinishReason = "stop"
	Called  FinishReason = "tool_calls"
	Length  FinishReason = "length" // cut at MaxOutput: the calls were incomplete and are gone
	Blocked FinishReason = "content_filter"
)

// Response is one whole answer. It may be empty: no text and no calls.
type Response struct {
	Text   string
	Calls  []ToolCall // ids are unique among themselves and those of the request
	Finish FinishReason
	Usage  TokenUsage
}

// TokenUsage is what the endpoint says the call took, in tokens.
type TokenUsage struct {
	Prompt    int
	Cached    int // of Prompt
	Output    int
	Estimated bool // the endpoint did not say; counted here
}

// ErrorKind is what a failed call means to the caller.
type ErrorKind int

// The kinds of failure.
const (
	// Unavailable: the endpoint cannot be reached or fails (dial, 5xx). Retry later.
	Unavailable ErrorKind = iota
	// Limited: too many requests; RetryAfter says how long, when said.
	Limited
	// Timeout: no answer, or silence in the middle of one, within the limits. Retry.
	Timeout
	// Garbled: an answer that is no answer: HTML, cut off, too large. Retry.
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

// Outage reports whether the endpoint makes nothing of any request, until somebody
// mends it or time has passed.
func (k ErrorKind) Outage() bool {
	return k == Unavailable || k == Limited || k == Denied || k == NoModel
}

// Retryable reports whether the same request may succeed later.
func (k ErrorKind) Retryable() bool { return k <= Garbled }

// An Error is a failed call.
type Error struct {
	Kind       ErrorKind
	Status     int           // HTTP status; 0 when there was none
	RetryAfter time.Duration // how long the endpoint, or a paused credential, asks to wait; 0 when not said
	Err        error         // cause, free of credentials
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

// Interrupted is the error of a call whose ctx ended before the answer came:
// Timeout when a deadline passed, Unavailable when somebody cancelled. It wraps
// context.Cause(ctx).
func Interrupted(ctx context.Context) *Error {
	kind := Unavailable
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = Timeout
	}
	return &Error{Kind: kind, Err: context.Cause(ctx)}
}

// An Embedder says where texts stand by their meaning. Calls may overlap.
type Embedder interface {
	// Embed asks the endpoint's model of that name once and returns a vector for each
	// text, in their order and all of one length. It fails with an [*Error] and never
	// retries; within the deadlines it was built with it returns even if ctx has none.
	Embed(ctx context.Context, name string, texts []string) ([][]float32, TokenUsage, error)
}

// A CallObserver tells of every call of a model, answered or failed.
type CallObserver struct {
	Model Model
	// Saw is called after each call, with how long it took, and must not keep the
	// request. Calls overlap.
	Saw func(r Request, resp Response, took time.Duration, err error)
}

var _ Model = CallObserver{}

// Generate asks the model and tells of it.
func (w CallObserver) Generate(ctx context.Context, r Request) (Response, error) {
	asked := time.Now()
	resp, err := w.Model.Generate(ctx, r)
	w.Saw(r, resp, time.Since(asked), err)
	return resp, err
}

// Size is how many bytes of text and schema a request holds.
func (r Request) Size() int {
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

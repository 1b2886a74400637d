package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/offline"
)

// ScriptedModel is a model that follows a script and records its requests.
type ScriptedModel struct {
	// Fail, such as t.Errorf, is called when a request finds no step. Without it such a
	// request panics.
	Fail func(format string, args ...any)

	mu       sync.Mutex // guards all below
	steps    []ScriptStep
	requests []llm.ModelRequest
}

// A ScriptStep is one entry of a script.
type ScriptStep struct {
	// When selects the requests of the step. Default: any.
	When func(llm.ModelRequest) bool
	// Always keeps the step for further requests. Default: it is used once.
	Always bool
	// Do answers in place of Response and Err. Default: those are returned.
	Do func(context.Context, llm.ModelRequest) (llm.ModelResponse, error)

	// Gap is the pause before each piece of the answer, a few words each. Default: none,
	// the answer arrives whole.
	Gap time.Duration

	Response llm.ModelResponse
	Err      error
}

var _ llm.ChatModel = (*ScriptedModel)(nil)

// NewScripted returns a model that answers each request by the first matching step
// that is not used up.
func NewScripted(fail func(format string, args ...any), steps ...ScriptStep) *ScriptedModel {
	return &ScriptedModel{Fail: fail, steps: steps}
}

// Add appends steps to the script.
func (s *ScriptedModel) Add(steps ...ScriptStep) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Generate records r and follows the script. It estimates missing usage and derives
// a missing finish reason.
func (s *ScriptedModel) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	step, n, ok := s.next(r)
	if !ok {
		return s.failExhausted(r, n)
	}
	resp, err := step.Response, step.Err
	if step.Do != nil {
		resp, err = step.Do(ctx, r)
	}
	if err != nil {
		return llm.ModelResponse{}, err
	}
	if step.Gap > 0 && !hearPieces(ctx, r, resp, step.Gap) {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	return fillResponse(r, resp), nil
}

func (s *ScriptedModel) next(r llm.ModelRequest) (step ScriptStep, n int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, CopyRequest(r))
	n = len(s.requests)
	for i, step := range s.steps {
		if step.When != nil && !step.When(r) {
			continue
		}
		if !step.Always {
			s.steps = slices.Delete(s.steps, i, i+1)
		}
		return step, n, true
	}
	return ScriptStep{}, n, false
}

func (s *ScriptedModel) failExhausted(r llm.ModelRequest, n int) (llm.ModelResponse, error) {
	const format = "llmtest: request %d finds no step in the script; its last message: %s"
	last := "none"
	if len(r.Messages) > 0 {
		last = r.Messages[len(r.Messages)-1].Text
	}
	if s.Fail == nil {
		panic(fmt.Sprintf(format, n, last))
	}
	s.Fail(format, n, last)
	return llm.ModelResponse{}, &llm.Error{Kind: llm.Rejected, Err: fmt.Errorf("script exhausted at request %d", n)}
}

// Requests returns the requests so far, in order.
func (s *ScriptedModel) Requests() []llm.ModelRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Left returns how many steps that are used once were not used.
func (s *ScriptedModel) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for i := range s.steps {
		if !s.steps[i].Always {
			n++
		}
	}
	return n
}

// Says is a step that answers with text.
func Says(text string) ScriptStep { return ScriptStep{Response: llm.ModelResponse{Text: text}} }

// Calls is a step that requests the given tool calls.
func Calls(calls ...llm.ToolCall) ScriptStep {
	return ScriptStep{Response: llm.ModelResponse{Calls: calls}}
}

// Fails is a step that fails with an error of the given kind.
func Fails(kind llm.ErrorKind) ScriptStep {
	return ScriptStep{Err: &llm.Error{Kind: kind, Err: fmt.Errorf("scripted %s", kind)}}
}

// Call returns a call with args as JSON. The id must be unique in the transcript.
// It panics when args has no JSON.
func Call(id, name string, args any) llm.ToolCall {
	b, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("llmtest: arguments of %s: %v", name, err))
	}
	return llm.ToolCall{ID: id, Name: name, Args: string(b)}
}

// fillResponse fills in the fields that a scripted response omits. The result shares no
// memory with resp: a step may be answered many times, and the server alters what it got.
func fillResponse(r llm.ModelRequest, resp llm.ModelResponse) llm.ModelResponse {
	resp.Calls = slices.Clone(resp.Calls)
	if resp.Finish == "" {
		resp.Finish = llm.Stopped
		if len(resp.Calls) > 0 {
			resp.Finish = llm.Called
		}
	}
	if resp.Usage == (llm.TokenUsage{}) {
		resp.Usage = offline.EstimateUsage(r, resp)
	}
	return resp
}

// CopyRequest returns a request that shares no memory with r.
func CopyRequest(r llm.ModelRequest) llm.ModelRequest {
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i].Calls = slices.Clone(r.Messages[i].Calls)
	}
	r.Tools = slices.Clone(r.Tools)
	for i := range r.Tools {
		r.Tools[i].Schema = slices.Clone(r.Tools[i].Schema)
	}
	return r
}

// fewWords is the number of words in a piece of an answer.
const fewWords = 4

// splitWords splits s after every few words; they join to s, and an empty s is one
// piece.
func splitWords(s string) []string {
	var all []string
	words := strings.SplitAfter(s, " ")
	for len(words) > 0 {
		n := min(fewWords, len(words))
		all = append(all, strings.Join(words[:n], ""))
		words = words[n:]
	}
	return all
}

// hearPieces calls r.Hear with the growing answer, piece by piece, with a gap before
// each. It returns false when ctx ends.
func hearPieces(ctx context.Context, r llm.ModelRequest, resp llm.ModelResponse, gap time.Duration) bool {
	var soFar llm.ModelResponse
	say := func(into *string, piece string) bool {
		if piece == "" {
			return true
		}
		if !waitFor(ctx, gap) {
			return false
		}
		if r.Grew != nil {
			r.Grew(len(piece))
		}
		if *into += piece; r.Hear != nil {
			heard := soFar
			heard.Calls = slices.Clone(soFar.Calls)
			r.Hear(heard)
		}
		return true
	}
	for _, p := range splitWords(resp.Text) {
		if !say(&soFar.Text, p) {
			return false
		}
	}
	for _, c := range resp.Calls {
		soFar.Calls = append(soFar.Calls, llm.ToolCall{ID: c.ID, Name: c.Name})
		for _, p := range splitWords(c.Args) {
			if !say(&soFar.Calls[len(soFar.Calls)-1].Args, p) {
				return false
			}
		}
	}
	return true
}

// writePiecemeal writes the events of a stream with a gap before each. It returns
// false when the client has gone.
func writePiecemeal(w http.ResponseWriter, r *http.Request, events [][]byte, gap time.Duration) bool {
	for _, e := range events {
		if !waitFor(r.Context(), gap) {
			return false
		}
		_, _ = w.Write(joinEvents([][]byte{e}))
		_ = http.NewResponseController(w).Flush()
	}
	return true
}

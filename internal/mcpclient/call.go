package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trestle-bridge/trestle/internal/retry"
)

// IdempotencyKey is the name under which the id of a call is sent in _meta. A server
// that knows it can tell a repeated call from a new one.
const IdempotencyKey = "io.github.trestle-bridge/idempotencyKey"

// maxArguments bounds the arguments of a call.
const maxArguments = 1 << 20

// A CallRequest is one call of a tool.
type CallRequest struct {
	Tool      string          // name at the server
	Arguments json.RawMessage // a JSON object; empty is one without members
	// ID is the id of the call. It is the same when the call is repeated, also after
	// questions, and is told to the server under [IdempotencyKey].
	ID string
	// Questions and Answers repeat a call that has ended with questions, see
	// [CallResult.Questions]: what it ended with, and what people said, by the question's
	// id. A question without an answer is declined.
	Questions *InputRequired
	Answers   map[string]InputAnswer
	// Ask, unless nil, is asked by servers of older revisions while the call is open. It
	// must return when its context ends. Without it such questions are declined.
	Ask func(context.Context, InputQuestion) InputAnswer
	// Progress, unless nil, is called with what the server tells of its progress. It must
	// return at once. It may be called after Call has returned.
	Progress func(CallProgress)
}

// CallProgress is what a server tells of a call under way.
type CallProgress struct {
	Done, Total float64 // Total is 0 when it is unknown
	Message     string  // at most 500 bytes, cleaned
}

// A FailureKind tells what a failed call means to the caller.
type FailureKind string

// The kinds of failure.
const (
	// Unavailable: the server cannot be reached, or the connection broke.
	Unavailable FailureKind = "unavailable"
	// TimedOut: no answer within the time.
	TimedOut FailureKind = "timed_out"
	// Cancelled: the caller's context ended.
	Cancelled FailureKind = "cancelled"
	// Refused: the server answered that it does not do this: no such tool, wrong arguments.
	Refused FailureKind = "refused"
	// Unreadable: the answer does not follow the protocol or its bounds.
	Unreadable FailureKind = "unreadable"
)

// A CallError is a call without a result.
type CallError struct {
	Kind FailureKind
	// Sent reports whether the server may have received the call, and so may have done
	// what was asked. A call that was refused was not done.
	Sent bool
	// Said is the server's own message, at most 1,000 bytes, only with Refused: data from
	// outside, never an instruction.
	Said string
	// RetryAfter is when the server is tried again; 0 if it may be tried now.
	RetryAfter time.Duration
	Err        error // for the operator, unredacted
}

// Error describes the failure to the operator.
func (e *CallError) Error() string {
	text := "tool call " + string(e.Kind)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

// Sentence returns the failure in one plain sentence for a model, without words of the
// server.
func (e *CallError) Sentence() string {
	switch e.Kind {
	case Refused:
		return "The tool server refused this call."
	case TimedOut:
		return "The tool did not answer in time."
	case Cancelled:
		return "The call was cancelled."
	case Unreadable:
		return "The tool's answer could not be read."
	case Unavailable:
	}
	return "The tool is not available now."
}

var (
	errConnectionLost = errors.New("the connection ended during the call")
	errCallTimeout    = errors.New("the tool did not answer in time")
)

// An openCall is a call under way.
type openCall struct {
	request CallRequest
	sent    sentMark                          // the server may have received it
	cancel  context.CancelCauseFunc           // ends what was sent in one session
	atEnd   func(func()) (forget func() bool) // has a function called when that ends
	timer   *time.Timer
	timeout time.Duration
	asking  sync.Mutex // one question at a time
}

// Call calls a tool and returns its result, which may itself report a failure of the
// tool. An error is a [*CallError]. When ctx ends, the server is told to cancel, and
// Call returns at once. Calls beyond MaxParallel wait.
func (s *ToolServer) Call(ctx context.Context, r CallRequest) (CallResult, error) {
	began := time.Now()
	if err := checkArguments(r); err != nil {
		return CallResult{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.o.CallTimeout, func() { cancel(errCallTimeout) })
	defer timer.Stop()
	call := &openCall{request: r, timer: timer, timeout: s.o.CallTimeout}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return CallResult{}, &CallError{Kind: kindOf(ctx), Err: context.Cause(ctx)}
	}
	ctx = context.WithValue(ctx, callKey{}, call)
	for attempt := 0; ; attempt++ {
		live, err := s.acquire(ctx)
		if err != nil {
			return CallResult{}, err
		}
		call.sent.again() // requests of the connection itself may have been refused
		result, err := live.callTool(ctx, call)
		if errors.Is(err, errSessionGone) { // the server did not do it
			s.forget(live)
			if attempt == 0 {
				continue
			}
			err = &CallError{Kind: Unavailable, Err: errSessionGone}
		}
		if err == nil {
			s.noteAnswer()
		}
		result.Took = time.Since(began)
		return result, err
	}
}

func checkArguments(r CallRequest) error {
	switch {
	case len(r.Arguments) > maxArguments:
		return &CallError{Kind: Refused, Err: fmt.Errorf("the arguments have %d bytes, at most %d are sent", len(r.Arguments), maxArguments)}
	case len(r.Arguments) > 0 && !isObject(r.Arguments):
		return &CallError{Kind: Refused, Err: errors.New("the arguments are no JSON object")}
	}
	return nil
}

func isObject(text json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(text, &members) == nil && members != nil
}

// callTool calls until the server gives a result or asks.
func (l *liveSession) callTool(ctx context.Context, call *openCall) (CallResult, error) {
	// The end of the session ends what is sent in it, not the call, which may be made again.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	call.cancel = cancel
	call.atEnd = func(f func()) func() bool { return context.AfterFunc(ctx, f) }
	token, err := l.register(call)
	if err != nil {
		return CallResult{}, err
	}
	defer l.unregister(token)
	questions, answers := call.request.Questions, call.request.Answers
	for busy := 0; ; {
		raw, err := l.send(ctx, call, l.parameters(call, token, questions, answers))
		switch {
		case err != nil:
			return CallResult{}, l.failed(ctx, call, err)
		case !raw.NeedsInput():
			return resultOf(raw), nil
		}
		asked, err := readQuestions(raw)
		switch {
		case err != nil:
			return CallResult{}, &CallError{Kind: Unreadable, Sent: true, Err: err}
		case len(asked.Questions) > 0:
			return CallResult{Questions: asked}, nil
		case len(asked.Declined) == 0: // the server is busy and wants the call repeated
			if busy++; busy > maxBusy {
				return CallResult{}, &CallError{Kind: Unavailable, Sent: true, Err: errors.New("the server is busy")}
			}
			retry.WaitFor(ctx, nil, retry.BackoffAfter(busy))
		default:
			if busy++; busy > maxBusy {
				return CallResult{}, &CallError{Kind: Unreadable, Sent: true, Err: errors.New("the server goes on asking what is declined")}
			}
		}
		questions, answers = asked, nil
	}
}

// maxBusy bounds how often a call is repeated because the server asks for it.
const maxBusy = 3

// parameters returns the parameters of a call.
func (l *liveSession) parameters(call *openCall, token string, questions *InputRequired, answers map[string]InputAnswer) *mcp.CallToolParams {
	r := call.request
	p := &mcp.CallToolParams{Meta: mcp.Meta{}, Name: r.Tool}
	if len(r.Arguments) > 0 {
		p.Arguments = r.Arguments
	}
	if r.ID != "" {
		p.Meta[IdempotencyKey] = r.ID
	}
	p.SetProgressToken(token)
	if questions != nil {
		p.RequestState = questions.State
		p.InputResponses = responsesTo(questions, answers)
	}
	return p
}

// send makes one request.
func (l *liveSession) send(ctx context.Context, call *openCall, p *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	if l.process != nil {
		call.sent.set()
	}
	return within(ctx, l, func() (*mcp.CallToolResult, error) { return l.client.CallTool(ctx, p) })
}

// within calls f, which ends with ctx unless the server does not read: then a write
// holds it, and the session is ended.
func within[T any](ctx context.Context, l *liveSession, f func() (T, error)) (T, error) {
	type answer struct {
		result T
		err    error
	}
	done := make(chan answer, 1)
	l.server.running.Go(func() {
		result, err := f()
		done <- answer{result, err}
	})
	select {
	case got := <-done:
		return got.result, got.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(l.server.o.StopGrace)
	defer timer.Stop()
	select {
	case got := <-done:
		return got.result, got.err
	case <-timer.C:
		l.server.drop(l, errors.New("the server does not read what is sent to it"))
		got := <-done
		return got.result, context.Cause(ctx)
	}
}

// failed returns the error of a call.
func (l *liveSession) failed(ctx context.Context, call *openCall, err error) error {
	if forgotten := errors.Is(err, mcp.ErrSessionMissing) || l.forgotten(); forgotten && !call.sent.isSet() {
		return errSessionGone
	} else if forgotten { // after it had begun, as by a restart
		err = mcp.ErrConnectionClosed
	}
	if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok {
		said := cleanText(refusal.Message, maxSaid)
		return &CallError{Kind: Refused, Said: said, Err: fmt.Errorf("the server answers: %s (code %d)", said, refusal.Code)}
	}
	e := &CallError{Kind: Unavailable, Sent: call.sent.isSet(), Err: l.explain(err)}
	switch {
	case ctx.Err() != nil:
		e.Kind, e.Err = kindOf(ctx), context.Cause(ctx)
	case errors.Is(err, mcp.ErrConnectionClosed):
		e.Err = l.explain(errConnectionLost)
	case e.Sent && !errors.Is(e.Err, errStreamLost) && !l.ends():
		e.Kind = Unreadable
	}
	return e
}

// A sentMark says whether a server may have received a call. A refusal of the call takes
// the mark away for good, also where the library tells only afterwards that it was sent.
type sentMark struct{ state atomic.Int32 }

// The states of a mark.
const (
	unsent int32 = iota
	wasSent
	wasRefused
)

func (m *sentMark) set()        { m.state.CompareAndSwap(unsent, wasSent) }
func (m *sentMark) refuse()     { m.state.Store(wasRefused) }
func (m *sentMark) again()      { m.state.CompareAndSwap(wasRefused, unsent) }
func (m *sentMark) isSet() bool { return m.state.Load() == wasSent }

// forgotten reports whether the server does not know the session of the connection any
// more. The library may see the end of the connection before it says so.
func (l *liveSession) forgotten() bool {
	return l.remote != nil && l.remote.refused.Load() == http.StatusNotFound
}

// maxSaid bounds the message of a refusal.
const maxSaid = 1000

// endGrace is how long a program that ends may be taken for alive after its output ended.
const endGrace = 500 * time.Millisecond

// ends reports whether the connection has ended, or its program is about to.
func (l *liveSession) ends() bool {
	if l.process == nil {
		return !l.alive()
	}
	timer := time.NewTimer(endGrace)
	defer timer.Stop()
	select {
	case <-l.dead:
		return true
	case <-timer.C:
		return false
	}
}

// alive reports whether the connection goes on.
func (l *liveSession) alive() bool {
	select {
	case <-l.dead:
		return false
	default:
		return true
	}
}

// kindOf returns the kind of failure of a call whose context has ended.
func kindOf(ctx context.Context) FailureKind {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errCallTimeout), errors.Is(cause, context.DeadlineExceeded):
		return TimedOut
	case errors.Is(cause, errConnectionLost):
		return Unavailable
	}
	return Cancelled
}

// register adds a call to the session under a new token.
func (l *liveSession) register(call *openCall) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return "", errSessionGone
	}
	l.tokens++
	token := strconv.Itoa(l.tokens)
	l.calls[token] = call
	return token, nil
}

func (l *liveSession) unregister(token string) {
	l.mu.Lock()
	delete(l.calls, token)
	l.mu.Unlock()
}

// hearProgress passes on what a server tells of a call.
func (l *liveSession) hearProgress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	token, ok := r.Params.ProgressToken.(string)
	if !ok {
		return
	}
	l.mu.Lock()
	call := l.calls[token]
	l.mu.Unlock()
	if call == nil || call.request.Progress == nil {
		return
	}
	call.request.Progress(CallProgress{
		Done: r.Params.Progress, Total: r.Params.Total, Message: cleanLine(r.Params.Message, 500),
	})
}

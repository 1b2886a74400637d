package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// The waits before a model that failed is asked again: the first one, doubled with each
// further failure, and the longest one.
const (
	firstReturn   = 30 * time.Second
	longestReturn = 10 * time.Minute
)

var errSilent = errors.New("no word of an answer in time, and another model can answer")

// A FallbackChoice is a model that may answer in place of those before it.
type FallbackChoice struct {
	Model ChatModel
	// Name is the name of the model at its endpoint.
	Name string
	// Window limits the tokens of a request and its answer. Default: what Model has
	// learned or its endpoint tells, else no limit.
	Window int
	// Patience is the time until an answer begins, after which the next choice is asked.
	// Default: 1 min, or three times the 99th percentile of its last answers if that is
	// longer.
	Patience time.Duration
}

// window returns how many tokens a request and its answer may have; 0 is unknown.
func (c FallbackChoice) window() int {
	known := CapabilityOf(c.Model, c.Name)
	window := cmp.Or(c.Window, known.Told.Window)
	if learned := known.Window; learned > 0 && (window == 0 || learned < window) {
		return learned
	}
	return window
}

// FallbackModel is a [ChatModel] that asks the first of several models that is well.
//
// A choice that cannot be reached, answers nothing in time, is limited, refuses its
// credential or has no such model is passed over, by the request that met it and by
// later ones, until a wait is over that grows with each failure up to 10 min. Then one
// request is tried with it, and when that is answered it is used again. A request that
// is too long for a choice goes to one with a larger window; that choice stays in use
// for others. A request that a choice rejects is not repeated.
//
// Requests for other models than the first choice's go to the first choice. When every
// choice is waiting all are asked, in order. Calls may be concurrent.
type FallbackModel struct {
	choices []FallbackChoice

	mu     sync.Mutex // guards states
	states []fallbackState
}

var _ ChatModel = (*FallbackModel)(nil)

// fallbackState is what is known of a choice.
type fallbackState struct {
	cause   error         // of the newest failure; nil when it is well
	wait    time.Duration // the newest one
	retry   time.Time     // when a request is tried with it again
	probing bool          // one is
	times   firstWordTimes
}

// NewFallback returns a model that prefers the choices in order. There is at least one.
func NewFallback(choices ...FallbackChoice) *FallbackModel {
	return &FallbackModel{choices: slices.Clone(choices), states: make([]fallbackState, len(choices))}
}

// Prefers reports whether the model has these choices, in this order.
func (m *FallbackModel) Prefers(choices []FallbackChoice) bool {
	return slices.Equal(m.choices, choices)
}

// Unwrap returns the first choice.
func (m *FallbackModel) Unwrap() ChatModel { return m.choices[0].Model }

// StandIn returns the name of the model that is asked in place of the first choice, and
// why that is not; empty and nil while the first choice is well. When no choice is well
// the name is empty and the error is that of the first one.
func (m *FallbackModel) StandIn() (name string, cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.states[0].cause == nil {
		return "", nil
	}
	for i := range m.states {
		if m.states[i].cause == nil {
			return m.choices[i].Name, m.states[0].cause
		}
	}
	return "", m.states[0].cause
}

// Capability returns what is known of the choice that is asked now, with the largest
// window of those that are well.
func (m *FallbackModel) Capability(name string) ModelCapability {
	if name != m.choices[0].Name {
		return CapabilityOf(m.choices[0].Model, name)
	}
	usable := m.usable()
	first := m.choices[usable[0]]
	known := CapabilityOf(first.Model, first.Name)
	known.Window = 0
	for _, i := range usable {
		w := m.choices[i].window()
		if w == 0 {
			known.Window = 0
			break
		}
		known.Window = max(known.Window, w)
	}
	return known
}

// usable returns the choices that are well, else all.
func (m *FallbackModel) usable() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var well, all []int
	for i := range m.states {
		if all = append(all, i); m.states[i].cause == nil {
			well = append(well, i)
		}
	}
	if len(well) > 0 {
		return well
	}
	return all
}

// Generate asks the choices in order until one answers, and sets Model of the answer
// when it is not the first. Its failure is that of the first choice that was asked.
func (m *FallbackModel) Generate(ctx context.Context, r ModelRequest) (ModelResponse, error) {
	if r.Model != m.choices[0].Name {
		return m.choices[0].Model.Generate(ctx, r)
	}
	var failed, long error // the first ones
	read := 0              // the largest window that was too small
	order := m.order(time.Now())
	for n, i := range order {
		if long != nil && tooSmall(m.choices[i].window(), read+1) {
			continue
		}
		if w := m.choices[i].window(); tooSmall(w, r.Tokens+r.MaxOutput) {
			read = max(read, w)
			if m.isWell(i) && long == nil {
				long = &Error{Kind: TooLong, Window: w, Err: fmt.Errorf("the window of %s is %d tokens", m.choices[i].Name, w)}
			}
			continue
		}
		resp, err := m.attempt(ctx, r, i, n+1 < len(order))
		switch {
		case err == nil:
			if i > 0 {
				resp.Model = m.choices[i].Name
			}
			return resp, nil
		case ctx.Err() != nil || KindOf(err) == Rejected:
			return ModelResponse{}, err
		case KindOf(err) == TooLong:
			read = max(read, m.choices[i].window())
			if long == nil {
				long = err
			}
		case failed == nil:
			failed = err
		}
	}
	if long != nil {
		return ModelResponse{}, long // a shorter one may be answered
	}
	return ModelResponse{}, failed
}

// tooSmall reports whether a window, of which 0 is unknown, has no room for tokens.
func tooSmall(window, tokens int) bool { return window > 0 && tokens > window }

// order returns the choices to ask now: those that are well and those whose wait is over,
// or all when there are none.
func (m *FallbackModel) order(now time.Time) []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ready, all []int
	for i := range m.states {
		s := &m.states[i]
		all = append(all, i)
		if s.cause == nil || !s.probing && !now.Before(s.retry) {
			ready = append(ready, i)
		}
	}
	if len(ready) == 0 {
		return all
	}
	return ready
}

func (m *FallbackModel) isWell(i int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.states[i].cause == nil
}

// attempt asks one choice. A bounded attempt ends when its answer does not begin in time.
func (m *FallbackModel) attempt(ctx context.Context, r ModelRequest, i int, bounded bool) (ModelResponse, error) {
	call, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began, first := time.Now(), time.Duration(0)
	var silence *time.Timer
	if patience := m.begin(i); bounded {
		silence = time.AfterFunc(patience, func() { cancel(errSilent) })
		defer silence.Stop()
	}
	grew := r.Grew
	r.Model = m.choices[i].Name
	r.Grew = func(n int) {
		if first == 0 {
			first = max(time.Since(began), 1)
			if silence != nil {
				silence.Stop()
			}
		}
		if grew != nil {
			grew(n)
		}
	}
	resp, err := m.choices[i].Model.Generate(call, r)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(call), errSilent) {
		err = &Error{Kind: Timeout, Hung: true, Err: errSilent}
	}
	if first == 0 {
		first = time.Since(began)
	}
	m.end(ctx, i, first, err)
	return resp, err
}

// begin notes that a choice is asked, and returns its patience.
func (m *FallbackModel) begin(i int) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.states[i]
	s.probing = s.cause != nil
	if p := m.choices[i].Patience; p > 0 {
		return p
	}
	return s.times.patience()
}

// end notes how an attempt ended whose answer began after first.
func (m *FallbackModel) end(ctx context.Context, i int, first time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.states[i]
	s.probing = false
	switch kind := KindOf(err); {
	case err == nil:
		s.cause, s.wait, s.retry = nil, 0, time.Time{}
		s.times.add(first)
	case ctx.Err() != nil: // the caller gave up
	case kind == TooLong || kind == Rejected: // the endpoint answers
		s.cause, s.wait, s.retry = nil, 0, time.Time{}
	default:
		now := time.Now()
		if s.cause != nil && now.Before(s.retry) {
			return // failures of concurrent requests count as one
		}
		s.cause, s.wait = err, min(max(2*s.wait, firstReturn), longestReturn)
		s.retry = now.Add(s.wait)
		if e, ok := errors.AsType[*Error](err); ok {
			s.retry = now.Add(max(s.wait, min(e.RetryAfter, longestReturn)))
		}
	}
}

package llm

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// RetryingModel is a [Model] that repeats failed requests to another one.
//
// A failure that is [ErrorKind.Retryable] is retried after an exponential, jittered
// backoff, never before the RetryAfter of the endpoint. Of timeouts only a call that did
// not begin is retried, once and at once: it has cost nothing but time. A call that has
// been silent too long (see [RetryingModel.SilentSince]) is not waited for any longer once
// calls that began later are answered. A refused credential pauses
// all calls through this RetryingModel for a growing time: use one for each
// credential. The last failure is returned unchanged. Calls may be concurrent; the
// zero value of every field but Model works.
type RetryingModel struct {
	Model ChatModel

	// Attempts limits the attempts of one request. Default: 3.
	Attempts int
	// Limit is the time after which no attempt starts; a longer RetryAfter is returned
	// to the caller at once. Default: 5 min.
	Limit time.Duration
	// FirstWait is the wait before the second attempt, before jitter; each
	// further one is twice as long, up to 30 s. Default: 500 ms.
	FirstWait time.Duration

	pause credentialPause
	calls callsInFlight
}

var _ ChatModel = (*RetryingModel)(nil)

const longestWait = 30 * time.Second

// Generate repeats the request until there is an answer, a permanent error, or the
// attempts or the time are used up. While the credential is paused it fails at once
// with Denied and the rest of the pause as RetryAfter.
func (m *RetryingModel) Generate(ctx context.Context, r ModelRequest) (ModelResponse, error) {
	var last error
	again := false // a call that hung was made once more
	attempt := func() (ModelResponse, error) {
		var resp ModelResponse
		resp, last = m.attemptOnce(ctx, r, !again)
		if e, ok := errors.AsType[*Error](last); ok && e.Hung && !again && ctx.Err() == nil {
			again = true
			resp, last = m.attemptOnce(ctx, r, false)
		}
		return resp, backoffError(last)
	}
	resp, err := backoff.Retry(ctx, attempt,
		backoff.WithBackOff(m.waits()),
		backoff.WithMaxTries(uint(orDefault(m.Attempts, 3))),
		backoff.WithMaxElapsedTime(orDefault(m.Limit, 5*time.Minute)))
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil && !errors.Is(last, context.Cause(ctx)):
		return ModelResponse{}, Interrupted(ctx)
	}
	return ModelResponse{}, last
}

// SilentSince returns since when the model has been silent to one of its calls: for one
// minute at least, and three times the 99th percentile of what its last answers took to
// begin. An answer that grows by less than a few words in that time is silent too. It is
// the zero time when there is no such call, and again when a call is answered.
func (m *RetryingModel) SilentSince(now time.Time) time.Time { return m.calls.silentSince(now) }

// attemptOnce makes one attempt unless the credential is paused.
func (m *RetryingModel) attemptOnce(ctx context.Context, r ModelRequest, renewable bool) (ModelResponse, error) {
	started := time.Now()
	if err := m.pause.check(started); err != nil {
		return ModelResponse{}, err
	}
	call, end := m.calls.begin(ctx, &r, renewable)
	resp, err := m.Model.Generate(call, r)
	err = end(err)
	m.pause.observe(started, err)
	return resp, err
}

func (m *RetryingModel) waits() backoff.BackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = orDefault(m.FirstWait, backoff.DefaultInitialInterval)
	b.Multiplier = 2
	b.MaxInterval = longestWait
	return b
}

// backoffError converts err for the backoff package.
func backoffError(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok && (!e.Kind.Retryable() || e.Kind == Timeout):
		return backoff.Permanent(err)
	case ok && e.RetryAfter > 0:
		return &backoff.RetryAfterError{Duration: e.RetryAfter}
	}
	return err
}

func orDefault[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// The first pause of a refused credential, doubled with each refusal after a pause,
// and the longest one.
const (
	firstPause   = time.Minute
	longestPause = 15 * time.Minute
)

var errPaused = errors.New("credential paused after a refusal")

// credentialPause blocks a refused credential for a while. The zero value blocks
// nothing.
type credentialPause struct {
	mu     sync.Mutex // guards all below
	until  time.Time
	length time.Duration // of the newest pause; 0 after a success
	status int           // HTTP status of the refusal
}

// check returns the error of a call that starts during the pause.
func (p *credentialPause) check(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !now.Before(p.until) {
		return nil
	}
	return &Error{Kind: Denied, Status: p.status, RetryAfter: p.until.Sub(now), Err: errPaused}
}

// observe updates the pause after a call that started at started. Refusals of
// concurrent calls count as one.
func (p *credentialPause) observe(started time.Time, err error) {
	e, failed := errors.AsType[*Error](err)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil && !started.Before(p.until):
		p.length = 0
	case failed && e.Kind == Denied && !started.Before(p.until):
		p.length = min(max(2*p.length, firstPause), longestPause)
		p.until = time.Now().Add(p.length)
		p.status = e.Status
	}
}

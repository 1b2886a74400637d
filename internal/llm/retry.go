package llm

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// RetryingModel is a [Model] that asks another one again when that may help.
//
// A failure that is [Kind.Retryable] is retried after a growing, jittered wait,
// never earlier than the endpoint asked for. A refused credential pauses all
// calls through this Retry for a growing time, so that a dead key is not
// hammered: use one Retry for each credential. The last failure is returned as
// it came. Calls may overlap; the zero value of every field but Model works.
type RetryingModel struct {
	Model Model

	// Attempts is how often one request is asked at most. Default: 3.
	Attempts int
	// Limit bounds one request with its waits: no attempt starts after it, and
	// a longer RetryAfter is handed to the caller at once. Default: 5 min.
	Limit time.Duration
	// FirstWait is the wait before the second attempt, before jitter; each
	// further one is twice as long, up to 30 s. Default: 500 ms.
	FirstWait time.Duration

	pause credentialPause
}

var _ Model = (*RetryingModel)(nil)

const longestWait = 30 * time.Second

// Generate asks until there is an answer, an error that no retry mends, or the
// attempts or the time are used up. While the credential is paused it fails at
// once with Denied and the rest of the pause as RetryAfter.
func (m *RetryingModel) Generate(ctx context.Context, r Request) (Response, error) {
	var last error
	attempt := func() (Response, error) {
		var resp Response
		resp, last = m.once(ctx, r)
		return resp, advice(last)
	}
	resp, err := backoff.Retry(ctx, attempt,
		backoff.WithBackOff(m.waits()),
		backoff.WithMaxTries(uint(orDefault(m.Attempts, 3))),
		backoff.WithMaxElapsedTime(orDefault(m.Limit, 5*time.Minute)))
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil && !errors.Is(last, context.Cause(ctx)):
		return Response{}, Interrupted(ctx)
	}
	return Response{}, last
}

// once is one attempt under the pause of the credential.
func (m *RetryingModel) once(ctx context.Context, r Request) (Response, error) {
	started := time.Now()
	if err := m.pause.check(started); err != nil {
		return Response{}, err
	}
	resp, err := m.Model.Generate(ctx, r)
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

// advice tells the backoff package what to do about err.
func advice(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case ok && !e.Kind.Retryable():
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

// The first pause of a refused credential, doubled with each refusal that
// follows a pause, and the longest one.
const (
	firstPause   = time.Minute
	longestPause = 15 * time.Minute
)

var errPaused = errors.New("credential paused after a refusal")

// credentialPause keeps a refused credential out of use for a while. The zero value is a
// credential that nobody has refused.
type credentialPause struct {
	mu     sync.Mutex // guards all below
	until  time.Time
	length time.Duration // of the newest pause; 0 after a success
	status int           // HTTP status of the refusal
}

// check returns the error of a call that would start within the pause.
func (p *credentialPause) check(now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !now.Before(p.until) {
		return nil
	}
	return &Error{Kind: Denied, Status: p.status, RetryAfter: p.until.Sub(now), Err: errPaused}
}

// observe learns from the outcome of a call started at started. Calls that were
// under way together and refused together are one refusal.
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

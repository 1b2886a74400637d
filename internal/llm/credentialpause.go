package llm

import (
	"errors"
	"sync"
	"time"
)

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

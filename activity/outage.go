package activity

import (
	"sync"
	"time"
)

const (
	// firstPause is how long nothing is sent after credentials were refused: a platform
	// that fails may refuse good ones. It doubles up to maxPause while they are refused.
	firstPause = 10 * time.Second
	maxPause   = 5 * time.Minute
	// outageThreshold is how long sending must have failed for earlier messages to count
	// as backlog. After a shorter time they do not, or a busy chat of an account that
	// fails now and then would fall ever further behind.
	outageThreshold = 90 * time.Second
	// failingAfter is how long sending must have failed for the account to be degraded,
	// and failingFor how long after the last failure it is, if nothing is sent.
	failingAfter = 30 * time.Second
	failingFor   = 5 * time.Minute
)

// An outageTracker tracks since when an account cannot send, and pauses sending
// while its credentials are refused. It is safe for concurrent use.
type outageTracker struct {
	mu       sync.Mutex // guards what follows
	paused   time.Time  // nothing is sent before this
	why      string     // empty once the credentials are accepted
	refused  int        // pauses since they were accepted
	outSince time.Time  // since when sending fails; zero while it succeeds
	failedAt time.Time  // the last failure since then
	failure  string     // in words
	doubt    resendDoubt
}

// reason returns why nothing is sent; empty when sending works.
func (t *outageTracker) reason() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.why
}

// pausedUntil returns the time before which nothing is sent.
func (t *outageTracker) pausedUntil() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.paused
}

// end ends the pause and the outage, and reports whether the outage was long.
func (t *outageTracker) end(now time.Time) (long bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	long = t.isLong(now)
	t.paused, t.why, t.refused, t.outSince, t.failure, t.doubt = time.Time{}, "", 0, time.Time{}, "", resendDoubt{}
	return long
}

// long reports whether sending has failed for outageThreshold.
func (t *outageTracker) long(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.isLong(now)
}

// isLong is long with mu held.
func (t *outageTracker) isLong(now time.Time) bool {
	return !t.outSince.IsZero() && now.Sub(t.outSince) >= outageThreshold
}

// active reports whether sending has failed since it last succeeded.
func (t *outageTracker) active() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.outSince.IsZero()
}

// noteFailure starts an outage, unless one is active, for the reason why. An unknown
// outcome is one that leaves it open whether the platform did what it was asked.
func (t *outageTracker) noteFailure(now time.Time, why string, unknown bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.outSince.IsZero() {
		t.outSince = now
	}
	t.failedAt, t.failure = now, why
	if unknown {
		t.doubt.note(now)
	}
}

// failing returns why messages have not been delivered for failingAfter; empty while
// they are, and when the last attempt is too long ago to tell.
func (t *outageTracker) failing(now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure == "" || now.Sub(t.outSince) < failingAfter || now.Sub(t.failedAt) >= failingFor {
		return ""
	}
	return t.failure
}

// pause lets nothing be sent for a while. A refusal during a pause, of an action that
// was in flight, does not prolong it.
func (t *outageTracker) pause(now time.Time, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.paused.After(now) {
		return
	}
	if t.outSince.IsZero() {
		t.outSince = now
	}
	t.paused, t.why = now.Add(min(firstPause<<t.refused, maxPause)), why
	t.refused = min(t.refused+1, 8)
}

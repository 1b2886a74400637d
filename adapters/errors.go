package adapters

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// FailureKind is what a failed call means to the caller: what may have happened, and
// what to do. Programs switch on it; people read the text.
type FailureKind int

// The kinds of failure. The first three are about one attempt, the rest are
// permanent for the message, the chat or the account.
const (
	// Unknown: the platform may or may not have accepted it.
	Unknown FailureKind = iota
	// NotSent: no byte of the request reached the platform. Safe to repeat.
	NotSent
	// Limited: refused for a while; RetryAfter says how long. Safe to repeat then.
	Limited
	// Invalid: the platform will never take this message (bad markup, empty, too long).
	Invalid
	// NoTarget: the chat, thread or message does not exist any more, or the thread
	// is closed.
	NoTarget
	// Forbidden: we were removed, blocked, or lack a right in this chat.
	Forbidden
	// Moved: the chat goes on under MovedTo; send there.
	Moved
	// Unauthorized: the credentials are refused. Nothing works until they change, or
	// the platform mends itself; see [IsFinal].
	Unauthorized
	// Conflict: another receives with our credentials.
	Conflict
)

// String returns the kind's name in stored data and logs.
func (k FailureKind) String() string {
	names := [...]string{"unknown", "not_sent", "limited", "invalid", "no_target", "forbidden", "moved", "unauthorized", "conflict"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind_%d", int(k))
	}
	return names[k]
}

// Permanent reports whether repeating the same call can never succeed.
func (k FailureKind) Permanent() bool {
	return k == Invalid || k == NoTarget || k == Forbidden
}

// An Error is a failed call at the outer border.
type Error struct {
	Kind       FailureKind
	Op         string        // the platform's method
	RetryAfter time.Duration // with Limited: at least this long; 0 when not said
	MovedTo    string        // with Moved: the new chat id
	Final      bool          // the platform must not be asked again with these credentials
	Err        error         // cause, free of credentials; may be nil
}

// Error describes the failure in one line without any credential.
func (e *Error) Error() string {
	s := e.Op + ": " + e.Kind.String()
	if e.RetryAfter > 0 {
		s += fmt.Sprintf(" (retry after %s)", e.RetryAfter)
	}
	if e.MovedTo != "" {
		s += " to " + e.MovedTo
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the cause of the first [*Error] in err's chain in its own words, else
// err's.
func ReasonOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

// IsFinal reports whether the first [*Error] in err's chain says that the platform
// must not be asked again until the configuration changes.
func IsFinal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Final
}

// KindOf returns the kind of the first [*Error] in err's chain, and Unknown
// when there is none: what we cannot name may have happened.
func KindOf(err error) FailureKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unknown
}

// defaultRetryAfter is the wait after a Limited error that names none.
const defaultRetryAfter = time.Second

// RetryDelay returns how long to wait after a [Limited] error, with up to a tenth
// of jitter so that callers do not retry in step. It reports false for any other
// error.
func RetryDelay(err error) (time.Duration, bool) {
	refused, ok := errors.AsType[*Error](err)
	if !ok || refused.Kind != Limited {
		return 0, false
	}
	wait := refused.RetryAfter
	if wait <= 0 {
		wait = defaultRetryAfter
	}
	return wait + rand.N(wait/10+1), true
}

// CallOutcome is what could be seen of one HTTP call, the only ground on which a
// send is judged.
type CallOutcome struct {
	Written  bool // any byte of the request may have left us
	Status   int  // HTTP status; 0 when no answer came
	Readable bool // a 2xx answer whose message id we could read
}

// JudgeOutcome is the one ambiguity rule for sends. It reports sent for an accepted
// call; otherwise kind is what a failure may mean: NotSent, Limited, Invalid
// for a permanent refusal, or Unknown.
func JudgeOutcome(o CallOutcome) (sent bool, kind FailureKind) {
	switch {
	case o.Status >= 200 && o.Status < 300 && o.Readable:
		return true, Unknown
	case o.Status == 429:
		return false, Limited
	case o.Status == 408 || o.Status == 425:
		return false, NotSent // the server says it did not process the request
	case o.Status == 409:
		return false, Conflict
	case o.Status >= 400 && o.Status < 500:
		return false, Invalid
	case o.Status == 0 && !o.Written:
		return false, NotSent
	default:
		return false, Unknown
	}
}

// TraceWritten returns a context whose HTTP request reports, through written, whether
// any byte of it may have left this process.
func TraceWritten(ctx context.Context) (traced context.Context, written *atomic.Bool) {
	written = new(atomic.Bool)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { written.Store(true) },
		WroteRequest: func(httptrace.WroteRequestInfo) { written.Store(true) },
	}), written
}

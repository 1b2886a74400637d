package adapters

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
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
	// NotSent: the platform did not do it: the request did not reach it whole, or its
	// answer says so. Safe to repeat.
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

// ErrDeaf is wrapped by the error with which a Receive ends whose connection works and
// brings no events, though history shows that people write. The next one reads history
// anew. An adapter returns it at most once in [DeafAgain], for a new connection may not
// help.
var ErrDeaf = errors.New("the connection brings no events though people write")

// DeafAgain is the least time between two reconnections for [ErrDeaf].
const DeafAgain = time.Hour

// An Error is a failed call at the outer border.
type Error struct {
	Kind       FailureKind
	Op         string        // the platform's method
	Status     int           // HTTP status of the answer; 0 when there was none, or it is not said
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
	Written  bool // the whole request may have left us
	Status   int  // HTTP status; 0 when no answer came
	Readable bool // a 2xx answer whose message id we could read
	Own      bool // the answer is in the platform's own form of error, not a page of a gateway
}

// JudgeOutcome is the one ambiguity rule for sends. It reports sent for an accepted
// call; otherwise kind is what a failure may mean: Invalid for a permanent refusal;
// NotSent where the platform cannot have done it (the request did not reach it whole,
// a 503, its own error with a status of 500); Unknown where that cannot be told (the page
// of a gateway, which a 502 and a 504 always are, or no answer).
func JudgeOutcome(o CallOutcome) (sent bool, kind FailureKind) {
	switch {
	case o.Status >= 200 && o.Status < 300 && o.Readable:
		return true, Unknown
	case o.Status == http.StatusTooManyRequests:
		return false, Limited
	case o.Status == http.StatusRequestTimeout || o.Status == http.StatusTooEarly || o.Status == http.StatusServiceUnavailable:
		return false, NotSent // the server says it did not process the request
	case o.Status == http.StatusConflict:
		return false, Conflict
	case o.Status >= 400 && o.Status < 500:
		return false, Invalid
	case o.Status == http.StatusBadGateway || o.Status == http.StatusGatewayTimeout:
		return false, Unknown // what is behind the gateway may have done it
	case o.Status >= 500 && o.Own, o.Status == 0 && !o.Written:
		return false, NotSent
	default:
		return false, Unknown
	}
}

// TraceWritten returns a context whose HTTP request reports, through written, whether
// the whole of it may have left this process. A request that was written in part is
// one that no server acts on (RFC 9112, 8, "Handling Incomplete Messages").
func TraceWritten(ctx context.Context) (traced context.Context, written *atomic.Bool) {
	written = new(atomic.Bool)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(w httptrace.WroteRequestInfo) {
			if w.Err == nil {
				written.Store(true)
			}
		},
	}), written
}

package modelhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

var (
	errCut    = errors.New("the answer was cut off")
	errBroken = errors.New("the endpoint broke off with an error it does not explain")
)

// unreachable is a transport error before the response headers.
type unreachable struct{ error }

// Unwrap returns the transport's error.
func (e *unreachable) Unwrap() error { return e.error }

// Explain converts the error of a failed call and removes the key. ctx is the
// caller's context and call the one with the timeouts.
func (c *BaseClient) Explain(ctx, call context.Context, err error) *llm.Error {
	switch {
	case ctx.Err() != nil:
		return llm.Interrupted(ctx)
	case call.Err() != nil:
		return timedOut(context.Cause(call))
	}
	e, known := errors.AsType[*llm.Error](err)
	if !known {
		e = classifyError(err)
	}
	e.Err = errors.New(c.scrub(e.Err.Error())) // drops wrapped errors, which may contain the key
	return e
}

// classifyError returns err with its kind.
func classifyError(err error) *llm.Error {
	if r := AsRefusal(err); r != nil {
		return &llm.Error{Kind: r.Kind(), Status: r.status, RetryAfter: r.retryAfter, Err: r}
	}
	if _, ok := errors.AsType[*unreachable](err); ok {
		return &llm.Error{Kind: llm.Unavailable, Err: err}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || isNet(err) {
		err = errCut
	}
	return &llm.Error{Kind: llm.Garbled, Err: err}
}

// AsRefusal returns the endpoint's own error in err, or nil.
func AsRefusal(err error) *EndpointError {
	r, _ := errors.AsType[*EndpointError](err)
	return r
}

func isNet(err error) bool {
	_, ok := errors.AsType[net.Error](err)
	return ok
}

// scrub removes the key in case an endpoint or the library repeats it.
func (c *BaseClient) scrub(s string) string {
	if c.Options.APIKey == "" {
		return s
	}
	return strings.ReplaceAll(s, c.Options.APIKey, "***")
}

// An EndpointError is an error that the endpoint reported, by status or within an answer
// (status 0).
type EndpointError struct {
	status int
	// retryAfter is the wait that the endpoint asks for; 0 if none.
	retryAfter time.Duration
	Reason     ErrorReason
}

// Error returns the reason that the endpoint gave, clipped.
func (r *EndpointError) Error() string {
	switch {
	case r.Reason.Message != "":
		return textformat.ClipBytes(r.Reason.Message, 300)
	case r.Reason.Code != "":
		return "the endpoint gives no reason but " + textformat.ClipBytes(r.Reason.Code, 100)
	}
	return fmt.Sprintf("the endpoint gives no reason but %q", http.StatusText(r.status))
}

// longestRetryAfter caps Retry-After.
const longestRetryAfter = 24 * time.Hour

// retryAfter reads how long the endpoint asks to wait: milliseconds, seconds or
// a date, which counts from the endpoint's own clock. 0 when it does not say.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return retryWait(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return limitReset(h)
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return retryWait(s)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return retryWait(at.Sub(now).Seconds())
}

// limitReset returns how long it takes until the last of the limits that are used up begins
// anew, by the headers that tell of each limit what remains and when it is reset: a length of
// time, seconds, a date, or seconds or milliseconds since 1970.
func limitReset(h http.Header) time.Duration {
	var longest time.Duration
	for name := range h {
		lower := strings.ToLower(name)
		if !strings.Contains(lower, "ratelimit") || !strings.Contains(lower, "reset") || h.Get(strings.ReplaceAll(lower, "reset", "remaining")) != "0" {
			continue
		}
		v := strings.TrimSpace(h.Get(name))
		n, err := strconv.ParseFloat(v, 64)
		at, noDate := time.Parse(time.RFC3339, v)
		switch {
		case err != nil && noDate == nil:
			n = time.Until(at).Seconds()
		case err != nil:
			d, _ := time.ParseDuration(v) // 0 of another form
			n = d.Seconds()
		case n > 1e12:
			n = time.Until(time.UnixMilli(int64(min(n, 1e15)))).Seconds()
		case n > 1e9:
			n = time.Until(time.Unix(int64(n), 0)).Seconds()
		}
		longest = max(longest, retryWait(n))
	}
	return longest
}

var saidWait = regexp.MustCompile(`(?:try(?:ing)? again|retry(?:ing)?|wait|reset|available)s?(?: (?:in|after|for|at least|again))* ((?:[\d.]+ ?(?:ms|h|m|s))+|[\d.]+ ?(?:seconds?|secs?|minutes?|mins?))\b`)

var shortUnits = strings.NewReplacer("seconds", "s", "second", "s", "secs", "s", "sec", "s", "minutes", "m", "minute", "m", "mins", "m", "min", "m", " ", "")

// waitIn returns the wait that the words of an error ask for; 0 if none.
func waitIn(message string) time.Duration {
	found := saidWait.FindStringSubmatch(strings.ToLower(message))
	if found == nil {
		return 0
	}
	d, err := time.ParseDuration(shortUnits.Replace(found[1]))
	if err != nil {
		return 0
	}
	return retryWait(d.Seconds())
}

func retryWait(seconds float64) time.Duration {
	if !(seconds > 0) { // NaN as well
		return 0
	}
	return time.Duration(min(seconds, longestRetryAfter.Seconds()) * float64(time.Second))
}

// ErrorInAnswer returns the error of a reason that came within an answer.
func ErrorInAnswer(r ErrorReason) *EndpointError {
	if r.Message == "" {
		r.Message = errBroken.Error()
	}
	return &EndpointError{status: httpStatus(r.number), retryAfter: max(r.wait, waitIn(r.Message)), Reason: r}
}

// FailureIn returns the error in the value of an error field, or nil when it reports none.
func FailureIn(raw json.RawMessage) error {
	if !isSet(raw) {
		return nil
	}
	r := ReadError(raw)
	if r.IsFailure() || r.Message == "" && r.Code != "" && r.Code != "0" && r.Code != "200" {
		return ErrorInAnswer(r)
	}
	return nil
}

// isSet reports whether a value of JSON is more than null, false or empty.
func isSet(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", "0", `""`, "{}", "[]":
		return false
	}
	return true
}

// CutAnswer returns the error of an answer that came to nothing, with the words in it.
func CutAnswer(words []byte) error {
	text := PlainWords(words)
	if text == "" {
		return errCut
	}
	r := &EndpointError{Reason: ErrorReason{Message: text}}
	if k := r.kindByWords(llm.Garbled); k != llm.Garbled {
		return r
	}
	return fmt.Errorf("the answer is no completion: %s", text)
}

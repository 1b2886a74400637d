package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// unreachable is a transport error before the response headers.
type unreachable struct{ error }

// Unwrap returns the transport's error.
func (e *unreachable) Unwrap() error { return e.error }

// explain converts the error of a failed call and removes the key. ctx is the
// caller's context and call the one with the timeouts.
func (c *Client) explain(ctx, call context.Context, err error) *llm.Error {
	switch {
	case ctx.Err() != nil:
		return llm.Interrupted(ctx)
	case call.Err() != nil:
		return timedOut(context.Cause(call))
	}
	e := classifyError(err)
	e.Err = errors.New(c.scrub(e.Err.Error())) // drops wrapped errors, which may contain the key
	return e
}

// classifyError returns err with its kind.
func classifyError(err error) *llm.Error {
	if r := asRefusal(err); r != nil {
		return &llm.Error{Kind: r.kind(), Status: r.status, RetryAfter: r.retryAfter, Err: r}
	}
	if _, ok := errors.AsType[*unreachable](err); ok {
		return &llm.Error{Kind: llm.Unavailable, Err: err}
	}
	switch {
	case errors.Is(err, goopenai.ErrChatCompletionInvalidModel), errors.Is(err, goopenai.ErrReasoningToolsRequireResponses):
		return &llm.Error{Kind: llm.NoModel, Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF), isNet(err):
		err = errCut
	}
	return &llm.Error{Kind: llm.Garbled, Err: err}
}

// asRefusal returns the endpoint's own error in err, or nil.
func asRefusal(err error) *apiError {
	r, _ := errors.AsType[*apiError](err)
	return r
}

func isNet(err error) bool {
	_, ok := errors.AsType[net.Error](err)
	return ok
}

// scrub removes the key in case an endpoint or the library repeats it.
func (c *Client) scrub(s string) string {
	if c.options.APIKey == "" {
		return s
	}
	return strings.ReplaceAll(s, c.options.APIKey, "***")
}

// An apiError is an error that the endpoint reported, by status or within an answer
// (status 0).
type apiError struct {
	status int
	// retryAfter is the wait that the endpoint asks for; 0 if none.
	retryAfter time.Duration
	reason     errorReason
}

// Error returns the reason that the endpoint gave, clipped.
func (r *apiError) Error() string {
	switch {
	case r.reason.Message != "":
		return textformat.ClipBytes(r.reason.Message, 300)
	case r.reason.Code != "":
		return "the endpoint gives no reason but " + textformat.ClipBytes(r.reason.Code, 100)
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

var saidWait = regexp.MustCompile(`(?:try again|retry) (?:in|after) ((?:[\d.]+ ?(?:ms|s|m|h))+|[\d.]+ seconds)`)

// waitIn returns the wait that the words of an error ask for; 0 if none.
func waitIn(message string) time.Duration {
	found := saidWait.FindStringSubmatch(strings.ToLower(message))
	if found == nil {
		return 0
	}
	d, err := time.ParseDuration(strings.ReplaceAll(strings.ReplaceAll(found[1], " seconds", "s"), " ", ""))
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

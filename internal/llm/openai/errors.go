package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
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
		return &llm.Error{Kind: llm.Timeout, Err: context.Cause(call)}
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

// asRefusal returns the endpoint's own error in err, or nil. The library has its own
// type for an error in the first event.
func asRefusal(err error) *apiError {
	if r, ok := errors.AsType[*apiError](err); ok {
		return r
	}
	e, ok := errors.AsType[*goopenai.APIError](err)
	if !ok {
		return nil
	}
	r := &apiError{reason: errorReason{Message: e.Message, Code: e.Type}}
	if e.Param != nil {
		r.reason.Param = *e.Param
	}
	switch code := e.Code.(type) {
	case string:
		r.reason.Code += " " + code
	case int:
		r.status = httpStatus(code)
	}
	return r
}

// httpStatus returns code if it is an HTTP error status, else 0.
func httpStatus(code int) int {
	if code >= 400 && code <= 599 {
		return code
	}
	return 0
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

// Phrases in the errors of endpoints, in lower case.
var (
	saysTooLong = []string{
		"context_length", "context length", "context window", "context size", "maximum prompt length",
		"prompt is too long", "input is too long", "too many tokens", "string_above_max_length",
	}
	saysNoModel = []string{
		"model_not_found", "model not found", "unknown model", "invalid model", "not a valid model", "no such model",
	}
	saysDenied = []string{
		"invalid_api_key", "invalid api key", "api key not valid", "incorrect api key", "authentication_error", "permission_error",
	}
	saysSpent   = []string{"insufficient_quota", "insufficient_balance", "insufficient balance", "billing", "credit balance"}
	saysLimited = []string{"rate_limit", "rate limit", "too many requests", "resource_exhausted"}
)

// kind classifies an error by its status and, where endpoints disagree about the
// status, by phrases in its reason.
func (r *apiError) kind() llm.ErrorKind {
	says := func(phrases []string) bool { return r.reason.says(phrases) }
	switch s := r.status; {
	case s == http.StatusTooManyRequests && says(saysSpent):
		return llm.Denied
	case s == http.StatusTooManyRequests:
		return llm.Limited
	case s == http.StatusForbidden && says(saysNoModel), s == http.StatusNotFound:
		return llm.NoModel
	case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusPaymentRequired:
		return llm.Denied
	case s == http.StatusRequestEntityTooLarge, says(saysTooLong):
		return llm.TooLong
	case s == http.StatusRequestTimeout, s == http.StatusConflict, s == http.StatusTooEarly, s >= 500, s >= 300 && s < 400:
		return llm.Unavailable
	case says(saysNoModel):
		return llm.NoModel
	case says(saysDenied), says(saysSpent):
		return llm.Denied
	case s == 0 && says(saysLimited):
		return llm.Limited
	case s == 0:
		return llm.Unavailable // it accepted the request and failed later
	}
	return llm.Rejected
}

// says reports whether the reason contains one of phrases.
func (r errorReason) says(phrases []string) bool {
	text := strings.ToLower(r.Message + " " + r.Code + " " + r.Param)
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}

// An apiError is an error that the endpoint reported, by status or in the middle of
// a stream (status 0).
type apiError struct {
	status int
	// retryAfter reads the requested wait: milliseconds, seconds or a date, which is
	// relative to the endpoint's own clock. 0 without a header.
	retryAfter time.Duration
	// A reason holds the fields of an error body. Endpoints use different forms.
	reason errorReason
}

// Error returns the reason that the endpoint gave, clipped.
func (r *apiError) Error() string {
	if r.reason.Message != "" {
		return textformat.ClipBytes(r.reason.Message, 300)
	}
	return fmt.Sprintf("the endpoint gives no reason but %q", http.StatusText(r.status))
}

// An errorReason is what endpoints say in the body of an error. They agree on little.
type errorReason struct {
	Message string
	Code    string // code and type, joined
	Param   string
}

// readReason reads an error body in the forms {"error":{…}}, {"error":"…"},
// {"message":"…"} and {"detail":…}. Any other body gives an empty reason, since it
// may quote the prompt.
func readReason(body []byte) errorReason {
	var b struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Message json.RawMessage `json:"message"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
	}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) { // Google wraps it in a list
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	if json.Unmarshal(body, &b) != nil {
		return errorReason{}
	}
	switch {
	case len(b.Error) > 0:
		return readError(b.Error)
	case len(b.Message) > 0:
		return errorReason{Message: jsonText(b.Message), Code: jsonText(b.Code) + " " + jsonText(b.Type)}
	}
	return readDetail(b.Detail)
}

// readError reads the value of an "error" member.
func readError(raw json.RawMessage) errorReason {
	var e struct {
		Message json.RawMessage `json:"message"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
		Status  json.RawMessage `json:"status"`
		Param   json.RawMessage `json:"param"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return errorReason{Message: jsonText(raw)}
	}
	return errorReason{
		Message: jsonText(e.Message),
		Code:    strings.TrimSpace(jsonText(e.Code) + " " + jsonText(e.Type) + " " + jsonText(e.Status)),
		Param:   jsonText(e.Param),
	}
}

// readDetail reads FastAPI's "detail": a text, or a list of which only location and
// message are used, never the quoted input.
func readDetail(raw json.RawMessage) errorReason {
	var list []struct {
		Loc []json.RawMessage `json:"loc"`
		Msg string            `json:"msg"`
	}
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return errorReason{Message: jsonText(raw)}
	}
	var r errorReason
	for _, part := range list[0].Loc {
		r.Param = strings.TrimPrefix(r.Param+"."+jsonText(part), ".")
	}
	r.Message = strings.TrimSpace(r.Param + ": " + list[0].Msg)
	return r
}

// jsonText returns a JSON string or number as text, and "" for other values.
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
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

func retryWait(seconds float64) time.Duration {
	if !(seconds > 0) { // NaN as well
		return 0
	}
	return time.Duration(min(seconds, longestRetryAfter.Seconds()) * float64(time.Second))
}

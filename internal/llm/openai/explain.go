package openai

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// unreachable is an error of the transport before there were response headers.
type unreachable struct{ error }

// Unwrap returns what the transport said.
func (e *unreachable) Unwrap() error { return e.error }

// explain says what a failed call means to the caller, in words free of the key.
// ctx is the caller's context and call the watched one below it.
func (c *Client) explain(ctx, call context.Context, err error) *llm.Error {
	switch {
	case ctx.Err() != nil:
		return llm.Interrupted(ctx)
	case call.Err() != nil:
		return &llm.Error{Kind: llm.Timeout, Err: context.Cause(call)}
	}
	e := classify(err)
	e.Err = errors.New(c.scrub(e.Err.Error())) // and without what err wraps
	return e
}

// classify finds the kind of err.
func classify(err error) *llm.Error {
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

// asRefusal returns the endpoint's own words in err, or nil. The library has its
// own type for an error that is the first thing in an event.
func asRefusal(err error) *apiError {
	if r, ok := errors.AsType[*apiError](err); ok {
		return r
	}
	e, ok := errors.AsType[*goopenai.APIError](err)
	if !ok {
		return nil
	}
	r := &apiError{reason: reason{Message: e.Message, Code: e.Type}}
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

// httpStatus returns code when it is the status of an HTTP error, else 0.
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

// scrub removes the key, should an endpoint or a library repeat it.
func (c *Client) scrub(s string) string {
	if c.options.APIKey == "" {
		return s
	}
	return strings.ReplaceAll(s, c.options.APIKey, "***")
}

// What endpoints say, in lower case.
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

// kind sorts a refusal by its status and, where endpoints disagree about the
// status, by its words.
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
		return llm.Unavailable // it had accepted the request and then broke
	}
	return llm.Rejected
}

// says reports whether the reason contains one of phrases.
func (r reason) says(phrases []string) bool {
	text := strings.ToLower(r.Message + " " + r.Code + " " + r.Param)
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}

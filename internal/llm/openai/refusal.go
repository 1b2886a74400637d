package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// An apiError is an error that the endpoint itself stated, by status or in the
// middle of a stream (status 0).
type apiError struct {
	status     int
	retryAfter time.Duration
	reason     reason
}

// Error returns the reason that the endpoint gave, cut short.
func (r *apiError) Error() string {
	if r.reason.Message != "" {
		return textformat.ClipBytes(r.reason.Message, 300)
	}
	return fmt.Sprintf("the endpoint gives no reason but %q", http.StatusText(r.status))
}

// A reason is what endpoints say in the body of an error. They agree on little.
type reason struct {
	Message string
	Code    string // code and type, joined
	Param   string
}

// readReason finds the reason in the body of an error in the forms
// {"error":{…}}, {"error":"…"}, {"message":"…"} and {"detail":…}. A body in no
// known form gives an empty reason: it may quote the prompt.
func readReason(body []byte) reason {
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
		return reason{}
	}
	switch {
	case len(b.Error) > 0:
		return readError(b.Error)
	case len(b.Message) > 0:
		return reason{Message: plain(b.Message), Code: plain(b.Code) + " " + plain(b.Type)}
	}
	return readDetail(b.Detail)
}

// readError reads the value of an "error" member.
func readError(raw json.RawMessage) reason {
	var e struct {
		Message json.RawMessage `json:"message"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
		Status  json.RawMessage `json:"status"`
		Param   json.RawMessage `json:"param"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return reason{Message: plain(raw)}
	}
	return reason{
		Message: plain(e.Message),
		Code:    strings.TrimSpace(plain(e.Code) + " " + plain(e.Type) + " " + plain(e.Status)),
		Param:   plain(e.Param),
	}
}

// readDetail reads FastAPI's "detail": a text, or a list of which the place and
// the message are taken and never the quoted input.
func readDetail(raw json.RawMessage) reason {
	var list []struct {
		Loc []json.RawMessage `json:"loc"`
		Msg string            `json:"msg"`
	}
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return reason{Message: plain(raw)}
	}
	var r reason
	for _, part := range list[0].Loc {
		r.Param = strings.TrimPrefix(r.Param+"."+plain(part), ".")
	}
	r.Message = strings.TrimSpace(r.Param + ": " + list[0].Msg)
	return r
}

// plain returns a JSON text without quotes, a number as it is, and "" for the rest.
func plain(raw json.RawMessage) string {
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

// longestRetryAfter is the longest wait that a header is believed.
const longestRetryAfter = 24 * time.Hour

// retryAfter reads how long the endpoint asks to wait: milliseconds, seconds or
// a date, which counts from the endpoint's own clock. 0 when it does not say.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return span(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return span(s)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return span(at.Sub(now).Seconds())
}

func span(seconds float64) time.Duration {
	if !(seconds > 0) { // NaN as well
		return 0
	}
	return time.Duration(min(seconds, longestRetryAfter.Seconds()) * float64(time.Second))
}

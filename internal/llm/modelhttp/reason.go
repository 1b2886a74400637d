package modelhttp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// An ErrorReason is what endpoints say in an error. They agree on little.
type ErrorReason struct {
	Message string
	Code    string // codes and types, joined
	Param   string
	// number is the first number among the codes, such as an HTTP status or the code of
	// the provider; 0 without one.
	number int
	// wait is how long a field of the error asks to wait; 0 when none does.
	wait time.Duration
	// figures are the numbers that the error gives under names of their own, such as
	// n_ctx.
	figures map[string]int
}

// IsFailure reports whether the reason is more than a report of success.
func (r *ErrorReason) IsFailure() bool {
	return r.Message != "" && !successWords[strings.ToLower(r.Message)]
}

var successWords = map[string]bool{"ok": true, "success": true, "succeeded": true, "succeed": true}

// The names of the fields that hold an error's words, its codes, and errors within it,
// in lower case and without underscores.
var (
	messageFields = []string{
		"message", "msg", "errormsg", "errormessage", "errmsg", "statusmsg", "statusmessage", "errordescription", "faultstring",
		"error", "detail", "description", "reason", "title",
	}
	codeFields  = []string{"code", "type", "status", "errorcode", "errorno", "errortype", "statuscode", "httpcode", "errcode"}
	paramFields = []string{"param", "loc", "field"}
	innerFields = []string{
		"error", "errors", "baseresp", "fault", "detail", "details", "metadata", "raw", "header", "response", "exception", "cause",
		"innererror", "failure", "data", "message",
	}
)

// mostInner is how deep errors are searched within errors.
const mostInner = 10

// ReadReason returns the reason that a body gives: its error fields in any of the forms
// that endpoints use, the title of a page, or the first words of a plain text. JSON
// without such fields gives an empty reason, since it may quote the prompt.
func ReadReason(body []byte) ErrorReason {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	if bytes.HasPrefix(body, []byte("data:")) || bytes.HasPrefix(body, []byte("event:")) {
		events := EventReader{Body: bytes.NewReader(body)}
		if e, err := events.Next(); err == nil {
			body = e.Data
		}
	}
	switch {
	case len(body) == 0:
		return ErrorReason{}
	case body[0] == '<':
		return ErrorReason{Message: titleOf(body)}
	case body[0] != '{' && body[0] != '[' && body[0] != '"':
		return ErrorReason{Message: PlainWords(body)}
	}
	return ReadError(body)
}

// ReadError reads the value of an error: an object, a list or a text.
func ReadError(raw json.RawMessage) ErrorReason {
	decoder := json.NewDecoder(bytes.NewReader(mendJSON(raw)))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return ErrorReason{Message: PlainWords(raw)}
	}
	var r ErrorReason
	r.search(v, mostInner)
	r.searchWait(v, mostInner)
	r.Code, r.Param = strings.TrimSpace(r.Code), strings.TrimSpace(r.Param)
	if first, _, ok := strings.Cut(r.Param, " "); ok {
		r.Param = first
	}
	return r
}

// search adds what v says of an error.
func (r *ErrorReason) search(v any, depth int) {
	if depth == 0 {
		return
	}
	switch v := v.(type) {
	case string:
		if text := strings.TrimSpace(v); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
			var inner any
			if json.Unmarshal(mendJSON([]byte(text)), &inner) == nil {
				r.search(inner, depth-1)
				return
			}
		}
		r.addMessage(v)
	case []any:
		if len(v) > 0 {
			r.search(v[0], depth-1)
		}
	case map[string]any:
		r.searchFields(v, depth)
	}
}

// searchFields adds the fields of an object, then those of errors within it.
func (r *ErrorReason) searchFields(object map[string]any, depth int) {
	fields := make(map[string]any, len(object))
	for name, v := range object {
		fields[fieldName(name)] = v
	}
	for name, v := range object {
		if n, ok := v.(json.Number); ok {
			r.addFigure(name, n)
		}
	}
	for _, name := range codeFields {
		r.addCode(fields[name])
	}
	for _, name := range paramFields {
		r.Param += " " + paramText(fields[name])
	}
	for _, name := range messageFields {
		text, ok := fields[name].(string)
		if ok = ok && text != ""; !ok {
			continue
		}
		if loc := paramText(fields["loc"]); loc != "" { // FastAPI
			text = loc + ": " + text
		}
		r.search(text, depth-1)
		delete(fields, name)
		break
	}
	for _, name := range innerFields {
		if inner, ok := fields[name]; ok {
			r.search(inner, depth-1)
		}
	}
}

// keptMessage limits the bytes of each message of an error.
const keptMessage = 8 << 10

// addMessage adds words. The words of an inner error follow those around it.
func (r *ErrorReason) addMessage(text string) {
	text = strings.Join(strings.Fields(llm.CutText(text, keptMessage)), " ")
	switch {
	case text == "" || strings.Contains(r.Message, text):
	case r.Message == "" || strings.Contains(text, r.Message):
		r.Message = text
	default:
		r.Message += ": " + text
	}
}

func (r *ErrorReason) addCode(v any) {
	text := scalarText(v)
	if text == "" || text == "error" {
		return
	}
	if n, err := strconv.Atoi(text); err == nil && r.number == 0 {
		r.number = n
	}
	if !slices.Contains(strings.Fields(r.Code), text) {
		r.Code += " " + text
	}
}

// searchWait takes the wait that a field asks for, anywhere in the error: seconds, or a
// length of time.
func (r *ErrorReason) searchWait(v any, depth int) {
	switch v := v.(type) {
	case []any:
		for i := 0; i < len(v) && depth > 0; i++ {
			r.searchWait(v[i], depth-1)
		}
	case map[string]any:
		for name, inner := range v {
			unit, isWait := waitFields[fieldName(name)]
			if text := scalarText(inner); isWait && text != "" {
				d, err := time.ParseDuration(text)
				if n, bad := strconv.ParseFloat(text, 64); bad == nil {
					d, err = retryWait(n*unit.Seconds()), nil
				}
				if err == nil {
					r.wait = max(r.wait, retryWait(d.Seconds()))
				}
			} else if depth > 0 {
				r.searchWait(inner, depth-1)
			}
		}
	}
}

// waitFields are the names of fields that ask to wait, and the unit of their numbers.
var waitFields = map[string]time.Duration{
	"retrydelay": time.Second, "retryafter": time.Second, "retryafterseconds": time.Second, "quotaresetdelay": time.Second,
	"retryafterms": time.Millisecond, "resetsinseconds": time.Second, "resetafterseconds": time.Second,
}

// fieldName returns a name of a field in lower case and without underscores.
func fieldName(name string) string { return strings.ToLower(withoutMarks.Replace(name)) }

var withoutMarks = strings.NewReplacer("_", "", "-", "", ",", "")

func (r *ErrorReason) addFigure(name string, number json.Number) {
	n, err := number.Int64()
	if err != nil || n <= 0 || n > 1<<31-1 {
		return
	}
	if r.figures == nil {
		r.figures = map[string]int{}
	}
	r.figures[name] = int(n)
}

// scalarText returns a text or number of JSON as text, and "" for other values.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// paramText returns the name of a field: a text, or the parts of a path.
func paramText(v any) string {
	path, ok := v.([]any)
	if !ok {
		return scalarText(v)
	}
	parts := make([]string, len(path))
	for i, part := range path {
		parts[i] = scalarText(part)
	}
	return strings.Join(parts, ".")
}

// httpStatus returns code if it is an HTTP error status, else 0.
func httpStatus(code int) int {
	if code >= 400 && code <= 599 && http.StatusText(code) != "" || code == 529 {
		return code
	}
	return 0
}

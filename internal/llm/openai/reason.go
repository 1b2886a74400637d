package openai

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// An errorReason is what endpoints say in an error. They agree on little.
type errorReason struct {
	Message string
	Code    string // codes and types, joined
	Param   string
	// number is the first number among the codes, such as an HTTP status or the code of
	// the provider; 0 without one.
	number int
	// figures are the numbers that the error gives under names of their own, such as
	// n_ctx.
	figures map[string]int
}

// isFailure reports whether the reason is more than a report of success.
func (r *errorReason) isFailure() bool {
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
		"innererror", "failure", "data",
	}
)

// mostInner is how deep errors are searched within errors.
const mostInner = 10

// readReason returns the reason that a body gives: its error fields in any of the forms
// that endpoints use, the title of a page, or the first words of a plain text. JSON
// without such fields gives an empty reason, since it may quote the prompt.
func readReason(body []byte) errorReason {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	if bytes.HasPrefix(body, []byte("data:")) || bytes.HasPrefix(body, []byte("event:")) {
		events := eventReader{body: bytes.NewReader(body)}
		if e, err := events.next(); err == nil {
			body = e.data
		}
	}
	switch {
	case len(body) == 0:
		return errorReason{}
	case body[0] == '<':
		return errorReason{Message: titleOf(body)}
	case body[0] != '{' && body[0] != '[' && body[0] != '"':
		return errorReason{Message: plainWords(body)}
	}
	return readError(body)
}

// readError reads the value of an error: an object, a list or a text.
func readError(raw json.RawMessage) errorReason {
	decoder := json.NewDecoder(bytes.NewReader(mendJSON(raw)))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return errorReason{Message: plainWords(raw)}
	}
	var r errorReason
	r.search(v, mostInner)
	r.Code, r.Param = strings.TrimSpace(r.Code), strings.TrimSpace(r.Param)
	if first, _, ok := strings.Cut(r.Param, " "); ok {
		r.Param = first
	}
	return r
}

// search adds what v says of an error.
func (r *errorReason) search(v any, depth int) {
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
func (r *errorReason) searchFields(object map[string]any, depth int) {
	fields := make(map[string]any, len(object))
	for name, v := range object {
		fields[strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))] = v
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

// addMessage adds words. The words of an inner error follow those around it.
func (r *errorReason) addMessage(text string) {
	text = strings.Join(strings.Fields(text), " ")
	switch {
	case text == "" || strings.Contains(r.Message, text):
	case r.Message == "" || strings.Contains(text, r.Message):
		r.Message = text
	default:
		r.Message += ": " + text
	}
}

func (r *errorReason) addCode(v any) {
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

func (r *errorReason) addFigure(name string, number json.Number) {
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

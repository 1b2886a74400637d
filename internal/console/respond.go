package console

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Pages writes the pages that are served without a credential.
type Pages interface {
	// ShowLogin writes the login page, with what was wrong unless that is empty.
	ShowLogin(w http.ResponseWriter, r *http.Request, code int, wrong string)
	// ShowOpened writes the page that leads a browser on after it used a link.
	ShowOpened(w http.ResponseWriter, r *http.Request)
	// ShowNotFound writes the page for an unknown address.
	ShowNotFound(w http.ResponseWriter, r *http.Request)
}

// A Responder writes errors as JSON to programs and as pages or text to browsers.
type Responder struct {
	Logger *slog.Logger
	Pages  Pages // may be nil where every route is of the API
}

// WriteJSON writes v as JSON.
func WriteJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(true)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // the reader has gone; the error cannot be reported
}

// JSONHandler serves as JSON what a request asks for.
func JSONHandler[A any](p Responder, ask func(*http.Request) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := ask(r)
		no, refused := errors.AsType[UserError](err)
		switch {
		case err == nil:
			WriteJSON(w, http.StatusOK, a)
		case refused:
			WriteJSON(w, http.StatusUnprocessableEntity, no.Refusal())
		case errors.Is(err, ErrParameter):
			p.BadParameter(w)
		default:
			p.FailInternal(w, r, err)
		}
	}
}

// Fail answers in the caller's form why nothing is served. A page has it in
// plain text: it needs no credential, so it shows nothing.
func (p Responder) Fail(w http.ResponseWriter, r *http.Request, code int, why string) {
	if forPrograms(r) {
		WriteJSON(w, code, ErrorAnswer{Error: why})
		return
	}
	http.Error(w, why, code)
}

// forPrograms reports whether the answer is read by a program.
func forPrograms(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/events" || strings.HasPrefix(r.URL.Path, "/health") ||
		r.Header.Get("Authorization") != ""
}

// FailInternal answers when our own part fails. The reason is logged, not shown: it
// may hold private data.
func (p Responder) FailInternal(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case r.Context().Err() != nil:
		p.Fail(w, r, http.StatusServiceUnavailable, "the caller has gone")
		return
	case errors.Is(err, ErrUnknown):
		p.NotFound(w, r)
		return
	}
	p.Logger.Error("request not answered", "path", r.URL.Path, "error", err)
	p.Fail(w, r, http.StatusInternalServerError, "the record does not answer; the log says why")
}

// NotFound answers when nothing has the name that was asked for.
func (p Responder) NotFound(w http.ResponseWriter, r *http.Request) {
	if forPrograms(r) {
		WriteJSON(w, http.StatusNotFound, ErrorAnswer{Error: "there is nothing of that name"})
		return
	}
	p.Pages.ShowNotFound(w, r)
}

// BadParameter answers a request whose parameters can not be read.
func (p Responder) BadParameter(w http.ResponseWriter) {
	WriteJSON(w, http.StatusBadRequest, ErrorAnswer{
		Error: "a parameter can not be read",
		Do:    "limit is a number up to 500, since a time such as 2h, 7d or 2026-01-31T00:00:00Z, before the word next of the page before",
	})
}

// An ErrorAnswer is the answer to what can not be done.
type ErrorAnswer struct {
	Error string `json:"error"`
	Do    string `json:"do,omitempty"`
}

// UserError is an error in words for the caller of the API.
type UserError interface {
	error
	Refusal() ErrorAnswer
}

// Nothing is the answer of a request that only changes something.
type Nothing struct{}

// NonNil returns the list, which in JSON is never null.
func NonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// QueryNumber reads a number of a request's query; 0 when there is none.
func QueryNumber(r *http.Request, name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, ErrParameter
	}
	return n, nil
}

// ErrParameter is returned for a parameter of a request that can not be read.
var ErrParameter = errors.New("no number")

// The sizes of pages.
const (
	DefaultLimit = 50
	maxPage      = 500
)

// QueryLimit reads how long a page is to be.
func QueryLimit(r *http.Request) (int, error) {
	n, err := QueryNumber(r, "limit")
	switch {
	case err != nil || n > maxPage:
		return 0, ErrParameter
	case n == 0:
		return DefaultLimit, nil
	}
	return int(n), nil
}

// QuerySince reads from when on something is asked for: a time, or a length of
// time before now.
func QuerySince(r *http.Request, now time.Time) (time.Time, error) {
	text := r.URL.Query().Get("since")
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if days, ok := cutDays(text); ok {
		return now.AddDate(0, 0, -days), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return time.Time{}, ErrParameter
	}
	return now.Add(-d), nil
}

func cutDays(text string) (int, bool) {
	if len(text) < 2 || text[len(text)-1] != 'd' {
		return 0, false
	}
	n, err := strconv.Atoi(text[:len(text)-1])
	return n, err == nil && n >= 0 && n < 10_000
}

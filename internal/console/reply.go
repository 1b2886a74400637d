package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// reply writes v as JSON.
func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(true)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // the reader has gone; the error cannot be reported
}

// told serves as JSON what a request asks for.
func told[A any](c *Console, ask func(*http.Request) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := ask(r)
		no, refused := errors.AsType[UserError](err)
		switch {
		case err == nil:
			reply(w, http.StatusOK, a)
		case refused:
			reply(w, http.StatusUnprocessableEntity, no.Refusal())
		case errors.Is(err, errNumber):
			c.misread(w)
		default:
			c.broken(w, r, err)
		}
	}
}

// fail says in the caller's form why nothing is served. A page says it in
// plain text: it needs no credential, so it shows nothing.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, code int, why string) {
	if forPrograms(r) {
		reply(w, code, ErrorAnswer{Error: why})
		return
	}
	http.Error(w, why, code)
}

// forPrograms reports whether the answer is read by a program.
func forPrograms(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/events" || strings.HasPrefix(r.URL.Path, "/health") ||
		r.Header.Get("Authorization") != ""
}

// broken answers when our own part fails. The reason is logged, not shown: it
// may hold what is nobody's business.
func (c *Console) broken(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case r.Context().Err() != nil:
		c.fail(w, r, http.StatusServiceUnavailable, "the caller has gone")
		return
	case errors.Is(err, ErrUnknown):
		c.missing(w, r)
		return
	}
	c.Logger.Error("request not answered", "path", r.URL.Path, "error", err)
	c.fail(w, r, http.StatusInternalServerError, "the record does not answer; the log says why")
}

// missing answers when nothing has the name that was asked for.
func (c *Console) missing(w http.ResponseWriter, r *http.Request) {
	if forPrograms(r) {
		reply(w, http.StatusNotFound, ErrorAnswer{Error: "there is nothing of that name"})
		return
	}
	c.render(w, r, http.StatusNotFound, "missing", &missing{})
}

// forHolders serves those with a token or a session.
func (c *Console) forHolders(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := c.authorise(r)
		switch {
		case err == nil:
			next(w, r)
		case errors.Is(err, errMany):
			w.Header().Set("Retry-After", "60")
			c.fail(w, r, http.StatusTooManyRequests, err.Error())
		case !errors.Is(err, errWrong):
			c.broken(w, r, err)
		case forPrograms(r) || r.Method != http.MethodGet:
			w.Header().Set("WWW-Authenticate", "Bearer")
			c.fail(w, r, http.StatusUnauthorized, err.Error())
		default:
			c.render(w, r, http.StatusUnauthorized, "login", &loginPage{})
		}
	}
}

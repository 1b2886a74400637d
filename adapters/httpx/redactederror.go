package httpx

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// maxWords bounds the words of a foreign error.
const maxWords = 1000

// hidden is a foreign error in words free of secrets. It unwraps to nothing but the
// context's errors, because the original may hold the request.
type hidden struct {
	words string
	cause error
}

// Error returns the words.
func (e *hidden) Error() string { return e.words }

// Unwrap returns context.Canceled, context.DeadlineExceeded or nil.
func (e *hidden) Unwrap() error { return e.cause }

// Hide keeps of err only its words without the secrets, behind the status if that is
// not 0, and whether the context ended it.
func Hide(err error, status int, secrets ...adapters.Secret) error {
	words := err.Error()
	if status != 0 {
		words = fmt.Sprintf("HTTP %d %s: %s", status, http.StatusText(status), words)
	}
	for _, s := range secrets {
		words = s.Scrub(words)
	}
	out := &hidden{words: strings.ToValidUTF8(words[:min(len(words), maxWords)], "")}
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, cause) {
			out.cause = cause
		}
	}
	return out
}

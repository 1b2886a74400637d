// Package redact removes credentials from the output of the program: those of the
// configuration in every encoding, and tokens in the formats of well-known services.
//
// Text that passes a [SecretRegistry] contains no added credential, neither plain nor
// URL-escaped, in JSON or Go quotes, or in base64, also after a change of the
// configuration. Tokens of known formats are hidden without being added. It is a
// second line of defence: code that creates an error keeps credentials out of it.
package redact

import (
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/trestle-bridge/trestle/adapters"
)

// Hidden replaces a credential.
const Hidden = "***"

// A SecretRegistry holds the credentials of one process. The zero value is empty and
// hides only tokens of known formats. It is safe for concurrent use.
type SecretRegistry struct {
	mu    sync.Mutex // guards known and forms
	known []adapters.SecretString
	forms []string

	replace atomic.Pointer[strings.Replacer]
	caught  atomic.Int64 // log texts with a credential
}

// shortest is the minimal length of a credential. Shorter values, such as "test" or
// "ollama", are placeholders for endpoints without keys; hiding them would damage
// unrelated text.
const shortest = 8

// AddSecrets adds credentials. It ignores known ones and those shorter than 8 bytes.
// Nothing is removed: a replaced token may still occur in text.
func (r *SecretRegistry) AddSecrets(all ...adapters.SecretString) {
	r.mu.Lock()
	defer r.mu.Unlock()
	added := false
	for _, s := range all {
		if len(s) >= shortest && !slices.Contains(r.known, s) {
			r.known, r.forms, added = append(r.known, s), append(r.forms, s.Forms()...), true
		}
	}
	if !added {
		return
	}
	// The longest first: a form may lie within another.
	slices.SortStableFunc(r.forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, form := range slices.Compact(r.forms) {
		pairs = append(pairs, form, Hidden)
	}
	r.replace.Store(strings.NewReplacer(pairs...))
}

// HideKnown returns text without the added credentials.
func (r *SecretRegistry) HideKnown(text string) string {
	if replace := r.replace.Load(); replace != nil {
		return replace.Replace(text)
	}
	return text
}

// Scrub returns text without the added credentials and without tokens of known
// formats.
func (r *SecretRegistry) Scrub(text string) string { return hideShapes(r.HideKnown(text)) }

// scrubLogged is Scrub for log records, which should contain no credential; it counts the
// texts that do.
func (r *SecretRegistry) scrubLogged(text string) string {
	clean := r.Scrub(text)
	if clean != text {
		r.caught.Add(1)
	}
	return clean
}

// Writer returns a writer that passes scrubbed text on to w. Each call of Write is
// one text.
func (r *SecretRegistry) Writer(w io.Writer) io.Writer { return &writer{w, r.Scrub} }

// ExactWriter returns a writer like Writer that hides only the added credentials, for
// output that must be exact otherwise.
func (r *SecretRegistry) ExactWriter(w io.Writer) io.Writer { return &writer{w, r.HideKnown} }

type writer struct {
	to    io.Writer
	clean func(string) string
}

// Write reports all of text as written when the scrubbed text was.
func (w *writer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.clean(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Handler returns a handler that passes log records on to h with message and
// attributes scrubbed.
func (r *SecretRegistry) Handler(h slog.Handler) slog.Handler { return &handler{next: h, known: r} }

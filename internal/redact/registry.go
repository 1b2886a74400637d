// Package redact keeps credentials out of what the program says: it knows those
// of the configuration in every form they take inside other text, and the shape
// of the tokens of well-known services.
//
// It promises that text which passes it holds no credential it was told of, as it
// is, escaped for a URL, in JSON or in Go's quotes, or in base64; that a token of
// a known shape is hidden although nobody told of it; and that what it was told
// once stays hidden although the configuration has changed since. It is the last
// line and not the first: whoever makes an error keeps credentials out of it.
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

// Hidden stands in the place of a credential.
const Hidden = "***"

// A SecretRegistry knows the credentials of one process. The zero value knows none and
// hides tokens of known shapes only. It is safe for concurrent use.
type SecretRegistry struct {
	mu    sync.Mutex // guards known and forms
	known []adapters.Secret
	forms []string

	replace atomic.Pointer[strings.Replacer]
	caught  atomic.Int64 // texts of log records that held something to hide
}

// shortest is how many bytes a credential has at least. What is shorter is the
// word that endpoints without keys are given, such as "test" or "ollama": it is
// no secret, and hiding it would tear it out of every text it happens to be in.
const shortest = 8

// Know adds credentials; those that are too short to be any and those it knows
// are passed over. Nothing is ever forgotten: a token that was replaced may still
// be on its way.
func (r *SecretRegistry) Know(all ...adapters.Secret) {
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

// Known returns text without the credentials that the registry was told of.
func (r *SecretRegistry) Known(text string) string {
	if replace := r.replace.Load(); replace != nil {
		return replace.Replace(text)
	}
	return text
}

// Scrub returns text without credentials: those that the registry was told of,
// and whatever has the shape of a well-known token.
func (r *SecretRegistry) Scrub(text string) string { return hideShapes(r.Known(text)) }

// logged is Scrub for texts of log records, which should hold no credential: those
// that do are counted.
func (r *SecretRegistry) logged(text string) string {
	clean := r.Scrub(text)
	if clean != text {
		r.caught.Add(1)
	}
	return clean
}

// Writer returns a writer that passes text on to w scrubbed. What is written in
// one call is looked at as one text.
func (r *SecretRegistry) Writer(w io.Writer) io.Writer { return &writer{w, r.Scrub} }

// Answers returns a writer like Writer that hides only what the registry was
// told of, for what has to be exact otherwise.
func (r *SecretRegistry) Answers(w io.Writer) io.Writer { return &writer{w, r.Known} }

type writer struct {
	to    io.Writer
	clean func(string) string
}

// Write reports all of text as written when what remains of it was.
func (w *writer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.clean(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Handler returns a handler of log records that passes them on to h scrubbed: the
// message, and the attributes in whatever form they come.
func (r *SecretRegistry) Handler(h slog.Handler) slog.Handler { return &handler{next: h, known: r} }

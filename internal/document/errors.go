package document

import (
	"archive/zip"
	"context"
	"errors"
)

// Problems of a file, found with errors.Is in the error of [Extract]. Their texts say
// what a person can do.
var (
	ErrUnknownKind = errors.New("it is of a kind that cannot be read as text; PDF, DOCX, XLSX, PPTX, ODT, EPUB, HTML and plain text can")
	ErrEncrypted   = errors.New("it is protected by a password; send a copy without one")
	ErrDamaged     = errors.New("it is damaged or incomplete; save it anew and send it again")
	ErrTooLarge    = errors.New("it is too large to be read; send the part that matters")
	ErrNoText      = errors.New("there is no text in it, only pictures or nothing; send a version with text")
	ErrTimeout     = errors.New("reading it took too long; send the part that matters")
)

// ExtractError is the reason why a file has no text for us.
type ExtractError struct {
	Kind    FileKind // "" when it is not known
	Problem error    // one of the problems above
	Hint    string   // what to do instead of what Problem says; may be empty
	cause   error    // of a library, for a log; it may quote the file
}

// Error returns a sentence for people. It quotes nothing of the file.
func (e *ExtractError) Error() string {
	name := "the file"
	if e.Kind != "" {
		name = e.Kind.Describe()
	}
	words := e.Problem.Error()
	if e.Hint != "" {
		words = e.Hint
	}
	return name + ": " + words
}

// Unwrap returns the problem and the cause.
func (e *ExtractError) Unwrap() []error { return []error{e.Problem, e.cause} }

// asExtractError returns err as an ExtractError of a kind. An error without a problem
// of ours is a damaged file.
func asExtractError(kind FileKind, err error) error {
	var known *ExtractError
	switch {
	case errors.As(err, &known):
		if known.Kind == "" {
			known.Kind = kind
		}
		return known
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum), errors.Is(err, zip.ErrAlgorithm):
		return &ExtractError{Kind: kind, Problem: ErrDamaged, cause: err}
	}
	for _, p := range []error{ErrUnknownKind, ErrEncrypted, ErrTooLarge, ErrNoText, ErrTimeout} {
		if errors.Is(err, p) {
			return &ExtractError{Kind: kind, Problem: p, cause: err}
		}
	}
	return &ExtractError{Kind: kind, Problem: ErrDamaged, cause: err}
}

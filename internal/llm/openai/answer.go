package openai

import (
	"bytes"
	"errors"
	"io"
)

var (
	errTooLarge = errors.New("the answer is larger than allowed")
	errWebPage  = errors.New("the endpoint answered with a web page")
)

// An answer is a response body made safe and uniform: limited in bytes, watched
// for silence, and always an event stream. A plain JSON body becomes a stream of
// one event, since its line breaks can only be white space between tokens.
type answer struct {
	src   io.ReadCloser
	left  int64  // bytes still allowed
	heard func() // told whenever something arrives
	shape shape
	head  []byte // given out before the rest of src
	err   error  // final, given out after head
}

type shape int

const (
	unseen shape = iota
	events
	whole
)

// discardBytes is the most that discard reads.
const discardBytes = 4 << 10

// Read gives out the body as an event stream.
func (a *answer) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(a.head) == 0 && a.err != nil {
		return 0, a.err
	}
	if len(a.head) > 0 {
		n := copy(p, a.head)
		a.head = a.head[n:]
		return n, nil
	}
	n, err := a.take(p)
	switch {
	case err == io.EOF: //nolint:errorlint // a reader's own io.EOF is never wrapped
		a.err = err
		a.head = []byte("\n") // the library drops an unfinished last line
	case err != nil:
		a.err = err
	}
	if a.shape == unseen {
		return 0, a.recognise(p[:n])
	}
	if a.shape == whole {
		flatten(p[:n])
	}
	return n, nil
}

// take reads from the source under the limits.
func (a *answer) take(p []byte) (int, error) {
	n, err := a.src.Read(p)
	if n > 0 {
		a.heard()
	}
	if a.left -= int64(n); a.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// recognise looks at the first bytes that are not white space, whatever the
// content type claims, and queues them.
func (a *answer) recognise(first []byte) error {
	first = bytes.TrimLeft(first, "\ufeff \t\r\n")
	if len(first) == 0 {
		return nil
	}
	rest := a.head // the line end queued at an immediate end of the source
	switch first[0] {
	case '<':
		a.err = errWebPage
		return errWebPage
	case '{':
		a.shape = whole
		flatten(first)
		a.head = append([]byte("data: "), first...)
	default:
		a.shape = events
		a.head = bytes.Clone(first)
	}
	a.head = append(a.head, rest...)
	return nil
}

func flatten(p []byte) {
	for i, b := range p {
		if b == '\n' || b == '\r' {
			p[i] = ' '
		}
	}
}

// discard reads on to the end of the source, or a little way.
func (a *answer) discard() {
	_, _ = io.CopyN(io.Discard, a.src, discardBytes)
}

// Close closes the source.
func (a *answer) Close() error { return a.src.Close() }

package openai

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// errBodyClosed is what a reader of a body gives after its end.
var errBodyClosed = errors.New("the body of the request is closed")

// keptBytes bounds the room of a body that is kept for later ones.
const keptBytes = 1 << 20

// payloads are the bodies of finished requests, whose room later ones fill: the
// bodies are what a call allocates most of.
type payloads struct{ unused sync.Pool }

// A payload is the body of one request. The transport may read it after it has
// returned, so its room is given back when its maker and every reader are done.
type payload struct {
	bytes []byte
	users atomic.Int32
	home  *payloads
}

// take returns an empty body with one user, the caller.
func (p *payloads) take() *payload {
	b, ok := p.unused.Get().(*payload)
	if !ok {
		b = &payload{home: p}
	}
	b.users.Store(1)
	return b
}

// release ends one use.
func (b *payload) release() {
	if b.users.Add(-1) > 0 || cap(b.bytes) > keptBytes {
		return
	}
	b.bytes = b.bytes[:0]
	b.home.unused.Put(b)
}

// open returns the body for reading, from its beginning. Only a user may open it.
func (b *payload) open() io.ReadCloser {
	b.users.Add(1)
	return &payloadReader{of: b}
}

// A payloadReader reads a payload until it is closed, which may happen while it
// reads.
type payloadReader struct {
	mu sync.Mutex // guards the rest
	of *payload   // nil once closed
	at int
}

// Read implements [io.Reader].
func (r *payloadReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		return 0, errBodyClosed
	}
	n := copy(p, r.of.bytes[r.at:])
	r.at += n
	if r.at == len(r.of.bytes) {
		return n, io.EOF
	}
	return n, nil
}

// writeTo writes what is left to w, at most so many bytes. It may be closed
// meanwhile: what is written stays a use of the payload until it is.
func (r *payloadReader) writeTo(w io.Writer, most int64) (int64, error) {
	r.mu.Lock()
	of, from := r.of, r.at
	if of == nil {
		r.mu.Unlock()
		return 0, errBodyClosed
	}
	of.users.Add(1)
	defer of.release()
	rest := of.bytes[from:]
	rest = rest[:min(int64(len(rest)), most)]
	r.at += len(rest)
	r.mu.Unlock()
	n, err := w.Write(rest)
	return int64(n), err
}

// Close implements [io.Closer].
func (r *payloadReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of != nil {
		r.of.release()
		r.of = nil
	}
	return nil
}

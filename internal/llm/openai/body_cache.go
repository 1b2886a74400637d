package openai

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// errBodyClosed is returned by Read after Close.
var errBodyClosed = errors.New("the body of the request is closed")

// Limits of the body cache: bytes of one body, bytes of a generation, and how long
// bodies are kept after the last call.
const (
	keptBytes       = 1 << 20
	generationBytes = 8 << 20 // of fifty conversations with full windows
	keptFor         = 500 * time.Millisecond
)

// A bodyCache holds the bodies of finished requests for reuse: the next request of
// the same conversation rewrites the part that differs, any other reuses the memory.
type bodyCache struct {
	unused sync.Pool

	mu sync.Mutex // guards the rest
	// Bodies are kept by conversation in two generations: when young is full it
	// becomes old, and the previous old ones are released.
	young, old map[string]*payload
	bytes      int         // of the room of young
	rest       *time.Timer // drops all bodies; nil before the first is kept
}

// A payload is the body of one request. The transport may still read it after it has
// returned, so a payload is reused only when its owner and all readers have released
// it.
type payload struct {
	requestBody
	users atomic.Int32
	home  *bodyCache
}

// take returns a body with one user, the caller: the conversation's last one unless
// it is still being read, or another. key is empty without a conversation.
func (p *bodyCache) take(key string) *payload {
	if b := p.takeLast(key); b != nil {
		return b
	}
	b, ok := p.unused.Get().(*payload)
	if !ok {
		b = &payload{home: p}
	}
	b.users.Store(1)
	return b
}

// takeLast removes and returns the body of a conversation, or returns nil.
func (p *bodyCache) takeLast(key string) *payload {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, young := p.young[key]
	if !young {
		b = p.old[key]
	}
	if b == nil || b.users.Load() > 1 {
		return nil
	}
	if young {
		p.bytes -= b.memorySize()
	}
	delete(p.young, key)
	delete(p.old, key)
	return b
}

// putFor ends the owner's use of a body and stores it for the conversation.
func (p *bodyCache) putFor(key string, b *payload) {
	if key == "" || cap(b.bytes) > keptBytes {
		b.release()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.young[key] != nil || p.old[key] != nil { // stored by a concurrent call
		b.release()
		return
	}
	if p.young == nil || p.bytes > generationBytes {
		for _, b := range p.old {
			b.release()
		}
		p.old, p.young, p.bytes = p.young, map[string]*payload{}, 0
	}
	p.young[key] = b
	p.bytes += b.memorySize()
	if p.rest == nil {
		p.rest = time.AfterFunc(keptFor, p.dropAll)
	} else {
		p.rest.Reset(keptFor)
	}
}

// dropAll drops all stored bodies.
func (p *bodyCache) dropAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.young, p.old, p.bytes = nil, nil, 0
}

// release ends one use.
func (b *payload) release() {
	if b.users.Add(-1) > 0 || cap(b.bytes) > keptBytes {
		return
	}
	b.home.unused.Put(b)
}

// open returns a reader of the body. The caller must be a user of it.
func (b *payload) open() io.ReadCloser {
	b.users.Add(1)
	return &payloadReader{of: b}
}

// A payloadReader reads a payload until it is closed. Close may be called during
// Read.
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

// writeTo writes at most that many of the remaining bytes to w. If the reader is
// closed meanwhile, the payload stays in use until the write returns.
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

// A zeroCopyConn writes a payload directly from its memory. The transport would copy
// it through a buffer of its own.
type zeroCopyConn struct{ net.Conn }

// ReadFrom implements [io.ReaderFrom].
func (d zeroCopyConn) ReadFrom(src io.Reader) (int64, error) {
	if l, ok := src.(*io.LimitedReader); ok {
		if p, ok := l.R.(*payloadReader); ok {
			n, err := p.writeTo(d.Conn, l.N)
			l.N -= n
			return n, err
		}
	}
	return io.Copy(struct{ io.Writer }{d.Conn}, src)
}

// zeroCopyDialer wraps the connections of a dialer as zeroCopyConn.
func zeroCopyDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return zeroCopyConn{c}, nil
	}
}

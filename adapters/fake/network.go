package fake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// A MemoryNetwork is a loopback that exists only in memory: a listener on a name is
// reached by dialling that name, over net.Pipe. Because its connections are made of
// channels, everything on it works inside a testing/synctest bubble. The zero value is
// an empty network, ready for use by several goroutines.
type MemoryNetwork struct {
	mu        sync.Mutex // guards what follows
	listeners map[string]*pipeListener
}

// errRefused is returned by dialling a name without a listener.
var errRefused = errors.New("connection refused")

// Listen opens the name, such as "telegram.test:80" or "telegram.test" (port 80
// is then meant). It fails when a person listens there already. Closing the
// listener frees the name and leaves accepted connections alone.
func (n *MemoryNetwork) Listen(name string) (net.Listener, error) {
	name = withPort(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, taken := n.listeners[name]; taken {
		return nil, &net.OpError{Op: "listen", Net: "pipe", Addr: pipeAddr(name), Err: errors.New("address in use")}
	}
	if n.listeners == nil {
		n.listeners = make(map[string]*pipeListener)
	}
	l := &pipeListener{
		addr:    pipeAddr(name),
		backlog: make(chan net.Conn),
		closed:  make(chan struct{}),
		forget: func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(n.listeners, name)
		},
	}
	n.listeners[name] = l
	return l, nil
}

// DialContext connects to the listener of that name. The network argument is
// ignored. Its signature fits [http.Transport].
func (n *MemoryNetwork) DialContext(ctx context.Context, _, name string) (net.Conn, error) {
	name = withPort(name)
	n.mu.Lock()
	l := n.listeners[name]
	n.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: pipeAddr(name), Err: errRefused}
	}
	near, far := net.Pipe()
	select {
	case l.backlog <- far:
		return near, nil
	case <-l.closed:
		return nil, errors.Join(&net.OpError{Op: "dial", Net: "pipe", Addr: l.addr, Err: errRefused}, near.Close(), far.Close())
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("dial %s: %w", name, context.Cause(ctx)), near.Close(), far.Close())
	}
}

// Client returns an HTTP client that reaches only this network. The caller
// closes its idle connections when done, as with any client.
func (n *MemoryNetwork) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:         n.DialContext,
		MaxIdleConnsPerHost: 64,
	}}
}

func withPort(name string) string {
	if _, _, err := net.SplitHostPort(name); err != nil {
		return name + ":80"
	}
	return name
}

type pipeAddr string

// Network implements [net.Addr].
func (pipeAddr) Network() string { return "pipe" }

// String implements [net.Addr].
func (a pipeAddr) String() string { return string(a) }

type pipeListener struct {
	addr    pipeAddr
	backlog chan net.Conn
	closed  chan struct{}
	once    sync.Once
	forget  func()
}

// Accept implements [net.Listener].
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.backlog:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "pipe", Addr: l.addr, Err: net.ErrClosed}
	}
}

// Close implements [net.Listener]. Later calls do nothing.
func (l *pipeListener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.forget()
	})
	return nil
}

// Addr implements [net.Listener].
func (l *pipeListener) Addr() net.Addr { return l.addr }

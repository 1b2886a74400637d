package servertest

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// A Link stands between a program and a server, and can break what passes.
type Link struct {
	listener net.Listener
	target   string
	losing   atomic.Bool // the next answer is swallowed, and its connection cut
	passing  sync.WaitGroup

	mu    sync.Mutex // guards what follows
	open  map[net.Conn]bool
	isCut bool
}

// NewLink opens a link to a server's address. It ends with the test.
func NewLink(tb testing.TB, target string) *Link {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // loopback, at once
	if err != nil {
		tb.Fatal(err)
	}
	l := &Link{listener: listener, target: target, open: map[net.Conn]bool{}}
	l.passing.Go(l.accept)
	tb.Cleanup(func() {
		_ = listener.Close()
		l.Cut()
		l.passing.Wait()
	})
	return l
}

// Port is where the link listens.
func (l *Link) Port() int { return l.listener.Addr().(*net.TCPAddr).Port }

// Cut breaks every connection and refuses new ones until [Link.Mend].
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for c := range l.open {
		_ = c.Close()
	}
	clear(l.open)
}

// Mend lets connections through again.
func (l *Link) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = false
}

// LoseAnswer swallows the next thing that the server says on any connection and
// cuts that connection.
func (l *Link) LoseAnswer() { l.losing.Store(true) }

func (l *Link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.target) //nolint:noctx // loopback, at once
		if err != nil || !l.keep(near, far) {
			_ = near.Close()
			continue
		}
		l.passing.Go(func() { l.pass(far, near, false) })
		l.passing.Go(func() { l.pass(near, far, true) })
	}
}

// keep remembers both ends of a connection, unless the link is cut.
func (l *Link) keep(near, far net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut {
		_ = far.Close()
		return false
	}
	l.open[near], l.open[far] = true, true
	return true
}

func (l *Link) pass(to, from net.Conn, answers bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	bytes := make([]byte, 32<<10)
	for {
		n, err := from.Read(bytes)
		if answers && n > 0 && l.losing.CompareAndSwap(true, false) {
			return
		}
		if n > 0 {
			if _, failed := to.Write(bytes[:n]); failed != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

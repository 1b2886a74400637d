package testservers

import (
	"net"
	"sync"
	"testing"
	"time"
)

// A ProxyDirection is a direction in which things pass, or several.
type ProxyDirection uint8

// The ways of a link.
const (
	Questions ProxyDirection = 1 << iota // to the server
	Answers                              // from it
	Both      = Questions | Answers
)

// A ProxyFault is what a link does to what passes. The zero Harm lets everything
// through.
type ProxyFault struct {
	// Refuse breaks every connection and refuses new ones.
	Refuse bool
	// Hold keeps back what goes these ways, as a network does that lost its route:
	// connections stay open, and what was kept back passes when the harm is over.
	Hold ProxyDirection
	// Delay is how long each piece takes.
	Delay time.Duration
	// Slow lets answers pass byte by byte, so many in a hundredth of a second.
	Slow int
	// After resets each connection once so many bytes of answers have passed, in the
	// middle of a word if need be.
	After int64
}

// A FaultProxy is between a program and a server, and harms what passes.
type FaultProxy struct {
	listener net.Listener
	passing  sync.WaitGroup

	mu     sync.Mutex // guards what follows
	target string
	open   map[*pair]bool
	harm   ProxyFault
	over   chan struct{} // closed when another harm begins
	losing bool          // the next answer is swallowed, and its connection cut
}

// A pair is one connection, with both its ends.
type pair struct {
	link      *FaultProxy
	near, far net.Conn
	gone      chan struct{} // closed when it ends
	once      sync.Once
}

// NewLink opens a link to a server's address. It ends with the test.
func NewLink(tb testing.TB, target string) *FaultProxy {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // loopback, at once
	if err != nil {
		tb.Fatal(err)
	}
	l := &FaultProxy{listener: listener, target: target, open: map[*pair]bool{}, over: make(chan struct{})}
	l.passing.Go(l.accept)
	tb.Cleanup(func() {
		_ = listener.Close()
		l.Cut()
		l.passing.Wait()
	})
	return l
}

// Port is where the link listens.
func (l *FaultProxy) Port() int { return l.listener.Addr().(*net.TCPAddr).Port }

// Suffer has the link do h from now on, in place of what it did before.
func (l *FaultProxy) Suffer(h ProxyFault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.harm = h
	close(l.over)
	l.over = make(chan struct{})
	if h.Refuse {
		for p := range l.open {
			p.close()
		}
	}
}

// Lead has new connections go to another server; those that are there stay.
func (l *FaultProxy) Lead(target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.target = target
}

// Cut breaks every connection and refuses new ones until [Proxy.Mend].
func (l *FaultProxy) Cut() { l.Suffer(ProxyFault{Refuse: true}) }

// Mend lets everything through again.
func (l *FaultProxy) Mend() { l.Suffer(ProxyFault{}) }

// Reset breaks every connection the hard way: its ends are told that it never was.
func (l *FaultProxy) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.open {
		p.reset()
	}
}

// LoseAnswer swallows the next thing that the server says on any connection and
// cuts that connection.
func (l *FaultProxy) LoseAnswer() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.losing = true
}

func (l *FaultProxy) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.leads()) //nolint:noctx // loopback, at once
		if err != nil {
			_ = near.Close()
			continue
		}
		p := &pair{link: l, near: near, far: far, gone: make(chan struct{})}
		if !l.keep(p) {
			continue
		}
		l.passing.Go(func() { p.pass(far, near, Questions) })
		l.passing.Go(func() { p.pass(near, far, Answers) })
	}
}

func (l *FaultProxy) leads() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.target
}

// keep remembers a connection, unless the link refuses them.
func (l *FaultProxy) keep(p *pair) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.harm.Refuse {
		p.close()
		return false
	}
	l.open[p] = true
	return true
}

func (l *FaultProxy) forget(p *pair) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, p)
}

// suffers returns what is done to something that goes one way, and what is closed
// when that changes.
func (l *FaultProxy) suffers(way ProxyDirection) (h ProxyFault, lost bool, over <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lost = l.losing && way == Answers; lost {
		l.losing = false
	}
	return l.harm, lost, l.over
}

// Package faketest is what the tests of adapters share: a fake platform on a
// network in memory whose next connection can be refused, a log that can be read
// while it is written, and the ways in which any platform lets a call down.
//
// It knows the fakes' common words and no platform.
package faketest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// A FakeHost is a fake platform that is served on a network in memory.
type FakeHost struct {
	Network *fake.MemoryNetwork
	Client  *http.Client // reaches it; no connection is kept
	Log     LogBuffer    // of the adapter under test

	refuse atomic.Bool // the next connection
}

// Serve has serve answer at the name until the test is over.
func Serve(t *testing.T, network *fake.MemoryNetwork, name string, serve func(context.Context, net.Listener) error) *FakeHost {
	t.Helper()
	h := &FakeHost{Network: network}
	ln, err := network.Listen(name)
	if err != nil {
		t.Fatal(err)
	}
	h.Client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: h.dial}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, ln) }() // waited for by the cleanup
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve %s: %v", name, err)
		}
	})
	return h
}

// RefuseNext has the next connection refused, once.
func (h *FakeHost) RefuseNext() { h.refuse.Store(true) }

func (h *FakeHost) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if h.refuse.CompareAndSwap(true, false) {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
	}
	return h.Network.DialContext(ctx, network, address)
}

// A LogBuffer is a buffer that one logger writes and tests read.
type LogBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

// Logger returns a logger that writes everything here, as JSON.
func (l *LogBuffer) Logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Write adds to the log.
func (l *LogBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns what was written so far.
func (l *LogBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

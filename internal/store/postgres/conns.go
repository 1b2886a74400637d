package postgres

import (
	"context"
	"net"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// A connSet tracks the connections of a process, to close them all when it loses the
// right to write: a server out of reach would make it wait without end. The zero value
// is ready.
type connSet struct {
	mu    sync.Mutex // guards what follows
	open  map[*trackedConn]bool
	ended bool
}

type trackedConn struct {
	net.Conn
	of *connSet
}

// dialing wraps dial so that the connections it opens are tracked.
func (w *connSet) dialing(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.ended {
			_ = conn.Close()
			return nil, ErrBuried
		}
		if w.open == nil {
			w.open = map[*trackedConn]bool{}
		}
		one := &trackedConn{conn, w}
		w.open[one] = true
		return one, nil
	}
}

// cut closes every connection and refuses new ones.
func (w *connSet) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	for one := range w.open {
		_ = one.Conn.Close()
	}
}

// Close implements [net.Conn].
func (one *trackedConn) Close() error {
	one.of.mu.Lock()
	delete(one.of.open, one)
	one.of.mu.Unlock()
	return one.Conn.Close()
}

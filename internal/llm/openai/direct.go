package openai

import (
	"context"
	"io"
	"net"
)

// A zeroCopyConn connection writes a payload from where it stands. The transport would
// copy it by way of a buffer of its own, piece by piece.
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

// directly returns a dialer whose connections are direct.
func directly(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return zeroCopyConn{c}, nil
	}
}

package telegram

import (
	"bytes"
	"context"
	"net"
	"net/http/httptrace"
	"regexp"
	"strconv"

	"github.com/trestle-bridge/trestle/internal/failpoint"
)

// crashPoints returns a context whose request is a place to die at once its last byte
// is on the wire: a message without an answer yet, or the poll that acknowledges the
// updates before its offset. It needs a connection that [crashable] made, without TLS.
// The request itself cannot be made to fail there, so only plans that end or pause the
// process have an effect. An ordinary build returns ctx.
func crashPoints(ctx context.Context, method, offset string) context.Context {
	point := ""
	switch {
	case method == "sendMessage":
		point = "send.after_write"
	case method == "getUpdates" && offset != "":
		point = "ingest.after_ack"
	}
	if !failpoint.Enabled || point == "" {
		return ctx
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if c, ok := info.Conn.(*crashConn); ok {
			c.point, c.sent = point, nil
		}
	}})
}

// crashConn is a connection with a fault point after the last byte of a request.
// Its fields belong to the request under way. The transport's own trace of a
// written request will not do: it comes before the bytes leave its buffer.
type crashConn struct {
	net.Conn
	point string // empty: none
	sent  []byte // of the request
}

// Write writes b and then stops at the point, if the request is whole.
func (c *crashConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if c.point == "" || err != nil {
		return n, err
	}
	c.sent = append(c.sent, b[:n]...)
	if point := c.point; whole(c.sent) {
		c.point = ""
		_ = failpoint.Point(point)
	}
	return n, nil
}

var bodyLength = regexp.MustCompile(`\r\nContent-Length: (\d+)\r\n`)

// whole reports whether request holds an HTTP/1.1 request with all of its body.
func whole(request []byte) bool {
	head, body, ended := bytes.Cut(request, []byte("\r\n\r\n"))
	if !ended {
		return false
	}
	length := 0
	if m := bodyLength.FindSubmatch(request[:len(head)+2]); m != nil {
		length, _ = strconv.Atoi(string(m[1])) // digits, by the pattern
	}
	return len(body) >= length
}

// crashable gives the connections of dial their fault points. An ordinary build
// returns dial.
func crashable(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	if !failpoint.Enabled {
		return dial
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &crashConn{Conn: conn}, nil
	}
}

package testservers

import (
	"net"
	"time"
)

func (p *pair) close() {
	p.once.Do(func() { close(p.gone) })
	_, _ = p.near.Close(), p.far.Close()
}

// reset closes both ends without a word to what is still on its way.
func (p *pair) reset() {
	for _, c := range []net.Conn{p.near, p.far} {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
	p.close()
}

// pass carries what goes one way until the connection ends.
func (p *pair) pass(to, from net.Conn, way ProxyDirection) {
	defer p.link.forget(p)
	defer p.close()
	bytes := make([]byte, 32<<10)
	var passed int64
	for {
		n, err := from.Read(bytes)
		if n > 0 && !p.deliver(to, bytes[:n], way, &passed) {
			return
		}
		if err != nil {
			return
		}
	}
}

// deliver hands a piece on with what it suffers, and reports whether the
// connection goes on.
func (p *pair) deliver(to net.Conn, piece []byte, way ProxyDirection, passed *int64) bool {
	h, lost, over := p.link.suffers(way)
	if lost {
		return false
	}
	for h.Hold&way != 0 {
		select {
		case <-over:
			h, _, over = p.link.suffers(way)
		case <-p.gone:
			return false
		}
	}
	if !p.rest(h.Delay) {
		return false
	}
	if left := h.After - *passed; h.After > 0 && way == Answers && left < int64(len(piece)) {
		_, _ = to.Write(piece[:max(left, 0)]) // it is cut there in any case
		p.reset()
		return false
	}
	*passed += int64(len(piece))
	if h.Slow <= 0 || way != Answers {
		_, err := to.Write(piece)
		return err == nil
	}
	for len(piece) > 0 {
		n := min(h.Slow, len(piece))
		if _, err := to.Write(piece[:n]); err != nil || !p.rest(10*time.Millisecond) {
			return false
		}
		piece = piece[n:]
	}
	return true
}

// rest waits, and reports whether the connection is still there.
func (p *pair) rest(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-p.gone:
		return false
	}
}

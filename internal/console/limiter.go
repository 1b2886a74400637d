package console

import (
	"net/netip"
	"sync"
	"time"
)

// The bounds of guessing.
const (
	maxWrong   = 10          // wrong credentials from one address
	wrongIn    = time.Minute // within this time
	maxWatched = 4096        // addresses; beyond that all others count as one
)

// A limiter counts wrong credentials by address.
type limiter struct {
	mu    sync.Mutex // guards wrong
	wrong map[netip.Addr]tries
}

type tries struct {
	n     int
	until time.Time // when they are forgotten
}

// closed reports whether nothing from the address is looked at now.
func (l *limiter) closed(addr netip.Addr, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.wrong[l.key(addr)]
	return t.n >= maxWrong && at.Before(t.until)
}

// miss counts a wrong credential.
func (l *limiter) miss(addr netip.Addr, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wrong == nil {
		l.wrong = map[netip.Addr]tries{}
	}
	if len(l.wrong) >= maxWatched {
		for a, t := range l.wrong {
			if at.After(t.until) {
				delete(l.wrong, a)
			}
		}
	}
	addr = l.key(addr)
	t := l.wrong[addr]
	if at.After(t.until) {
		t = tries{until: at.Add(wrongIn)}
	}
	t.n++
	l.wrong[addr] = t
}

// key returns what the address is counted as. l.mu is held.
func (l *limiter) key(addr netip.Addr) netip.Addr {
	if addr.Is6() { // one household has a whole /64
		if p, err := addr.WithZone("").Prefix(64); err == nil {
			addr = p.Addr()
		}
	}
	if _, known := l.wrong[addr]; !known && len(l.wrong) >= maxWatched {
		return netip.Addr{}
	}
	return addr
}

// Package clockskew compares the clock of this machine with those of the servers it
// talks to, by the Date header of answers that come anyway.
//
// It promises never to take a slow answer for a wrong clock: a date counts as right
// when it lies between the sending of the request and its answer. It makes no calls
// itself and does not read their content.
package clockskew

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A ClockOffset is how far the clock of a host was from ours.
type ClockOffset struct {
	Host string
	Off  time.Duration // positive: theirs is ahead; whole seconds are all a header tells
	At   time.Time
}

// A HostClock notes the newest reading of each host. Its zero value is ready; it may
// be used concurrently.
type HostClock struct {
	mu   sync.Mutex // guards seen
	seen map[string]ClockOffset
}

// maxHosts bounds the hosts that are remembered.
const maxHosts = 64

// Around returns a transport that carries requests by next and notes the dates
// of the answers.
func (c *HostClock) Around(next http.RoundTripper) http.RoundTripper { return &transport{c, next} }

// Readings returns the newest reading of each host, by host.
func (c *HostClock) Readings() []ClockOffset {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]ClockOffset, 0, len(c.seen))
	for _, host := range slices.Sorted(maps.Keys(c.seen)) {
		out = append(out, c.seen[host])
	}
	return out
}

func (c *HostClock) note(host, date string, asked, answered time.Time) {
	theirs, err := http.ParseTime(date)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]ClockOffset{}
	}
	if _, known := c.seen[host]; !known && len(c.seen) >= maxHosts {
		return
	}
	c.seen[host] = ClockOffset{Host: host, Off: between(theirs, asked, answered), At: answered}
}

// between returns how far a moment lies outside of a stretch. The moment is cut
// to its second.
func between(theirs, from, to time.Time) time.Duration {
	switch {
	case theirs.Add(time.Second).Before(from):
		return theirs.Add(time.Second).Sub(from).Truncate(time.Second)
	case theirs.After(to):
		return theirs.Sub(to).Truncate(time.Second)
	}
	return 0
}

type transport struct {
	clock *HostClock
	next  http.RoundTripper
}

// RoundTrip carries r.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := time.Now()
	resp, err := t.next.RoundTrip(r)
	if err == nil {
		t.clock.note(r.URL.Host, resp.Header.Get("Date"), asked, time.Now())
	}
	return resp, err
}

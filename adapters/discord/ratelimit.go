package discord

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters/httpx"
)

// errSpent says that a limit which Discord told us of is used up: no request was made.
var errSpent = errors.New("the limit that discord named is used up")

// limits keep the request limits that Discord names with every answer: one for
// each bucket, which several routes may share, and one for the bot as a whole
// (docs.discord.com, topics/rate-limits). The zero value knows none.
type limits struct {
	mu      sync.Mutex // guards what follows
	global  time.Time  // no call before this
	names   map[string]string
	buckets map[string]*bucket

	window  time.Time // when the counting of refusals began
	refused int       // calls answered 401, 403 or 429 in it
}

// bucket is how much may be asked until when.
type bucket struct {
	left  int
	until time.Time
}

// Discord shuts out an address that collects 10,000 refusals in ten minutes. We
// stop at half of that.
const (
	maxRefused    = 5000
	refusedWindow = 10 * time.Minute
	maxBuckets    = 4096
)

// key names what r is counted under: the route, and the channel, server or
// webhook that its path begins with.
func (r route) key() string {
	return cmp.Or(r.limit, r.method+" "+r.op)
}

// take uses up one call of r, or returns how long there is none.
func (l *limits) take(r route, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused >= maxRefused && now.Sub(l.window) < refusedWindow {
		return refusedWindow - now.Sub(l.window)
	}
	if !r.bare && now.Before(l.global) {
		return l.global.Sub(now)
	}
	b := l.buckets[l.names[r.key()]]
	switch {
	case b == nil || !now.Before(b.until):
		return 0
	case b.left <= 0:
		return b.until.Sub(now)
	}
	b.left--
	return 0
}

// learn takes what an answer says of its limits.
func (l *limits) learn(r route, a httpx.CallOutcome, now time.Time) {
	if a.Status == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden || a.Status == http.StatusTooManyRequests {
		if now.Sub(l.window) >= refusedWindow {
			l.window, l.refused = now, 0
		}
		l.refused++
	}
	after, global := retryAfter(a)
	if a.Status == http.StatusTooManyRequests && global {
		l.global = now.Add(after)
		return
	}
	name := a.Header.Get("X-RateLimit-Bucket")
	if name == "" {
		return
	}
	if l.buckets == nil || len(l.buckets) >= maxBuckets {
		l.buckets, l.names = map[string]*bucket{}, map[string]string{} // learnt anew with the next answers
	}
	_, first, _ := strings.Cut(r.key(), "/")
	name += " " + first
	l.names[r.key()] = name
	left, err := strconv.Atoi(a.Header.Get("X-RateLimit-Remaining"))
	reset, errReset := strconv.ParseFloat(a.Header.Get("X-RateLimit-Reset-After"), 64)
	if err != nil || errReset != nil || reset < 0 {
		return
	}
	until := now.Add(seconds(reset))
	if a.Status == http.StatusTooManyRequests {
		left, until = 0, now.Add(after)
	}
	if b := l.buckets[name]; b != nil && now.Before(b.until) && a.Status != http.StatusTooManyRequests {
		left = min(left, b.left) // calls on their way have not been counted there yet
	}
	l.buckets[name] = &bucket{left: left, until: until}
}

// retryAfter returns how long a 429 asks to wait, and whether that is for all
// calls: from Discord's own words, else from the header, which is all that
// Cloudflare in front of it says.
func retryAfter(a httpx.CallOutcome) (after time.Duration, global bool) {
	if a.Status != http.StatusTooManyRequests {
		return 0, false
	}
	var said struct {
		After  float64 `json:"retry_after"`
		Global bool    `json:"global"`
	}
	global = a.Header.Get("X-RateLimit-Global") != ""
	if json.Unmarshal(a.Whole, &said) == nil && said.After > 0 {
		return seconds(said.After), global || said.Global
	}
	n, err := strconv.ParseFloat(a.Header.Get("Retry-After"), 64)
	if err != nil || n < 0 {
		return 0, global
	}
	return seconds(n), true
}

// seconds returns s seconds, at most a day.
func seconds(s float64) time.Duration {
	return time.Duration(min(max(s, 0), 86400) * float64(time.Second))
}

package discord

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// limits plays Discord's request limits, and keeps those that faults named.
type limits struct {
	mu      sync.Mutex // guards what follows
	buckets map[string]*bucket
	whole   map[SnowflakeID]*bucket // of a bot
	held    map[string]time.Time
}

// bucket counts the calls of a window.
type bucket struct {
	began time.Time
	used  int
}

// What a bucket allows: Discord's own values are not documented and may change.
const (
	perBucket   = 5
	window      = 5 * time.Second
	perSecond   = 50
	bucketScope = "shared-of-fake"
)

// take counts a call and returns how many are left, until when, and how long the
// call has to wait.
func (b *bucket) take(now time.Time, most int, window time.Duration) (left int, reset, wait time.Duration) {
	if now.Sub(b.began) >= window {
		b.began, b.used = now, 0
	}
	reset = window - now.Sub(b.began)
	if b.used >= most {
		return 0, reset, reset
	}
	b.used++
	return most - b.used, reset, 0
}

// scope is what a call is counted with.
func (c *call) scope() string {
	return c.entry.Bot.String() + " " + c.name + " " + c.r.PathValue("channel") + c.r.PathValue("webhook")
}

// hold refuses calls like c for d, and counts a call that comes earlier as a breach of
// the limit.
func (l *limits) hold(c *call, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[string]time.Time{}
	}
	l.held[c.scope()] = time.Now().Add(d)
}

// limitCall counts a call, says so in the headers, and returns how long it has to wait.
func limitCall(d *Server, w http.ResponseWriter, c *call) time.Duration {
	l := &d.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if until := l.held[c.scope()]; now.Before(until) {
		w.Header().Set("X-RateLimit-Scope", "user")
		return until.Sub(now)
	}
	if !d.opts.Limits {
		return 0
	}
	if l.buckets == nil {
		l.buckets, l.whole = map[string]*bucket{}, map[SnowflakeID]*bucket{}
	}
	if c.bot != nil {
		all := l.whole[c.bot.ID]
		if all == nil {
			all = new(bucket)
			l.whole[c.bot.ID] = all
		}
		if _, _, wait := all.take(now, perSecond, time.Second); wait > 0 {
			w.Header().Set("X-RateLimit-Global", "true")
			w.Header().Set("X-RateLimit-Scope", "global")
			return wait
		}
	}
	b := l.buckets[c.scope()]
	if b == nil {
		b = new(bucket)
		l.buckets[c.scope()] = b
	}
	left, reset, wait := b.take(now, perBucket, window)
	h := w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(perBucket))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Reset-After", strconv.FormatFloat(reset.Seconds(), 'f', 3, 64))
	h.Set("X-RateLimit-Bucket", bucketScope+c.name)
	if wait > 0 {
		h.Set("X-RateLimit-Scope", "user")
	}
	return wait
}

package slack

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// pace stores who was told to wait, refuses calls that come earlier, and plays Slack's
// limits: one message a second in a channel, and calls a minute by the method's tier.
type pace struct {
	mu      sync.Mutex // guards what follows
	until   map[string]time.Time
	buckets map[string]*rate.Limiter
}

func newPace() pace {
	return pace{until: map[string]time.Time{}, buckets: map[string]*rate.Limiter{}}
}

// perMinute are the tiers of the methods that are not tier 4.
var perMinute = map[string]int{
	"apps.connections.open": 20, "chat.delete": 50, "chat.update": 50, "conversations.history": 50, "conversations.info": 50,
	"conversations.list": 20, "conversations.replies": 50, "reactions.add": 50, "reactions.get": 50, "reactions.remove": 20,
	"users.conversations": 50, "users.list": 20,
}

// lane names what a rate is counted for.
func (c *call) lane() string {
	if c.method == "chat.postMessage" {
		return c.entry.App + " " + c.method + " " + c.entry.Channel
	}
	return c.entry.App + " " + c.method
}

// hold refuses every call like c for a while.
func (p *pace) hold(c *call, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until[c.lane()] = c.entry.At.Add(d)
}

// early returns by how much a call comes too early.
func (p *pace) early(c *call, limits bool) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	lane := c.lane()
	if left := p.until[lane].Sub(c.entry.At); left > 0 {
		return left
	}
	delete(p.until, lane)
	if !limits {
		return 0
	}
	b := p.buckets[lane]
	if b == nil {
		n := perMinute[c.method]
		switch {
		case c.method == "chat.postMessage":
			b = rate.NewLimiter(1, 5)
		case n > 0:
			b = rate.NewLimiter(rate.Limit(float64(n)/60), n)
		default:
			b = rate.NewLimiter(rate.Limit(100.0/60), 100)
		}
		p.buckets[lane] = b
	}
	if b.AllowN(c.entry.At, 1) {
		return 0
	}
	wait := time.Duration((1 - b.TokensAt(c.entry.At)) / float64(b.Limit()) * float64(time.Second))
	p.until[lane] = c.entry.At.Add(wait)
	return wait
}

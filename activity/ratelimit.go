package activity

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/trestle-bridge/trestle/adapters"
)

// maxPaced is how many chats' budgets are kept before idle ones are dropped.
const maxPaced = 1024

// rateLimits is the budget of one account: one bucket for each chat, shared by sends,
// edits, reactions, deletes and typing, and one for the account as a whole. It
// is safe for concurrent use and never waits itself.
type rateLimits struct {
	of func(chat string) adapters.RateLimit // a chat's own limits

	mu    sync.Mutex // guards what follows
	whole *rate.Limiter
	chats map[string]*chatLimiter
}

// A chatLimiter is what one chat may still take.
type chatLimiter struct {
	bucket *rate.Limiter
	held   time.Time // nothing goes there before this: the platform said so
}

func newRateLimits(whole adapters.RateLimit, of func(string) adapters.RateLimit) *rateLimits {
	return &rateLimits{of: of, whole: bucket(whole), chats: map[string]*chatLimiter{}}
}

// bucket returns p as a token bucket.
func bucket(p adapters.RateLimit) *rate.Limiter {
	if p.Every <= 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Every(p.Every), max(p.Burst, 1))
}

// take asks for one call to chat. It returns how long the caller has to wait
// before it makes the call; a wait beyond patience takes nothing, and the
// caller has to ask again after it.
func (p *rateLimits) take(chat string, now time.Time, patience time.Duration) (wait time.Duration, taken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.budget(chat, now)
	if held := b.held.Sub(now); held > 0 {
		return held, false
	}
	wait = max(delay(b.bucket, now), delay(p.whole, now))
	if wait > patience {
		return wait, false
	}
	b.bucket.ReserveN(now, 1)
	p.whole.ReserveN(now, 1)
	return wait, true
}

// spare takes one call to chat only if a send right after it would not have to
// wait for it.
func (p *rateLimits) spare(chat string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.budget(chat, now)
	if b.held.After(now) || !hasTwoTokens(b.bucket, now) || !hasTwoTokens(p.whole, now) {
		return false
	}
	return b.bucket.AllowN(now, 1) && p.whole.AllowN(now, 1)
}

// hold lets nothing go to chat before until. Then what waited goes at the chat's
// pace: a burst would be refused again.
func (p *rateLimits) hold(chat string, now, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.budget(chat, now)
	if !until.After(b.held) {
		return
	}
	b.held = until
	if saved := int(b.bucket.TokensAt(until)) - 1; saved > 0 && b.bucket.Limit() != rate.Inf {
		b.bucket.AllowN(until, saved)
	}
}

// held returns for how long nothing goes to chat because the platform said so.
func (p *rateLimits) held(chat string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, ok := p.chats[chat]
	if !ok {
		return 0
	}
	return max(0, b.held.Sub(now))
}

// budget returns the chat's budget. mu is held.
func (p *rateLimits) budget(chat string, now time.Time) *chatLimiter {
	if b, ok := p.chats[chat]; ok {
		return b
	}
	if len(p.chats) >= maxPaced {
		p.drop(now)
	}
	b := &chatLimiter{bucket: bucket(p.of(chat))}
	p.chats[chat] = b
	return b
}

// drop forgets the budgets that are as good as new. mu is held.
func (p *rateLimits) drop(now time.Time) {
	for chat, b := range p.chats {
		full := b.bucket.Limit() == rate.Inf || b.bucket.TokensAt(now) >= float64(b.bucket.Burst())
		if full && !b.held.After(now) {
			delete(p.chats, chat)
		}
	}
}

// delay returns when the bucket has its next token, from now.
func delay(l *rate.Limiter, now time.Time) time.Duration {
	if l.Limit() == rate.Inf {
		return 0
	}
	short := 1 - l.TokensAt(now)
	if short <= 0 {
		return 0
	}
	return time.Duration(short / float64(l.Limit()) * float64(time.Second))
}

// hasTwoTokens reports whether the bucket holds a token for this call and one for a send.
func hasTwoTokens(l *rate.Limiter, now time.Time) bool {
	return l.Limit() == rate.Inf || l.TokensAt(now) >= 2
}

package activity

import (
	"context"
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
	// unused are calls that no message needed: those by which the bucket would have
	// overflowed until counted.
	unused  float64
	counted time.Time
}

// maxUnused bounds the calls that no message needed.
const maxUnused = 4

// count adds to unused what the bucket did not hold since it was last called.
func (b *chatLimiter) count(now time.Time) {
	if since := now.Sub(b.counted); since > 0 && b.bucket.Limit() != rate.Inf {
		over := b.bucket.TokensAt(b.counted) + since.Seconds()*float64(b.bucket.Limit()) - float64(b.bucket.Burst())
		b.unused = min(b.unused+max(0, over), maxUnused)
		b.counted = now
	}
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
	b.count(now)
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
	b.count(now)
	if b.held.After(now) || !hasTwoTokens(b.bucket, now) || !hasTwoTokens(p.whole, now) {
		return false
	}
	return b.bucket.AllowN(now, 1) && p.whole.AllowN(now, 1)
}

// unused takes n calls to chat that no message needed: messages go as if they were not made.
func (p *rateLimits) unused(chat string, now time.Time, n float64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.budget(chat, now)
	b.count(now)
	switch {
	case b.held.After(now) || !hasTwoTokens(p.whole, now):
		return false
	case b.bucket.Limit() == rate.Inf:
	case b.unused < n:
		return false
	default:
		b.unused -= n
	}
	return p.whole.AllowN(now, 1)
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
	b := &chatLimiter{bucket: bucket(p.of(chat)), unused: maxUnused, counted: now}
	p.chats[chat] = b
	return b
}

// drop forgets the budgets that are as good as new. mu is held.
func (p *rateLimits) drop(now time.Time) {
	for chat, b := range p.chats {
		b.count(now)
		full := b.bucket.Limit() == rate.Inf || b.unused >= maxUnused && b.bucket.TokensAt(now) >= float64(b.bucket.Burst())
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

// A SharedLimiter is an account's budget as all processes share it. Its methods may
// overlap, and must not take long.
type SharedLimiter interface {
	// Take takes one call to chat, of the chat's pace and of the whole account's, or
	// nothing. It returns how long the caller has to wait before it makes the call; a
	// wait beyond patience takes nothing. With an error the process goes by its own
	// budget alone.
	Take(ctx context.Context, chat string, ofChat, whole adapters.RateLimit, patience time.Duration) (wait time.Duration, taken bool, err error)
	// Hold stops all calls for chat for a while, as the platform demanded.
	Hold(ctx context.Context, chat string, d time.Duration) error
}

// accountLimits are the limits of one account: those of this process, and those
// that all processes share.
type accountLimits struct {
	perChat    *rateLimits
	perAccount adapters.RateLimit
	shared     SharedLimiter // nil: no other process sends for the account
	patience   time.Duration // longest wait for a call
}

// takeCall asks for one call to chat: of this process's budget, and then of the one
// that all share.
func (l *accountLimits) takeCall(ctx context.Context, chat string, now time.Time) (wait time.Duration, taken bool) {
	wait, taken = l.perChat.take(chat, now, l.patience)
	if !taken {
		return wait, false
	}
	more, taken := l.takeShared(ctx, chat, l.patience)
	return max(wait, more), taken
}

// takeShared asks for one call to chat of the budget that all processes share.
func (l *accountLimits) takeShared(ctx context.Context, chat string, patience time.Duration) (wait time.Duration, taken bool) {
	ofChat := l.perChat.of(chat)
	if l.shared == nil || ofChat.Every <= 0 && l.perAccount.Every <= 0 {
		return 0, true
	}
	wait, taken, err := l.shared.Take(ctx, chat, ofChat, l.perAccount, patience)
	if err != nil {
		return 0, true
	}
	return wait, taken
}

// mayBeLimited reports whether it may be the platform that has chat wait, and not our own
// pace: what other processes were told is not known apart.
func (l *accountLimits) mayBeLimited(chat string, now time.Time) bool {
	return l.shared != nil || l.perChat.held(chat, now) > 0
}

// noteLimit lets nothing go to chat for as long as the platform asked, if that is what err
// says.
func (l *accountLimits) noteLimit(ctx context.Context, chat string, err error) (limited bool) {
	wait, limited := adapters.RetryDelay(err)
	if limited {
		l.holdChat(ctx, chat, time.Now(), wait)
	}
	return limited
}

// holdChat lets nothing go to chat for a while, from any process.
func (l *accountLimits) holdChat(ctx context.Context, chat string, now time.Time, wait time.Duration) {
	l.perChat.hold(chat, now, now.Add(wait))
	if l.shared != nil {
		_ = l.shared.Hold(ctx, chat, wait) // others will be told by the platform, too
	}
}

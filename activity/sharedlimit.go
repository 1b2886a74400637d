package activity

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// A SharedLimiter is an account's budget as all processes share it. Its methods may
// overlap, and must not take long.
type SharedLimiter interface {
	// Take takes one call to chat, of the chat's pace and of the whole account's, or
	// nothing. It returns how long the caller has to wait before it makes the call; a
	// wait beyond patience takes nothing. With an error the process goes by its own
	// budget alone.
	Take(ctx context.Context, chat string, ofChat, whole adapters.RateLimit, patience time.Duration) (wait time.Duration, taken bool, err error)
	// Hold lets nobody call chat for a while: the platform said so.
	Hold(ctx context.Context, chat string, d time.Duration) error
}

// takeCall asks for one call to chat: of this process's budget, and then of the one
// that all share.
func (e *Egress) takeCall(ctx context.Context, chat string, now time.Time) (wait time.Duration, taken bool) {
	wait, taken = e.limits.take(chat, now, e.o.Patience)
	if !taken {
		return wait, false
	}
	more, taken := e.takeShared(ctx, chat, e.o.Patience)
	return max(wait, more), taken
}

// takeShared asks for one call to chat of the budget that all processes share.
func (e *Egress) takeShared(ctx context.Context, chat string, patience time.Duration) (wait time.Duration, taken bool) {
	ofChat := e.limits.of(chat)
	if e.o.SharedLimiter == nil || ofChat.Every <= 0 && e.o.AccountLimit.Every <= 0 {
		return 0, true
	}
	wait, taken, err := e.o.SharedLimiter.Take(ctx, chat, ofChat, e.o.AccountLimit, patience)
	if err != nil {
		return 0, true
	}
	return wait, taken
}

// mayBeLimited reports whether it may be the platform that has chat wait, and not our own
// pace: what other processes were told is not known apart.
func (e *Egress) mayBeLimited(chat string, now time.Time) bool {
	return e.o.SharedLimiter != nil || e.limits.held(chat, now) > 0
}

// noteLimit lets nothing go to chat for as long as the platform asked, if that is what err
// says.
func (e *Egress) noteLimit(ctx context.Context, chat string, err error) (limited bool) {
	wait, limited := adapters.RetryDelay(err)
	if limited {
		e.holdChat(ctx, chat, time.Now(), wait)
	}
	return limited
}

// holdChat lets nothing go to chat for a while, from any process.
func (e *Egress) holdChat(ctx context.Context, chat string, now time.Time, wait time.Duration) {
	e.limits.hold(chat, now, now.Add(wait))
	if e.o.SharedLimiter != nil {
		_ = e.o.SharedLimiter.Hold(ctx, chat, wait) // others will be told by the platform, too
	}
}

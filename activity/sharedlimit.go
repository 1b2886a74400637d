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

// allowed asks for one call to chat: of this process's budget, and then of the one
// that all share.
func (e *Egress) allowed(ctx context.Context, chat string, now time.Time) (wait time.Duration, taken bool) {
	wait, taken = e.pace.take(chat, now, e.o.Patience)
	if !taken {
		return wait, false
	}
	more, taken := e.shared(ctx, chat, e.o.Patience)
	return max(wait, more), taken
}

// shared asks for one call to chat of the budget that all processes share.
func (e *Egress) shared(ctx context.Context, chat string, patience time.Duration) (wait time.Duration, taken bool) {
	ofChat := e.pace.of(chat)
	if e.o.Purse == nil || ofChat.Every <= 0 && e.o.Whole.Every <= 0 {
		return 0, true
	}
	wait, taken, err := e.o.Purse.Take(ctx, chat, ofChat, e.o.Whole, patience)
	if err != nil {
		return 0, true
	}
	return wait, taken
}

// told reports whether it may be the platform that has chat wait, and not our own
// pace: what other processes were told is not known apart.
func (e *Egress) told(chat string, now time.Time) bool {
	return e.o.Purse != nil || e.pace.held(chat, now) > 0
}

// noteLimit lets nothing go to chat for as long as the platform asked, if that is what err
// says.
func (e *Egress) noteLimit(ctx context.Context, chat string, err error) (limited bool) {
	wait, limited := adapters.RetryDelay(err)
	if limited {
		e.hold(ctx, chat, time.Now(), wait)
	}
	return limited
}

// hold lets nothing go to chat for a while, from any process.
func (e *Egress) hold(ctx context.Context, chat string, now time.Time, wait time.Duration) {
	e.pace.hold(chat, now, now.Add(wait))
	if e.o.Purse != nil {
		_ = e.o.Purse.Hold(ctx, chat, wait) // others will be told by the platform, too
	}
}

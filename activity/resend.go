package activity

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// resendAfter is the least time before a second copy of a send with an unknown outcome.
	resendAfter = 2 * time.Second
	// maxResendPause bounds the pause before a further one; until then it doubles.
	maxResendPause = 3 * time.Minute
	// maxResends bounds the copies of an action that does not expire.
	maxResends = 30
	// probePause is the pause after the platform gave no answer to a probe, and between
	// looks whether an action may be sent again.
	probePause = 15 * time.Second
	// unprobed is how long a platform that nothing can be asked of is left alone.
	unprobed = time.Minute
)

// resendPause returns the pause before the copy that follows so many attempts.
func resendPause(attempts int) time.Duration {
	return min(resendAfter<<min(max(attempts-1, 0), 10), maxResendPause)
}

// mayResend reports whether an action whose outcome is unknown, and cannot be looked up, is
// sent again: until it expires.
func mayResend(a spaces.Action) bool {
	return a.Policy == spaces.ResendOnce && (!a.Expires.IsZero() || a.Attempts < maxResends)
}

// resendDoubt paces the second copies of an account while the outcomes of its sends are
// unknown: one at a time, ever more slowly, and only when the platform has answered
// something since. The zero value has no doubt. Its owner guards it.
type resendDoubt struct {
	since    time.Time // the last unknown outcome; zero for none
	answered time.Time // the last answer to anything
	next     time.Time // no copy leaves before
	copies   int       // that have left
}

// note notes an unknown outcome.
func (d *resendDoubt) note(now time.Time) {
	d.since = now
	if d.next.Before(now) {
		d.next = now.Add(resendPause(d.copies))
	}
}

// take lets a copy leave, and returns how long it must wait if it may not. ask is true if the
// platform has to answer something first.
func (d *resendDoubt) take(now, heard time.Time) (wait time.Duration, ask bool) {
	switch {
	case d.since.IsZero():
		return 0, false
	case now.Before(d.next):
		return min(d.next.Sub(now), probePause), false
	case !d.answered.After(d.since) && !heard.After(d.since):
		return probePause, true
	}
	d.copies++
	d.next = now.Add(resendPause(d.copies))
	return 0, false
}

// noteAnswer notes that the platform answered something.
func (t *outageTracker) noteAnswer(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doubt.answered = now
}

// takeCopy is [resendDoubt.take]. A platform that was silent for unprobed is taken to
// have answered, if it cannot be asked.
func (t *outageTracker) takeCopy(now, heard time.Time, canAsk bool) (wait time.Duration, ask bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !canAsk && now.Sub(t.doubt.since) >= unprobed {
		heard = now
	}
	return t.doubt.take(now, heard)
}

// waitResend returns how long a second copy has to wait; 0 if it may leave. An attempt
// whose fate can be looked up, and a step that may be repeated, wait for nothing.
func (e *Egress) waitResend(ctx context.Context, a spaces.Action, s sendStep) time.Duration {
	if !a.Resent || s.repeatable || s.find != nil {
		return 0
	}
	wait, ask := e.outage.takeCopy(time.Now(), e.lastHeard(), e.typer != nil)
	if ask && e.typer != nil && e.probe(ctx, a) {
		wait, _ = e.outage.takeCopy(time.Now(), e.lastHeard(), true)
	}
	return wait
}

// probe reports whether the platform answers a harmless call: that something is being
// written in the chat, which is true.
func (e *Egress) probe(ctx context.Context, a spaces.Action) bool {
	ctx, cancel := context.WithTimeout(ctx, probePause)
	defer cancel()
	err := e.catchPanic("typing", func() error { return e.typer.Typing(ctx, adapters.MessageRef{Chat: a.Chat, Thread: string(a.Thread)}) })
	e.limits.noteLimit(ctx, a.Chat, err)
	return e.noteAnswer(err)
}

// noteAnswer notes what a call says of the platform, and reports whether that answered.
func (e *Egress) noteAnswer(err error) bool {
	if kind := adapters.KindOf(err); err != nil && (kind == adapters.Unknown || kind == adapters.NotSent) {
		return false
	}
	e.outage.noteAnswer(time.Now())
	return true
}

// lastHeard returns when the platform last proved to be there on the way in.
func (e *Egress) lastHeard() time.Time {
	if e.heard == nil {
		return time.Time{}
	}
	return e.heard()
}

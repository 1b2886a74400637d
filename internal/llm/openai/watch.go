package openai

import (
	"context"
	"errors"
	"time"
)

var (
	errTotal  = errors.New("no whole answer within the time for one call")
	errSilent = errors.New("the endpoint fell silent in the middle of an answer")
)

// drainFor is how long a finished answer may take to end its body, so that the
// connection can be used again.
const drainFor = 20 * time.Millisecond

// An idleTimeout ends one call when it takes too long or falls silent. The cause of
// the call's context says which.
type idleTimeout struct {
	cancel context.CancelCauseFunc
	total  *time.Timer
	idle   *time.Timer // nil until listen
	gap    time.Duration
}

// watch returns the context of a call and what watches it. The caller ends the
// watch.
func (c *Client) watch(parent context.Context) (context.Context, *idleTimeout) {
	ctx, cancel := context.WithCancelCause(parent)
	return ctx, &idleTimeout{
		cancel: cancel,
		total:  time.AfterFunc(c.options.Total, func() { cancel(errTotal) }),
		gap:    c.options.Idle,
	}
}

// listen starts or restarts the count of silence.
func (w *idleTimeout) listen() { w.within(w.gap) }

func (w *idleTimeout) within(d time.Duration) {
	if w.idle == nil {
		w.idle = time.AfterFunc(d, func() { w.cancel(errSilent) })
		return
	}
	w.idle.Reset(d)
}

func (w *idleTimeout) end() {
	w.total.Stop()
	if w.idle != nil {
		w.idle.Stop()
	}
	w.cancel(nil)
}

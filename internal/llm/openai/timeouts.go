package openai

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

var (
	errTotal   = errors.New("no whole answer within the time for one call")
	errNoStart = errors.New("no word of an answer within the time for it to begin")
	errSilent  = errors.New("the endpoint fell silent in the middle of an answer")
	errDrip    = errors.New("the answer hardly grows")
)

// An answer that grows by less than dripBytes in dripGaps times the limit of idle time,
// a few words a minute, counts as silent. Comments and empty pieces keep a connection
// alive, but are no answer.
const (
	dripGaps  = 3
	dripBytes = 48
)

// restFor is how long an answer may be silent after its reason to finish.
const restFor = 5 * time.Second

// callTimeouts cancels a call that takes too long: in all, until its answer begins,
// between two pieces, or over an answer that hardly grows. The cause of the call's
// context tells which. The timers run on their own; each call has its own callTimeouts.
type callTimeouts struct {
	cancel context.CancelCauseFunc
	total  *time.Timer
	gap    time.Duration

	mu    sync.Mutex  // guards all below
	idle  *time.Timer // until the answer begins: the limit for that
	begun bool        // a word of the answer came
	drip  *time.Timer // nil before the answer begins
	grown int         // bytes of the answer since drip was restarted
}

// watch returns the context of a call and its timeouts. The caller must end them.
func (c *Client) watch(parent context.Context) (context.Context, *callTimeouts) {
	ctx, cancel := context.WithCancelCause(parent)
	w := &callTimeouts{
		cancel: cancel,
		total:  time.AfterFunc(c.options.Total, func() { cancel(errTotal) }),
		gap:    c.options.Idle,
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle = time.AfterFunc(c.options.FirstToken, w.checkIdle)
	return ctx, w
}

// checkIdle cancels a call that was silent.
func (w *callTimeouts) checkIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun {
		w.cancel(errSilent)
	} else {
		w.cancel(errNoStart)
	}
}

// startOver prepares for the next form of a request.
func (w *callTimeouts) startOver(firstToken time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = false
	w.idle.Reset(firstToken)
	if w.drip != nil {
		w.drip.Stop()
	}
}

// heard takes in that bytes arrived. Before the answer begins they prove nothing: some
// endpoints send comments while a request waits in a queue.
func (w *callTimeouts) heard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun {
		w.idle.Reset(w.gap)
	}
}

// grow takes in that the answer, with its reasoning, grew by n bytes.
func (w *callTimeouts) grow(n int) {
	if n <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.grown += n
	if w.begun {
		return
	}
	w.begun, w.grown = true, 0
	w.idle.Reset(w.gap)
	if w.drip == nil {
		w.drip = time.AfterFunc(dripGaps*w.gap, w.checkDrip)
	} else {
		w.drip.Reset(dripGaps * w.gap)
	}
}

// checkDrip cancels a call whose answer hardly grew since the last check.
func (w *callTimeouts) checkDrip() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.grown < dripBytes {
		w.cancel(errDrip)
		return
	}
	w.grown = 0
	w.drip.Reset(dripGaps * w.gap)
}

// restart limits the next silence to d.
func (w *callTimeouts) restart(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle.Reset(d)
}

// ending takes in that an answer has its reason to finish: little can follow.
func (w *callTimeouts) ending() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun, w.gap = true, min(w.gap, restFor)
	w.idle.Reset(w.gap)
}

func (w *callTimeouts) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total.Stop()
	w.idle.Stop()
	if w.drip != nil {
		w.drip.Stop()
	}
	w.cancel(nil)
}

// timedOut returns the error of a call whose timeouts ended it.
func timedOut(cause error) *llm.Error {
	return &llm.Error{Kind: llm.Timeout, Err: cause, Hung: errors.Is(cause, errNoStart)}
}

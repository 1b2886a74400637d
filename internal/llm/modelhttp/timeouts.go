package modelhttp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// The causes of calls that took too long.
var (
	// ErrTotal ends a call at its total limit.
	ErrTotal = errors.New("no whole answer within the time for one call")
	// ErrNoStart ends a call whose answer does not begin.
	ErrNoStart = errors.New("no word of an answer within the time for it to begin")
	// ErrSilent ends an answer that pauses too long.
	ErrSilent = errors.New("the endpoint fell silent in the middle of an answer")
	// ErrDrip ends an answer that grows too slowly.
	ErrDrip = errors.New("the answer hardly grows")
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

// CallTimeouts cancels a call that takes too long: in all, until its answer begins,
// between two pieces, or over an answer that hardly grows. The cause of the call's
// context tells which. The timers run on their own; each call has its own callTimeouts.
type CallTimeouts struct {
	cancel context.CancelCauseFunc
	total  *time.Timer
	gap    time.Duration
	grew   func(bytes int) // nil: nothing is told of growth

	mu    sync.Mutex  // guards all below
	idle  *time.Timer // until the answer begins: the limit for that
	begun bool        // a word of the answer came
	drip  *time.Timer // nil before the answer begins
	grown int         // bytes of the answer since drip was restarted
}

// Watch returns the context of a call and its timeouts, which report the growth of the
// answer to grew unless it is nil. The caller must end them.
func (c *BaseClient) Watch(parent context.Context, grew func(bytes int)) (context.Context, *CallTimeouts) {
	ctx, cancel := context.WithCancelCause(parent)
	w := &CallTimeouts{
		cancel: cancel,
		total:  time.AfterFunc(c.Options.Total, func() { cancel(ErrTotal) }),
		gap:    c.Options.Idle,
		grew:   grew,
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle = time.AfterFunc(c.Options.FirstToken, w.checkIdle)
	return ctx, w
}

// checkIdle cancels a call that was silent.
func (w *CallTimeouts) checkIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun {
		w.cancel(ErrSilent)
	} else {
		w.cancel(ErrNoStart)
	}
}

// StartOver prepares for the next form of a request.
func (w *CallTimeouts) StartOver(firstToken time.Duration) {
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
func (w *CallTimeouts) heard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun {
		w.idle.Reset(w.gap)
	}
}

// Grow takes in that the answer, with its reasoning, grew by n bytes.
func (w *CallTimeouts) Grow(n int) {
	if n <= 0 {
		return
	}
	if w.grew != nil {
		w.grew(n)
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
func (w *CallTimeouts) checkDrip() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.grown < dripBytes {
		w.cancel(ErrDrip)
		return
	}
	w.grown = 0
	w.drip.Reset(dripGaps * w.gap)
}

// restart limits the next silence to d.
func (w *CallTimeouts) restart(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle.Reset(d)
}

// Ending takes in that an answer has its reason to finish: little can follow.
func (w *CallTimeouts) Ending() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun, w.gap = true, min(w.gap, restFor)
	w.idle.Reset(w.gap)
}

// Stop ends the call and its timers.
func (w *CallTimeouts) Stop() {
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
	return &llm.Error{Kind: llm.Timeout, Err: cause, Hung: errors.Is(cause, ErrNoStart)}
}

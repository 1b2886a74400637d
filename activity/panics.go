package activity

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// A panicCounter counts the updates and actions of an account that ran into a fault of
// this program. The zero value has counted none. It is safe for concurrent use.
type panicCounter struct {
	count atomic.Int64
	last  atomic.Pointer[PanicNote]
}

// A PanicNote says what ran into a fault of this program, and when. The log has its stack.
type PanicNote struct {
	What string
	At   time.Time
}

// note counts one.
func (c *panicCounter) note(what string, at time.Time) {
	c.count.Add(1)
	c.last.Store(&PanicNote{what, at})
}

// newest returns the last one; the zero value if there was none.
func (c *panicCounter) newest() PanicNote {
	if n := c.last.Load(); n != nil {
		return *n
	}
	return PanicNote{}
}

// processGuarded takes an update. One that it panics of is taken as unreadable, so
// that the batch it came in is recorded and acknowledged.
func (in *Ingress) processGuarded(ctx context.Context, u adapters.Update, at time.Time, taken *spaces.IngestBatch) error {
	if bad, ok := u.Body.(adapters.UnreadableUpdate); ok && bad.Panicked {
		in.counters.panics.note("an update ("+bad.Kind+")", at)
	}
	before := *taken
	err := adapters.CatchPanic(in.logger, "take "+bodyName(u.Body), func() error { return in.process(ctx, u, at, taken) })
	if !errors.Is(err, adapters.ErrPanicked) {
		return err
	}
	*taken = before
	in.counters.panics.note("an update ("+bodyName(u.Body)+")", at)
	u.Body = adapters.UnreadableUpdate{Kind: bodyName(u.Body), Reason: adapters.ErrPanicked.Error(), Panicked: true}
	return in.process(ctx, u, at, taken)
}

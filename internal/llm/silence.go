package llm

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// The time that a model has until its answer begins, or goes on, before it counts as
// silent: leastPatience, or patienceTimes the 99th percentile of its last firstWords
// answers.
const (
	leastPatience = time.Minute
	patienceTimes = 3
	firstWords    = 100
)

// aliveBytes is by how much an answer must grow to count as not silent, a few words.
const aliveBytes = 16

// errOvertaken ends a call that hangs while later ones are answered.
var errOvertaken = errors.New("no word of an answer, and calls that began later were answered")

// firstWordTimes keeps how long the newest answers of a model took to begin.
type firstWordTimes struct{ newest []time.Duration }

func (f *firstWordTimes) add(d time.Duration) {
	if f.newest = append(f.newest, d); len(f.newest) > firstWords {
		f.newest = slices.Delete(f.newest, 0, 1)
	}
}

// patience returns how long the model may be silent.
func (f *firstWordTimes) patience() time.Duration {
	if len(f.newest) == 0 {
		return leastPatience
	}
	sorted := slices.Sorted(slices.Values(f.newest))
	return max(leastPatience, patienceTimes*sorted[len(sorted)*99/100])
}

// callsInFlight follows the calls of an endpoint that are under way, and how long they
// have been silent. The zero value is ready for use.
type callsInFlight struct {
	mu    sync.Mutex // guards all below
	calls map[*callInFlight]bool
	times firstWordTimes
	heard time.Time // when the endpoint ended a call with an answer or a refusal, the last time
	hung  time.Time // since when a call was silent that has ended without either after heard
}

// A callInFlight is a call that is under way.
type callInFlight struct {
	began     time.Time
	first     time.Duration           // until its answer began; 0 before that
	silent    time.Time               // when it last grew by aliveBytes; before that, when it began
	grown     int                     // bytes since silent
	renewable bool                    // it may be made once more
	overtaken bool                    // a call that began later was answered
	overdue   *time.Timer             // looks at it when it has been silent too long
	cancel    context.CancelCauseFunc // ends it
}

// begin takes in that a call begins, whose request reports its growth from now on. A
// renewable one is ended when it hangs and calls that began later are answered. The
// returned function takes in the end of the call, and returns its error.
func (f *callsInFlight) begin(ctx context.Context, r *ModelRequest, renewable bool) (call context.Context, end func(error) error) {
	call, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	c := &callInFlight{began: now, silent: now, renewable: renewable, cancel: cancel}
	grew := r.Grew
	r.Grew = func(n int) {
		f.grew(c, n)
		if grew != nil {
			grew(n)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[*callInFlight]bool{}
	}
	f.calls[c] = true
	c.overdue = time.AfterFunc(f.times.patience(), func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.renew(c, time.Now())
	})
	return call, func(err error) error {
		defer cancel(nil)
		if err != nil && ctx.Err() == nil && errors.Is(context.Cause(call), errOvertaken) {
			err = &Error{Kind: Timeout, Hung: true, Err: errOvertaken}
		}
		f.end(c, err)
		return err
	}
}

// grew takes in that an answer grew by n bytes.
func (f *callsInFlight) grew(c *callInFlight, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if c.first == 0 && n > 0 {
		c.first = max(now.Sub(c.began), 1)
	}
	if c.grown += n; c.grown >= aliveBytes {
		c.silent, c.grown = now, 0
	}
}

// end takes in the end of a call.
func (f *callsInFlight) end(c *callInFlight, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.overdue.Stop()
	delete(f.calls, c)
	now := time.Now()
	if kind := KindOf(err); err != nil && (kind == Unavailable || kind == Timeout || kind == Garbled) {
		if f.isOverdue(c, now) && f.hung.IsZero() {
			f.hung = f.quiet(c)
		}
		return
	}
	f.heard, f.hung = now, time.Time{}
	if err != nil {
		return
	}
	if c.first == 0 {
		c.first = now.Sub(c.began)
	}
	f.times.add(c.first)
	for other := range f.calls {
		if other.began.Before(c.began) {
			other.overtaken = true
			f.renew(other, now)
		}
	}
}

// renew ends a call that hangs, to be made once more, when later ones were answered.
// f.mu is held.
func (f *callsInFlight) renew(c *callInFlight, now time.Time) {
	if c.renewable && c.overtaken && c.first == 0 && now.Sub(c.began) >= f.times.patience() {
		c.cancel(errOvertaken)
	}
}

// quiet returns since when a call proves that the endpoint is silent. f.mu is held.
func (f *callsInFlight) quiet(c *callInFlight) time.Time {
	if f.heard.After(c.silent) {
		return f.heard
	}
	return c.silent
}

// isOverdue reports whether a call has been silent too long. f.mu is held.
func (f *callsInFlight) isOverdue(c *callInFlight, now time.Time) bool {
	return now.Sub(f.quiet(c)) >= f.times.patience()
}

// silentSince returns since when the endpoint has been silent to a call for longer than
// its model may be; zero when it has not.
func (f *callsInFlight) silentSince(now time.Time) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	oldest := f.hung
	for c := range f.calls {
		if f.isOverdue(c, now) && (oldest.IsZero() || f.quiet(c).Before(oldest)) {
			oldest = f.quiet(c)
		}
	}
	return oldest
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/internal/failpoint"
)

const (
	// maxGroup bounds the writes that share one commit.
	maxGroup = 256
	// quiet is the pause between writes after which the session runs maintenance.
	quiet = 500 * time.Millisecond
)

// A WriteFunc is one write: stored whole or not at all. It runs on the writer's
// goroutine and must not keep t.
type WriteFunc func(ctx context.Context, t *WriteTx) error

// A job is a write that waits for its transaction.
type job struct {
	do       WriteFunc
	frequent bool // see [Writer.WriteFrequent]
	outcome  chan outcome
}

type outcome struct {
	err      error
	panicked error
	kept     bool // committed although there is an error, see [Tx]
}

// stays reports whether the write is committed.
func (o outcome) stays() bool { return o.panicked == nil && (o.err == nil || o.kept) }

// A GroupWriter owns the writing connection. Writes that wait at the same time share one
// transaction (group commit); one that fails is undone without the others.
type GroupWriter struct {
	jobs chan *job // unbuffered: a job that was received gets its outcome
	quit chan struct{}
	done sync.WaitGroup
	end  error // of the goroutine; read after done

	commits atomic.Int64
	clock   atomic.Pointer[DatabaseClock] // of the last transaction
	slowest atomic.Int64                  // nanoseconds of the slowest group since TakeSlowest
	began   atomic.Pointer[time.Time]     // start of the running group; nil while there is none
	full    atomic.Pointer[time.Time]     // when a write last failed with ErrFull; nil for never
	failing atomic.Pointer[WriteFailure]  // nil since the last commit
}

// A WriteFailure is why nothing is committed, and since when.
type WriteFailure struct {
	Since time.Time
	Err   error // of the last try
}

// StartWriter opens the writing session of an engine and starts the goroutine that
// runs the writes. bind is called once, before the first write, with the transaction
// that all of them get; it returns the cache of the caller.
func StartWriter(ctx context.Context, e DatabaseEngine, log *slog.Logger, bind func(*WriteTx) TableCache) (*GroupWriter, error) {
	ctx = context.WithoutCancel(ctx) // a write that has begun is finished
	session, err := e.Session(ctx)
	if err != nil {
		return nil, err
	}
	w := &GroupWriter{jobs: make(chan *job), quit: make(chan struct{})}
	w.clock.Store(&DatabaseClock{})
	t := &WriteTx{session: session, engine: e, clocked: &w.clock, log: log}
	t.cache = bind(t)
	w.done.Go(func() {
		w.end = errors.Join(w.run(ctx, t), session.Close())
	})
	return w, nil
}

// Write runs do in a transaction that is committed when Write returns nil. It stops
// waiting when ctx ends, but not once do has begun. A panic of do is passed on to
// the caller.
func (w *GroupWriter) Write(ctx context.Context, do WriteFunc) error {
	return w.submit(ctx, &job{do: do, outcome: make(chan outcome, 1)})
}

// WriteFrequent is Write for what every message needs. A group of such writes alone
// has no savepoints; if one of them fails, all are rolled back and run once more.
// do must therefore leave no state outside the database that a second run does not
// overwrite.
func (w *GroupWriter) WriteFrequent(ctx context.Context, do WriteFunc) error {
	return w.submit(ctx, &job{do: do, frequent: true, outcome: make(chan outcome, 1)})
}

func (w *GroupWriter) submit(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case w.jobs <- j:
	case <-w.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	o := <-j.outcome
	if o.panicked != nil {
		panic(o.panicked)
	}
	return o.err
}

// Stop waits for the running group and closes the session.
func (w *GroupWriter) Stop() error {
	close(w.quit)
	w.done.Wait()
	return w.end
}

// Clock returns the clock of the last transaction.
func (w *GroupWriter) Clock() DatabaseClock { return *w.clock.Load() }

// Commits returns the number of groups committed so far.
func (w *GroupWriter) Commits() int64 { return w.commits.Load() }

// TakeSlowest returns the duration of the slowest group since the previous call.
func (w *GroupWriter) TakeSlowest() time.Duration { return time.Duration(w.slowest.Swap(0)) }

// BusyFor returns how long the running group has taken so far; 0 while there is
// none. It does not query the database, which may not respond.
func (w *GroupWriter) BusyFor() time.Duration {
	if began := w.began.Load(); began != nil {
		return time.Since(*began)
	}
	return 0
}

// FullAt returns when a write last failed with [ErrFull]; zero for never.
func (w *GroupWriter) FullAt() time.Time {
	if at := w.full.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// Failing returns why no commit has succeeded since the first that failed, for whatever
// reason that is not in the write itself; the zero value when the last one succeeded. While
// nothing is written it does not change.
func (w *GroupWriter) Failing() WriteFailure {
	if f := w.failing.Load(); f != nil {
		return *f
	}
	return WriteFailure{}
}

// noteFailure keeps since when groups fail. Only the goroutine of the writer calls it.
func (w *GroupWriter) noteFailure(outcomes []outcome, err error, began time.Time) {
	for i := range outcomes {
		if err == nil && (errors.Is(outcomes[i].err, ErrUnwritable) || errors.Is(outcomes[i].err, ErrFull)) {
			err = outcomes[i].err
		}
	}
	stored := slices.ContainsFunc(outcomes, func(o outcome) bool { return o.stays() })
	switch known := w.failing.Load(); {
	case err != nil && !stored && known != nil:
		w.failing.Store(&WriteFailure{known.Since, err})
	case err != nil && !stored:
		w.failing.Store(&WriteFailure{began, err})
	case stored:
		w.failing.Store(nil)
	}
}

// run commits the waiting writes, group by group, until Stop.
func (w *GroupWriter) run(ctx context.Context, t *WriteTx) error {
	idle := time.NewTimer(quiet)
	defer idle.Stop()
	var group []*job
	for {
		select {
		case j := <-w.jobs:
			group = w.gather(append(group[:0], j))
			w.commit(ctx, t, group)
			clear(group) // releases the closures
			idle.Reset(quiet)
		case <-idle.C:
			if err := t.session.Rest(ctx); err != nil {
				t.log.Warn("database maintenance failed", "error", err)
			}
		case <-w.quit:
			return t.session.Rest(ctx)
		}
	}
}

// gather appends the other writes that wait now, up to maxGroup.
func (w *GroupWriter) gather(group []*job) []*job {
	for len(group) < maxGroup {
		select {
		case j := <-w.jobs:
			group = append(group, j)
		default:
			return group
		}
	}
	return group
}

// commit runs the group in one transaction and then sends the outcomes.
func (w *GroupWriter) commit(ctx context.Context, t *WriteTx, group []*job) {
	began := time.Now()
	w.began.Store(&began)
	apart := slices.ContainsFunc(group, func(j *job) bool { return !j.frequent })
	outcomes, retry, err := w.attempt(ctx, t, group, apart)
	if retry {
		outcomes, _, err = w.attempt(ctx, t, group, true)
	}
	for i := range outcomes {
		if err != nil && outcomes[i].stays() {
			outcomes[i].err = t.session.Kind(err)
		}
	}
	w.noteFailure(outcomes, err, began)
	w.makeRoom(t, outcomes)
	w.began.Store(nil) // before the callers go on
	w.slowest.Store(max(w.slowest.Load(), int64(time.Since(began))))
	for i, j := range group {
		j.outcome <- outcomes[i]
	}
}

// attempt runs the group in one transaction: apart, with a savepoint for each write,
// or together, where one failure returns retry. err is a failure of the whole
// transaction. With err or retry nothing is stored.
func (w *GroupWriter) attempt(ctx context.Context, t *WriteTx, group []*job, apart bool) (outcomes []outcome, retry bool, err error) {
	outcomes = make([]outcome, len(group))
	stored := false
	if err = t.begin(ctx); err == nil {
		stored, retry, err = t.runGroup(ctx, group, outcomes, apart)
	}
	clear(t.followUps)
	t.followUps = t.followUps[:0]
	if err != nil || retry || !stored {
		return outcomes, retry, errors.Join(err, t.rollback(ctx))
	}
	if err = t.commit(ctx); err == nil {
		w.commits.Add(1)
	}
	return outcomes, false, err
}

// runGroup runs the writes and their follow-ups, and reports whether anything is to
// be committed.
func (t *WriteTx) runGroup(ctx context.Context, group []*job, outcomes []outcome, apart bool) (stored, retry bool, err error) {
	for i, j := range group {
		if outcomes[i], err = runJob(ctx, t, j.do, apart && len(group) > 1); err != nil {
			return false, false, err
		}
		if !apart && len(group) > 1 && !outcomes[i].stays() {
			return false, true, nil
		}
		stored = stored || outcomes[i].stays()
	}
	if !stored {
		return false, false, nil
	}
	several := len(group)+len(t.followUps) > 1
	if apart && len(group) == 1 || !several {
		if failed := t.store(ctx); failed != nil {
			outcomes[0] = outcome{err: t.session.Kind(failed)}
			return false, false, nil
		}
	}
	if retry, err = t.runFollowUps(ctx, apart); err != nil || retry || apart {
		return true, retry, err
	}
	if several && (t.store(ctx) != nil || t.session.Flush(ctx) != nil) {
		return true, true, nil // the retry, with savepoints, finds the write that failed
	}
	return true, failpoint.Point("group.written") != nil, nil
}

// runFollowUps runs what the writes passed to Follow. One that fails is undone alone
// if each has a savepoint; otherwise the group is run again.
func (t *WriteTx) runFollowUps(ctx context.Context, apart bool) (retry bool, err error) {
	for _, f := range t.followUps {
		o, err := runJob(ctx, t, f.do, apart)
		switch {
		case err != nil:
			return false, err
		case o.stays():
			f.then()
		case !apart:
			return true, nil
		default:
			t.log.Error("follow-up write undone", "error", errors.Join(o.err, o.panicked))
		}
	}
	return false, nil
}

// makeRoom frees the reserved disk space when a write failed with ErrFull.
func (w *GroupWriter) makeRoom(t *WriteTx, outcomes []outcome) {
	full := slices.ContainsFunc(outcomes, func(o outcome) bool { return errors.Is(o.err, ErrFull) })
	if full {
		w.full.Store(new(time.Now()))
	}
	if full && t.releaseReserve() {
		t.log.Warn("disk is full, reserved disk space freed")
	}
}

// runJob runs one write; apart sets a savepoint before it. The second result is a
// failure of the whole transaction.
func runJob(ctx context.Context, t *WriteTx, do WriteFunc, apart bool) (o outcome, err error) {
	if apart {
		if err := t.session.Save(ctx); err != nil {
			return outcome{}, err
		}
	}
	t.kept = false
	t.cache.Trim()
	before := len(t.followUps)
	o = guarded(ctx, t, do)
	if o.stays() && apart {
		failed := t.store(ctx)
		if failed == nil {
			failed = t.session.Flush(ctx)
		}
		if failed == nil {
			return o, t.session.Keep(ctx)
		}
		o = outcome{err: t.session.Kind(failed)}
	}
	if o.stays() {
		return o, nil
	}
	t.followUps = t.followUps[:before]
	if !apart {
		return o, nil // the caller rolls back the whole transaction
	}
	return o, t.undo(ctx)
}

// guarded runs do and turns a panic into an outcome: the writer goroutine goes on.
func guarded(ctx context.Context, t *WriteTx, do WriteFunc) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o.panicked = fmt.Errorf("store: write panicked: %v\n%s", p, debug.Stack())
		}
	}()
	err := do(ctx, t)
	return outcome{err: t.session.Kind(err), kept: t.kept}
}

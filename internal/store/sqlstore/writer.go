package sqlstore

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
	// quiet is how long no write came before the session is told to rest.
	quiet = 500 * time.Millisecond
)

// A writeFunc is one change of the record: whole or not at all. It runs on the
// writer's goroutine and keeps nothing of t.
type writeFunc func(ctx context.Context, t *tx) error

// A job is a write on its way, with the place its outcome goes.
type job struct {
	do      writeFunc
	often   bool // see [writer.writeOften]
	outcome chan outcome
}

type outcome struct {
	err      error
	panicked error
	kept     bool // committed although there is an error, see [tx]
}

// stays reports whether what the job wrote is committed.
func (o outcome) stays() bool { return o.panicked == nil && (o.err == nil || o.kept) }

// The writer is the goroutine that owns the writing connection.
type writer struct {
	jobs chan *job // unbuffered: what is taken is answered
	quit chan struct{}
	done sync.WaitGroup
	end  error // of the goroutine; read after done

	commits atomic.Int64
	clock   atomic.Pointer[clock]     // of the last turn
	slowest atomic.Int64              // nanoseconds of the slowest group since somebody last looked
	began   atomic.Pointer[time.Time] // when the group under way began; nil while there is none
	full    atomic.Pointer[time.Time] // when a write last found the disk full; nil for never
}

func startWriter(ctx context.Context, e Engine, o Options) (*writer, error) {
	// Statements run under a context that never ends: a write that had its turn is
	// finished, and nothing has to watch over it.
	ctx = context.WithoutCancel(ctx)
	session, err := e.Session(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{jobs: make(chan *job), quit: make(chan struct{})}
	w.clock.Store(&clock{})
	t := newTx(session, e, o, &w.clock)
	w.done.Go(func() {
		w.end = errors.Join(w.run(ctx, t, o.Logger), session.Close())
	})
	return w, nil
}

// write hands do to the writer and waits for its outcome. A panic of do comes
// back as a panic here, where the caller can deal with it.
func (w *writer) write(ctx context.Context, do writeFunc) error {
	return w.hand(ctx, &job{do: do, outcome: make(chan outcome, 1)})
}

// writeOften is write for what every message needs. Where nothing else is in a group,
// none of it has a savepoint, and when one write fails all are taken back and run once
// more (ADR 7): do leaves nothing behind that a second run would not write over.
func (w *writer) writeOften(ctx context.Context, do writeFunc) error {
	return w.hand(ctx, &job{do: do, often: true, outcome: make(chan outcome, 1)})
}

func (w *writer) hand(ctx context.Context, j *job) error {
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

func (w *writer) stop() error {
	close(w.quit)
	w.done.Wait()
	return w.end
}

// Commits returns how many groups of writes were committed so far.
func (s *Store) Commits() int64 { return s.writer.commits.Load() }

// Busy returns for how long the commit under way lasts; 0 while there is none. It
// asks nothing of the database, which may be what does not answer.
func (s *Store) Busy() time.Duration {
	if began := s.writer.began.Load(); began != nil {
		return time.Since(*began)
	}
	return 0
}

// Full returns when a write last found the disk full; zero when none has.
func (s *Store) Full() time.Time {
	if at := s.writer.full.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// run takes what waits and commits it, until quit.
func (w *writer) run(ctx context.Context, t *tx, lg *slog.Logger) error {
	idle := time.NewTimer(quiet)
	defer idle.Stop()
	var group []*job
	for {
		select {
		case j := <-w.jobs:
			group = w.gather(append(group[:0], j))
			w.commit(ctx, t, group)
			clear(group) // what was written is not kept for the next
			idle.Reset(quiet)
		case <-idle.C:
			if err := t.session.Rest(ctx); err != nil {
				lg.Warn("not put in order at rest", "error", err)
			}
		case <-w.quit:
			return t.session.Rest(ctx)
		}
	}
}

// gather adds what else is waiting right now.
func (w *writer) gather(group []*job) []*job {
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

// commit runs the group in one transaction and then answers all of it.
func (w *writer) commit(ctx context.Context, t *tx, group []*job) {
	began := time.Now()
	w.began.Store(&began)
	apart := slices.ContainsFunc(group, func(j *job) bool { return !j.often })
	outcomes, spoilt, err := w.attempt(ctx, t, group, apart)
	if spoilt {
		outcomes, _, err = w.attempt(ctx, t, group, true)
	}
	for i := range outcomes {
		if err != nil && outcomes[i].stays() {
			outcomes[i].err = t.session.Kind(err)
		}
	}
	w.makeRoom(t, outcomes)
	w.began.Store(nil) // whoever is answered finds it ended
	w.slowest.Store(max(w.slowest.Load(), int64(time.Since(began))))
	for i, j := range group {
		j.outcome <- outcomes[i]
	}
}

// attempt runs the group in one transaction: apart, with a savepoint for each job, or
// together, which one that fails spoils for all. What it returns last is trouble of
// the whole transaction. Then, and of a spoilt one, nothing is kept.
func (w *writer) attempt(ctx context.Context, t *tx, group []*job, apart bool) (outcomes []outcome, spoilt bool, err error) {
	outcomes = make([]outcome, len(group))
	kept := false
	if err = t.begin(ctx); err == nil {
		kept, spoilt, err = t.runGroup(ctx, group, outcomes, apart)
	}
	clear(t.followers)
	t.followers = t.followers[:0]
	if err != nil || spoilt || !kept {
		return outcomes, spoilt, errors.Join(err, t.rollback(ctx))
	}
	if err = t.commit(ctx); err == nil {
		w.commits.Add(1)
	}
	return outcomes, false, err
}

// runGroup runs the jobs and what follows them, and reports whether anything of it is
// to be kept.
func (t *tx) runGroup(ctx context.Context, group []*job, outcomes []outcome, apart bool) (kept, spoilt bool, err error) {
	for i, j := range group {
		if outcomes[i], err = runJob(ctx, t, j.do, apart && len(group) > 1); err != nil {
			return false, false, err
		}
		if !apart && len(group) > 1 && !outcomes[i].stays() {
			return false, true, nil
		}
		kept = kept || outcomes[i].stays()
	}
	if !kept {
		return false, false, nil
	}
	if spoilt, err = t.runFollowers(ctx, apart); err != nil || spoilt || apart {
		return true, spoilt, err
	}
	if several := len(group)+len(t.followers) > 1; several && t.session.Flush(ctx) != nil { // whose it is shows apart
		return true, true, nil
	}
	return true, failpoint.Point("group.written") != nil, nil
}

// runFollowers runs what the jobs wanted to follow them. One that fails spoils the
// transaction unless each is apart: then it alone is undone.
func (t *tx) runFollowers(ctx context.Context, apart bool) (spoilt bool, err error) {
	for _, f := range t.followers {
		o, err := runJob(ctx, t, f.do, apart)
		switch {
		case err != nil:
			return false, err
		case o.stays():
			f.then()
		case !apart:
			return true, nil
		default:
			t.lg.Error("follower undone", "error", errors.Join(o.err, o.panicked))
		}
	}
	return false, nil
}

// makeRoom gives up the ballast when a write found the disk full.
func (w *writer) makeRoom(t *tx, outcomes []outcome) {
	full := slices.ContainsFunc(outcomes, func(o outcome) bool { return errors.Is(o.err, ErrFull) })
	if full {
		w.full.Store(new(time.Now()))
	}
	if full && t.relieve != nil && t.relieve() {
		t.lg.Warn("disk is full, ballast given up")
	}
}

// runJob runs one job, apart on a savepoint. What it returns second is trouble of the
// whole transaction: then nothing of the group is kept.
func runJob(ctx context.Context, t *tx, do writeFunc, apart bool) (o outcome, err error) {
	if apart {
		if err := t.session.Save(ctx); err != nil {
			return outcome{}, err
		}
	}
	t.kept = false
	t.cache.trim()
	before := len(t.followers)
	o = guarded(ctx, t, do)
	if o.stays() && apart {
		failed := t.session.Flush(ctx)
		if failed == nil {
			return o, t.session.Keep(ctx)
		}
		o = outcome{err: t.session.Kind(failed)}
	}
	if o.stays() {
		return o, nil
	}
	t.followers = t.followers[:before]
	if !apart {
		return o, nil // the whole transaction is taken back
	}
	return o, t.undo(ctx)
}

// guarded runs do and turns a panic into an outcome: the writer serves others too.
func guarded(ctx context.Context, t *tx, do writeFunc) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o.panicked = fmt.Errorf("store: write panicked: %v\n%s", p, debug.Stack())
		}
	}()
	err := do(ctx, t)
	if err == nil || t.kept {
		if flushed := t.flush(ctx); flushed != nil {
			t.kept = false
			err = flushed
		}
	}
	return outcome{err: t.session.Kind(err), kept: t.kept}
}

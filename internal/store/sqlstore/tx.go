package sqlstore

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/internal/failpoint"
)

// A tx is the writing session within a transaction. It belongs to the writer's
// goroutine.
type tx struct {
	session Session
	inherit func(ctx context.Context, s Session) (bool, error)
	relieve func() bool // gives up what the engine has set aside; nil when nothing is
	cache   *cache
	newID   func() string
	now     func() time.Time
	idle    time.Duration
	clock   clock                  // of this turn
	clocked *atomic.Pointer[clock] // the same, for those who only read
	lg      *slog.Logger

	followers []afterCommitJob // of the group's jobs, to run before the commit

	// kept is set when the running job is committed although its caller gets an
	// error: a refusal that is itself recorded, or an answer a test wants lost.
	kept bool
}

func newTx(session Session, e Engine, o Options, clocked *atomic.Pointer[clock]) *tx {
	t := &tx{session: session, clocked: clocked, cache: newCache(), newID: o.NewID, now: o.Now, idle: o.Idle, lg: o.Logger}
	if r, ok := e.(SpaceFreer); ok {
		t.relieve = r.Relieve
	}
	t.inherit = func(context.Context, Session) (bool, error) { return true, nil }
	if h, ok := e.(Recoverer); ok {
		t.inherit = h.Inherit
	}
	return t
}

// begin waits for the turn of this process.
func (t *tx) begin(ctx context.Context) error {
	turn, err := t.session.Begin(ctx)
	if !turn.Now.IsZero() {
		t.clock = clock{shared: turn.Now, own: time.Now()}
		t.clocked.Store(new(t.clock))
	}
	if turn.News {
		t.cache.news()
	}
	return err
}

// shared returns the stored form of an instant of this process that others compare
// with theirs.
func (t *tx) shared(at time.Time) int64 { return ms(t.clock.of(at)) }

// An afterCommitJob is a write that comes after all jobs that share its transaction, and what
// is to be done once it was not undone.
type afterCommitJob struct {
	do   writeFunc
	then func()
}

// follow has do run in the same transaction after all jobs that share it, and then
// after it. What do fails at is undone alone; the jobs stay.
func (t *tx) follow(do writeFunc, then func()) {
	t.followers = append(t.followers, afterCommitJob{do, then})
}

// Query implements [Reader] within the transaction.
func (t *tx) Query(ctx context.Context, statement string, args ...any) (Rows, error) {
	return t.session.Query(ctx, statement, args...)
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(ctx context.Context, q query, args ...any) (int64, error) {
	return t.session.Exec(ctx, string(q), args...)
}

// run is exec for statements whose count does not matter.
func (t *tx) run(ctx context.Context, q query, args ...any) error {
	return t.session.Run(ctx, string(q), args...)
}

// undo takes back the running job alone.
func (t *tx) undo(ctx context.Context) error {
	t.cache.clear()
	return t.session.Undo(ctx)
}

// commit puts the group on disk. When it fails nothing of it is left.
func (t *tx) commit(ctx context.Context) error {
	err := t.session.Commit(ctx)
	if err != nil {
		t.cache.clear()
	}
	return err
}

// rollback takes back the whole transaction.
func (t *tx) rollback(ctx context.Context) error {
	t.cache.clear()
	return t.session.Rollback(ctx)
}

// reached marks the place right before the commit of the running job. A planned
// loss of the answer lets the job commit and tells its caller otherwise.
func (t *tx) reached(point string) error {
	passed := false
	err := failpoint.Guard(point, func() error { passed = true; return nil })
	t.kept = passed && err != nil
	return err
}

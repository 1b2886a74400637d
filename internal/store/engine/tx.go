package engine

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/internal/failpoint"
)

// A TableCache holds what the caller remembers of the tables between transactions.
// The writer calls it on its own goroutine.
type TableCache interface {
	// Reset forgets everything, because a write was rolled back.
	Reset()
	// Invalidate forgets what other processes may have changed.
	Invalidate()
	// Trim keeps the cache within its bounds. It is called between writes.
	Trim()
	// Flush adds the rows that writes have changed in the cache alone.
	Flush(ctx context.Context) error
}

// A WriteTx is the write transaction of a [Writer]. It belongs to the writer's goroutine
// and is the same value in every transaction.
type WriteTx struct {
	session WriteSession
	engine  DatabaseEngine
	cache   TableCache
	clock   DatabaseClock                  // of this transaction
	clocked *atomic.Pointer[DatabaseClock] // the same, for readers
	log     *slog.Logger

	rows      []rowList  // that were added and are not stored yet
	followUps []followUp // of the group's writes, run before the commit

	// kept is set when the running write is committed although its caller gets an
	// error: a refusal that is itself stored, or a lost answer in a test.
	kept bool
}

// A followUp is a write that runs after all writes that share its transaction, and
// the callback for when it was not undone.
type followUp struct {
	do   WriteFunc
	then func()
}

// Follow runs do in the same transaction after all writes that share it, and then
// calls then. If do fails it is undone alone; the writes before it stay.
func (t *WriteTx) Follow(do WriteFunc, then func()) {
	t.followUps = append(t.followUps, followUp{do, then})
}

// Query implements [Reader] within the transaction.
func (t *WriteTx) Query(ctx context.Context, statement string, args ...any) (Rows, error) {
	if slices.ContainsFunc(t.rows, func(l rowList) bool { return strings.Contains(statement, l.batch.table) }) {
		if err := t.storeRows(ctx); err != nil {
			return nil, err
		}
	}
	return t.session.Query(ctx, statement, args...)
}

// Exec runs a statement and returns how many rows it changed.
func (t *WriteTx) Exec(ctx context.Context, q QueryText, args ...any) (int64, error) {
	if err := t.storeRows(ctx); err != nil {
		return 0, err
	}
	statements.Add(1)
	return t.session.Exec(ctx, string(q), args...)
}

// Run is Exec for statements whose count does not matter.
func (t *WriteTx) Run(ctx context.Context, q QueryText, args ...any) error {
	if err := t.storeRows(ctx); err != nil {
		return err
	}
	statements.Add(1)
	return t.session.Run(ctx, string(q), args...)
}

// RunAside is Run for a statement about rows of its own: those that were added and are not
// stored yet are not among them.
func (t *WriteTx) RunAside(ctx context.Context, q QueryText, args ...any) error {
	statements.Add(1)
	return t.session.Run(ctx, string(q), args...)
}

// Stored reads what is stored, without the rows that were added and are not stored yet.
func (t *WriteTx) Stored() QueryReader { return t.session }

// Added returns the rows of a batch that are not stored yet.
func (t *WriteTx) Added(b *RowBatch) [][]any {
	for _, l := range t.rows {
		if l.batch == b {
			return l.rows
		}
	}
	return nil
}

// Session returns the connection, for the methods of [Cluster] that write.
func (t *WriteTx) Session() WriteSession { return t.session }

// Clock returns the clock of this transaction.
func (t *WriteTx) Clock() DatabaseClock { return t.clock }

// SharedMillis returns the stored form of an instant of this process that other
// processes compare with theirs.
func (t *WriteTx) SharedMillis(at time.Time) int64 { return ToMillis(t.clock.ToShared(at)) }

// IsLastWriter reports whether no other process runs agents; see [Recoverer].
func (t *WriteTx) IsLastWriter(ctx context.Context) (bool, error) {
	if r, ok := t.engine.(Recoverer); ok {
		return r.IsLastWriter(ctx, t.session)
	}
	return true, nil
}

// CommitRefusal commits the running write although it returns an error.
func (t *WriteTx) CommitRefusal() { t.kept = true }

// Reached passes the failpoint right before the commit of the running write. A
// planned loss of the answer commits the write and returns an error to its caller.
func (t *WriteTx) Reached(point string) error {
	passed := false
	err := failpoint.Guard(point, func() error { passed = true; return nil })
	t.kept = passed && err != nil
	return err
}

// begin waits for the write lock.
func (t *WriteTx) begin(ctx context.Context) error {
	turn, err := t.session.Begin(ctx)
	if !turn.Now.IsZero() {
		t.clock = DatabaseClock{Shared: turn.Now, Own: time.Now()}
		t.clocked.Store(new(t.clock))
	}
	if turn.Stale {
		t.cache.Invalidate()
	}
	return err
}

// store stores what the writes have added and changed in the cache.
func (t *WriteTx) store(ctx context.Context) error {
	if err := t.cache.Flush(ctx); err != nil {
		return err
	}
	return t.storeRows(ctx)
}

// forget forgets what was to be stored, and what the cache has of it.
func (t *WriteTx) forget() {
	t.rows = nil
	t.cache.Reset()
}

// undo rolls back the running write alone.
func (t *WriteTx) undo(ctx context.Context) error {
	t.forget()
	return t.session.Undo(ctx)
}

// commit stores the group. When it fails nothing of the group is stored.
func (t *WriteTx) commit(ctx context.Context) error {
	err := t.session.Commit(ctx)
	if err != nil {
		t.forget()
	}
	return err
}

// rollback undoes the whole transaction.
func (t *WriteTx) rollback(ctx context.Context) error {
	t.forget()
	return t.session.Rollback(ctx)
}

// releaseReserve frees the reserved disk space of the engine, if it has any.
func (t *WriteTx) releaseReserve() bool {
	r, ok := t.engine.(SpaceReserver)
	return ok && r.ReleaseReserve()
}

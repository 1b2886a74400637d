package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"github.com/trestle-bridge/trestle/internal/fault"
)

const (
	beginWrite  query = `begin immediate`
	commitWrite query = `commit`
	undoAll     query = `rollback`
	saveJob     query = `savepoint job`
	keepJob     query = `release job`
	undoJob     query = `rollback to job`
	waitNot     query = `pragma busy_timeout = 0`
	waitAgain   query = `pragma busy_timeout = 5000`
	foldLogIn   query = `pragma wal_checkpoint(truncate)`
)

// A tx is the writer's connection within a transaction. It belongs to the
// writer's goroutine.
type tx struct {
	conn  *sql.Conn
	stmts map[query]*sql.Stmt
	cache *cache
	newID func() string
	now   func() time.Time
	idle  time.Duration
	dir   string
	lg    *slog.Logger
	dirty bool // written since the log was last folded in

	followers []write // of the group's jobs, to run before the commit

	// kept is set when the running job is committed although its caller gets an
	// error: a refusal that is itself recorded, or an answer a test wants lost.
	kept bool
}

func newTx(conn *sql.Conn, o Options) *tx {
	return &tx{
		conn: conn, stmts: map[query]*sql.Stmt{}, cache: newCache(),
		newID: o.NewID, now: o.Now, idle: o.Idle, dir: o.Dir, lg: o.Logger,
	}
}

// follow has do run in the same transaction after all jobs that share it. What
// do fails at is undone alone; the jobs stay.
func (t *tx) follow(do write) { t.followers = append(t.followers, do) }

func (t *tx) query(ctx context.Context, q query, args ...any) (*sql.Rows, error) {
	st, err := t.prepared(ctx, q)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(ctx context.Context, q query, args ...any) (int64, error) {
	st, err := t.prepared(ctx, q)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// run is exec for statements whose count does not matter.
func (t *tx) run(ctx context.Context, q query, args ...any) error {
	_, err := t.exec(ctx, q, args...)
	return err
}

func (t *tx) prepared(ctx context.Context, q query) (*sql.Stmt, error) {
	if st, ok := t.stmts[q]; ok {
		return st, nil
	}
	st, err := t.conn.PrepareContext(ctx, string(q))
	if err != nil {
		return nil, err
	}
	t.stmts[q] = st
	return st, nil
}

func (t *tx) begin(ctx context.Context) error { return t.run(ctx, beginWrite) }
func (t *tx) save(ctx context.Context) error  { return t.run(ctx, saveJob) }
func (t *tx) keep(ctx context.Context) error  { return t.run(ctx, keepJob) }

// undo takes back the running job alone.
func (t *tx) undo(ctx context.Context) error {
	t.cache.clear()
	return errors.Join(t.run(ctx, undoJob), t.run(ctx, keepJob))
}

func (t *tx) commit(ctx context.Context) error {
	err := t.run(ctx, commitWrite)
	t.dirty = true
	if err != nil {
		return errors.Join(err, t.rollback(ctx))
	}
	return nil
}

// rollback takes back the whole transaction. After some errors, a full disk
// among them, the engine has already done so.
func (t *tx) rollback(ctx context.Context) error {
	t.cache.clear()
	err := t.run(ctx, undoAll)
	if err != nil && t.outside(ctx) {
		return nil
	}
	return err
}

// outside reports whether no transaction is open.
func (t *tx) outside(ctx context.Context) bool {
	if t.run(ctx, beginWrite) != nil {
		return false
	}
	return t.run(ctx, undoAll) == nil
}

// checkpoint folds the log into the file and cuts it to nothing. It does not
// wait for readers: there is always a next time.
func (t *tx) checkpoint(ctx context.Context) error {
	if !t.dirty {
		return nil
	}
	if err := t.run(ctx, waitNot); err != nil {
		return err
	}
	var busy, logged, folded int
	_, err := one(ctx, t, foldLogIn, nil, &busy, &logged, &folded)
	t.dirty = err != nil || busy != 0
	return errors.Join(err, t.run(ctx, waitAgain))
}

func (t *tx) close() error {
	var errs []error
	for _, st := range t.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(errs...)
}

// reached marks the place right before the commit of the running job. A planned
// loss of the answer lets the job commit and tells its caller otherwise.
func (t *tx) reached(point string) error {
	passed := false
	err := fault.Guard(point, func() error { passed = true; return nil })
	t.kept = passed && err != nil
	return err
}

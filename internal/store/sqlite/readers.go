package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// readerCount is how many reads may run at once.
const readerCount = 4

// readers are the connections that only read, each with its own view of the
// last commit.
type readers struct {
	db *sql.DB

	mu    sync.Mutex // guards stmts
	stmts map[query]*sql.Stmt
}

func openReaders(ctx context.Context, file string) (*readers, error) {
	return connectReaders(ctx, file, "ro", reading)
}

func connectReaders(ctx context.Context, file, mode string, settings []pragma) (*readers, error) {
	db, err := sql.Open("sqlite", source(file, mode, settings))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readerCount)
	db.SetMaxIdleConns(readerCount)
	r := &readers{db: db, stmts: map[query]*sql.Stmt{}}
	// All of them are opened and held at once, so that each one is verified.
	for range readerCount {
		c, err := db.Conn(ctx)
		if err != nil {
			return r, err
		}
		defer c.Close()
		if err := verify(ctx, c, settings); err != nil {
			return r, err
		}
	}
	return r, nil
}

// query runs one prepared read. The engine would start a goroutine for every
// statement under a context that can end; reads here are short, so they are not
// interrupted once they began.
func (r *readers) query(ctx context.Context, q query, args ...any) (*sql.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	st, err := r.prepared(ctx, q)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// view runs do with one unchanging view of the record.
func (r *readers) view(ctx context.Context, do func(ctx context.Context, src reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	t, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, snapshot{r, t}), t.Rollback())
}

func (r *readers) prepared(ctx context.Context, q query) (*sql.Stmt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if st, ok := r.stmts[q]; ok {
		return st, nil
	}
	st, err := r.db.PrepareContext(ctx, string(q))
	if err != nil {
		return nil, err
	}
	r.stmts[q] = st
	return st, nil
}

func (r *readers) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, st := range r.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, r.db.Close())...)
}

// A snapshot reads within one transaction.
type snapshot struct {
	r *readers
	t *sql.Tx
}

func (s snapshot) query(ctx context.Context, q query, args ...any) (*sql.Rows, error) {
	return s.t.QueryContext(ctx, string(q), args...)
}

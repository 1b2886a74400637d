package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/trestle-bridge/trestle/internal/store/record"
)

// readerCount is how many reads may run at once.
const readerCount = 4

// readers are the connections that only read, each with its own view of the
// last commit.
type readers struct {
	db *sql.DB

	mu    sync.Mutex // guards stmts
	stmts map[string]*sql.Stmt
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
	r := &readers{db: db, stmts: map[string]*sql.Stmt{}}
	// All of them are opened and held at once, so that each one is verified.
	for range readerCount {
		c, err := db.Conn(ctx)
		if err != nil {
			return r, err
		}
		defer c.Close()
		if err := verify(ctx, asking(c), settings); err != nil {
			return r, err
		}
	}
	return r, nil
}

// Query runs one prepared read. The engine would start a goroutine for every
// statement under a context that can end; reads here are short, so they are not
// interrupted once they began.
func (r *readers) Query(ctx context.Context, statement string, args ...any) (record.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	st, err := r.prepared(ctx, statement)
	if err != nil {
		return nil, err
	}
	return rowsOf(st.QueryContext(ctx, args...))
}

// View runs do with one unchanging view of the record.
func (r *readers) View(ctx context.Context, do func(ctx context.Context, src record.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	t, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, snapshot{t}), t.Rollback())
}

func (r *readers) prepared(ctx context.Context, statement string) (*sql.Stmt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if st, ok := r.stmts[statement]; ok {
		return st, nil
	}
	st, err := r.db.PrepareContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	r.stmts[statement] = st
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
type snapshot struct{ t *sql.Tx }

// Query implements [record.Reader].
func (s snapshot) Query(ctx context.Context, statement string, args ...any) (record.Rows, error) {
	return rowsOf(s.t.QueryContext(ctx, statement, args...))
}

// rowsOf makes no rows of an error.
func rowsOf(rows *sql.Rows, err error) (record.Rows, error) {
	if err != nil {
		return nil, err
	}
	return rows, nil
}

package sqlite

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	// foldEvery is after how many commits the log is folded in beside them.
	foldEvery = 128
	foldPart  = `pragma wal_checkpoint(passive)`
)

// A checkpointer folds the log into the file while the session goes on writing, on a
// connection of its own: a write that had to wait for it would be late by the
// time that the disk takes for all pages that changed. What is written meanwhile is
// little. The session folds that in before its next write, which then finds a log that
// is all in the file and begins it anew: a log that grows takes the disk longer.
type checkpointer struct {
	*connection
	lg      *slog.Logger
	bell    chan struct{}
	commits atomic.Int64 // of the session
	rest    atomic.Bool  // some came while the log was folded in
	done    sync.WaitGroup
	end     error // of closing the connection; read after done
}

func startFolder(ctx context.Context, c *connection, lg *slog.Logger) *checkpointer {
	f := &checkpointer{connection: c, lg: lg, bell: make(chan struct{}, 1)}
	f.done.Go(func() { f.end = f.run(ctx) })
	return f
}

// ring has the log folded in soon. It never blocks.
func (f *checkpointer) ring() {
	select {
	case f.bell <- struct{}{}:
	default: // already rung
	}
}

// run folds whenever somebody rang, until stop.
func (f *checkpointer) run(ctx context.Context) error {
	for range f.bell {
		before := f.commits.Load()
		f.part(ctx, f.connection)
		f.rest.Store(f.commits.Load() != before)
	}
	return f.Close()
}

// part folds in what is committed by now, as far as nobody is in the way.
func (f *checkpointer) part(ctx context.Context, by *connection) {
	if _, err := fold(ctx, by, foldPart); err != nil {
		f.lg.Warn("log not folded in", "error", err) // the session does it when the log is long
	}
}

// stop waits for the end of what is under way.
func (f *checkpointer) stop() error {
	close(f.bell)
	f.done.Wait()
	return f.end
}

// fold runs a checkpoint and reports whether others were in its way.
func fold(ctx context.Context, src engine.Reader, statement string) (busy bool, err error) {
	rows, err := src.Query(ctx, statement)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	var logged, folded int
	for rows.Next() {
		if err := rows.Scan(&busy, &logged, &folded); err != nil {
			return false, err
		}
	}
	return busy, rows.Err()
}

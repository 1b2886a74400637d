package sqlite

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	// foldEvery is the number of commits between two checkpoints.
	foldEvery = 128
	foldPart  = `pragma wal_checkpoint(passive)`
)

// A checkpointer runs passive WAL checkpoints on a connection of its own, so that writes
// do not wait for the disk to write all changed pages. Few pages are written meanwhile:
// the session checkpoints those before its next write, so that the WAL restarts instead
// of growing.
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

// ring requests a checkpoint. It never blocks.
func (f *checkpointer) ring() {
	select {
	case f.bell <- struct{}{}:
	default: // already rung
	}
}

// run runs a checkpoint for each request until stop is called.
func (f *checkpointer) run(ctx context.Context) error {
	for range f.bell {
		before := f.commits.Load()
		f.part(ctx, f.connection)
		f.rest.Store(f.commits.Load() != before)
	}
	return f.Close()
}

// part checkpoints the commits so far, as far as no reader blocks it.
func (f *checkpointer) part(ctx context.Context, by *connection) {
	if _, err := fold(ctx, by, foldPart); err != nil {
		f.lg.Warn("log not folded in", "error", err) // the session does it when the log is long
	}
}

// stop waits for the checkpoint under way and closes the connection.
func (f *checkpointer) stop() error {
	close(f.bell)
	f.done.Wait()
	return f.end
}

// fold runs a checkpoint and reports whether a reader or writer blocked it.
func fold(ctx context.Context, src engine.QueryReader, statement string) (busy bool, err error) {
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

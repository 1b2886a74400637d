package sqlstore

import (
	"context"
	"io"
	"time"
)

// Rows are the answer to a statement, read one after the other. Whoever asked
// closes them.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	io.Closer
}

// A Reader answers statements. Their parameters are written $1, $2 and so on.
type Reader interface {
	Query(ctx context.Context, statement string, args ...any) (Rows, error)
}

// An Engine keeps the tables of one record. Its methods may be called
// concurrently. As a Reader it sees every commit that returned before the
// statement began.
type Engine interface {
	Reader
	// View runs do with one unchanging view of the record.
	View(ctx context.Context, do func(ctx context.Context, src Reader) error) error
	// Session opens the one connection that writes. Statements run on it under a
	// context that never ends: a write that had its turn is finished.
	Session(ctx context.Context) (Session, error)
	// Size returns how many bytes the record takes.
	Size(ctx context.Context) (int64, error)
	// Close gives up everything that is open. The session has been closed before.
	Close() error
}

// A WriteTurn is what a session learns when it may write.
type WriteTurn struct {
	// News is set when others have written since this session last did: what is
	// remembered of the tables may be wrong.
	News bool
	// Now is what the clock says that leases, timers and deadlines go by. Zero: it
	// is this process's own.
	Now time.Time
}

// A Session is the connection that writes. It belongs to one goroutine.
type Session interface {
	Reader
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, statement string, args ...any) (int64, error)
	// Run is Exec for statements whose count does not matter. It may be put off
	// until the next statement that is answered, and then fail there.
	Run(ctx context.Context, statement string, args ...any) error
	// Flush runs what was put off.
	Flush(ctx context.Context) error

	// Begin waits until nobody else writes and opens a transaction. Commit puts it
	// on disk; a Commit that fails has left nothing behind. Rollback takes it back.
	Begin(ctx context.Context) (WriteTurn, error)
	Commit(ctx context.Context) error
	Rollback(ctx context.Context) error

	// Save marks a place in the transaction. Keep forgets the mark and Undo takes
	// back what was written since.
	Save(ctx context.Context) error
	Keep(ctx context.Context) error
	Undo(ctx context.Context) error

	// Kind gives an error of the engine the type its callers look for.
	Kind(err error) error
	// Rest is called when nothing was written for a while, and before Close.
	Rest(ctx context.Context) error
	Close() error
}

// A Recoverer is an engine whose record several processes write. Inherit reports
// whether no other process lives in which agents do: then everything that earlier
// ones held falls to this one. Otherwise each gets what it holds back by itself, or
// loses it when its leases run out.
type Recoverer interface {
	Inherit(ctx context.Context, s Session) (alone bool, err error)
}

// A BackupEngine is an engine that can copy its record into a file, which must be
// absent or empty, while others write.
type BackupEngine interface {
	Backup(ctx context.Context, file string) error
}

// A SpaceFreer is an engine that has something to give up when the disk is full.
// Relieve reports whether there was anything.
type SpaceFreer interface {
	Relieve() bool
}

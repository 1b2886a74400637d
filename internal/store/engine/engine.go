package engine

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Rows iterates over the result of a query. The caller closes it.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	io.Closer
}

// A QueryReader runs queries. Their parameters are written $1, $2 and so on.
type QueryReader interface {
	Query(ctx context.Context, statement string, args ...any) (Rows, error)
}

// A DatabaseEngine is one open database. Its methods may be called concurrently. Used as
// a Reader it sees every commit that returned before the query began.
type DatabaseEngine interface {
	QueryReader
	// View calls do with a read-only snapshot of the database.
	View(ctx context.Context, do func(ctx context.Context, src QueryReader) error) error
	// Session opens the one connection that writes. Its statements run under a
	// context that is never cancelled: a write that has begun is finished.
	Session(ctx context.Context) (WriteSession, error)
	// Size returns the size of the database in bytes.
	Size(ctx context.Context) (int64, error)
	// Close releases everything that is open. The session was closed before.
	Close() error
}

// A WriteTurn describes the transaction that [Session.Begin] opened.
type WriteTurn struct {
	// Stale is set when other processes have written since the previous
	// transaction of this session: what the caller has cached may be outdated.
	Stale bool
	// Now is the time by the clock of leases, timers and deadlines. Zero if that is
	// the clock of this process.
	Now time.Time
}

// A WriteSession is the connection that writes. It belongs to one goroutine.
type WriteSession interface {
	QueryReader
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, statement string, args ...any) (int64, error)
	// Run is Exec for statements whose count does not matter. The session may defer
	// it until the next statement with a result, which then returns its error.
	Run(ctx context.Context, statement string, args ...any) error
	// Flush runs the deferred statements.
	Flush(ctx context.Context) error

	// Begin waits for the write lock of the database and opens a transaction. A
	// Commit that fails has stored nothing. Rollback undoes the transaction.
	Begin(ctx context.Context) (WriteTurn, error)
	Commit(ctx context.Context) error
	Rollback(ctx context.Context) error

	// Save sets a savepoint. Keep releases it, Undo rolls back to it.
	Save(ctx context.Context) error
	Keep(ctx context.Context) error
	Undo(ctx context.Context) error

	// Kind wraps an error of the engine in the error that callers test for, such as
	// [ErrFull].
	Kind(err error) error
	// Rest runs maintenance. The writer calls it after a pause and before Close.
	Rest(ctx context.Context) error
	Close() error
}

// A Recoverer is an engine whose database several processes write. IsLastWriter
// reports whether no other process runs agents: then this process releases all
// leases that earlier processes held. Otherwise each process releases its own, or
// they expire.
type Recoverer interface {
	IsLastWriter(ctx context.Context, s WriteSession) (alone bool, err error)
}

// A BackupEngine copies its database into a file, which must be absent or empty,
// while other processes write.
type BackupEngine interface {
	Backup(ctx context.Context, file string) error
}

// A SpaceReserver is an engine that holds reserved disk space. ReleaseReserve frees
// it and reports whether there was any.
type SpaceReserver interface {
	ReleaseReserve() bool
}

// A WriterProcess is one of the processes that write a database.
type WriterProcess struct {
	ID      string
	Host    string
	PID     int64
	Program string // version; empty if the process did not report it
	Since   time.Time
	Owned   []string // accounts and duties that the process owns, sorted

	Bulletin string // status that the process last published to its peers
	Dead     bool   // its lease has expired and no peer has removed it yet
}

// String returns the process in a form for operators.
func (p WriterProcess) String() string { return fmt.Sprintf("process %d on %s", p.PID, p.Host) }

// A ClusterEngine is an engine whose database several processes write. A process may own
// things, such as accounts and duties that run once per cluster, for as long as it
// has the right to write; every commit checks that right.
type ClusterEngine interface {
	Recoverer
	// Process returns the id of this process.
	Process() string
	// HoldsLease reports whether this process renewed its lease so recently that no
	// peer can have taken over what it owns.
	HoldsLease() bool
	// Members returns the processes that write, oldest first.
	Members(ctx context.Context) ([]WriterProcess, error)
	// RemoveDead removes the processes whose lease has expired and returns their ids.
	// With starting it also removes processes that show any other sign of having
	// ended; later, a process that may only have lost a connection gets more time.
	RemoveDead(ctx context.Context, s WriteSession, starting bool) (gone []string, err error)
	// Own gives this process a thing that no process owns, and reports whether this
	// process owns it now.
	Own(ctx context.Context, s WriteSession, thing string) (mine bool, err error)
	// Disown gives a thing back.
	Disown(ctx context.Context, s WriteSession, thing string) error
	// Publish replaces the bulletin of this process.
	Publish(ctx context.Context, bulletin string) error
}

package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/migrations"
)

// Options say where the record is kept and what it gets from outside.
type Options struct {
	// URL names the database, with everything a connection needs.
	URL string
	// NewID mints an id that is unique for ever.
	NewID func() string
	// Now is the clock for what the store notes of its own. Default: time.Now.
	Now func() time.Time
	// Logger gets one line a decision. Default: nothing is logged.
	Logger *slog.Logger
	// Idle is how long nothing happens in a space before the next event counts as
	// a new stretch of presence there (spans.idle). Default: 12 hours.
	Idle time.Duration
	// Lives says that agents live while the record is open, see [sqlstore.Options].
	// Default: the record is only looked after.
	Lives bool
	// Stage runs a part of [Open] under its name, so that it can be timed: first
	// "database_init", then "schema_migration", then "recovery" of what an earlier
	// process left. Default: they are just run.
	Stage func(name string, do func() error) error
	// Program is the version of the program, noted in the record. Default: none.
	Program string
	// Migrating is told how far an older record is on its way to the schema of
	// today. Default: not called.
	Migrating func(engine.MigrationProgress)
	// Alone refuses to open while another process writes the record.
	Alone bool
	// Term is how long the right to write lasts without being prolonged; others may
	// take it after that. Default: 15 seconds.
	Term time.Duration
	// Lost is called once, on a goroutine of the store, when this process may act
	// no more: others have given it up, or it could not prolong its right in time
	// and cannot know whether they have. Default: not called.
	Lost func(error)
	// Witness is a file that remembers how far the record had come. Default: none.
	Witness string
	// Rewound is called by [Open] when the server has lost turns that the witness
	// knows of: it has had fewer. Default: not called.
	Rewound func(known, had int64)
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Stage == nil {
		o.Stage = func(_ string, do func() error) error { return do() }
	}
	if o.Migrating == nil {
		o.Migrating = func(engine.MigrationProgress) {}
	}
	if o.Term == 0 {
		o.Term = 15 * time.Second
	}
	if o.Lost == nil {
		o.Lost = func(error) {}
	}
	if o.Rewound == nil {
		o.Rewound = func(int64, int64) {}
	}
	return o
}

func (o Options) ofRecord() sqlstore.Options {
	return sqlstore.Options{NewID: o.NewID, Now: o.Now, Logger: o.Logger, Idle: o.Idle, Lives: o.Lives}
}

// An engine is one process at one database.
type postgresEngine struct {
	opts Options
	id   string // of this process, among those that write the record
	pool *pgxpool.Pool
	own  *pgxpool.Pool // of the right to write alone, which waits for no other question; nil without one

	quit   context.CancelFunc // of what keeps the right to write
	keeper sync.WaitGroup
	cables connSet
	given  sync.Once                 // the right to write
	held   atomic.Pointer[time.Time] // when it was last known to be ours

	had    atomic.Int64          // the last turn of this process that left something behind
	left   atomic.Pointer[int64] // the last one that the server still had; nil while it has lost none
	record string                // the record's name
}

var (
	_ engine.DatabaseEngine = (*postgresEngine)(nil)
	_ engine.Recoverer      = (*postgresEngine)(nil)
)

// Open opens the record in a database and brings its schema up to date. What
// processes left that are gone is given back.
//
// It fails with an [*InUseError] when o.Alone is set and another process writes
// the record, with [engine.ErrNewer] when a newer program made it, and with
// [ErrSetting] when the server would break a promise, and with [ErrReadOnly] while it
// takes no writes.
func Open(ctx context.Context, o Options) (s *sqlstore.Store, err error) {
	e := &postgresEngine{opts: o.withDefaults()}
	err = e.opts.Stage("database_init", func() error { return e.connect(ctx) })
	if err == nil {
		err = e.opts.Stage("schema_migration", func() error { return e.migrate(ctx) })
	}
	if err == nil {
		err = e.opts.Stage("recovery", func() (err error) { s, err = e.start(ctx); return err })
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open record in %s: %w", place(o.URL), plainError(err)), e.Close())
	}
	return s, nil
}

// leastConns are those without which a process does not move: one writes as long as it
// lives, and others read.
const leastConns = 3

// place names a database without what opens it.
func place(url string) string {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return "the database" // the text may hold a password
	}
	return fmt.Sprintf("%s on %s", c.Database, c.Host)
}

func (e *postgresEngine) connect(ctx context.Context) error {
	c, err := pgxpool.ParseConfig(e.opts.URL)
	if err != nil {
		return errors.New("the address of the database cannot be read") // the error quotes it
	}
	c.MaxConns = max(c.MaxConns, leastConns)
	c.AfterConnect = examineConn
	// Processes know each other's connections by when they began, as the server writes
	// that: in its own zone, whatever PGTZ or the address says.
	delete(c.ConnConfig.RuntimeParams, "timezone")
	// A process that stops within a transaction loses it, so that others can write.
	c.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = strconv.FormatInt(e.opts.Term.Milliseconds(), 10)
	c.ConnConfig.DialFunc = e.cables.dialing(c.ConnConfig.DialFunc)
	if e.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return err
	}
	return e.pool.Ping(ctx)
}

// migrate brings the schema of a database up to date that has a whole record, or
// none.
func (e *postgresEngine) migrate(ctx context.Context) error {
	if err := e.unfinished(ctx); err != nil {
		return err
	}
	return migrate(ctx, e.pool, migrations.Postgres, e.opts)
}

func (e *postgresEngine) start(ctx context.Context) (*sqlstore.Store, error) {
	if err := e.hearWitness(ctx); err != nil {
		return nil, err
	}
	if err := e.enlist(ctx); err != nil {
		return nil, err
	}
	return sqlstore.Open(ctx, e, e.opts.ofRecord())
}

// attach takes a connection to write on and tells the others which it is.
func (e *postgresEngine) attach(ctx context.Context) (*pgxpool.Conn, error) {
	conn, err := e.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, nameBackend, e.id); err != nil {
		conn.Release()
		return nil, err
	}
	return conn, nil
}

// Session implements [engine.Engine].
func (e *postgresEngine) Session(context.Context) (engine.WriteSession, error) {
	return &session{e: e, saved: -1}, nil
}

// Query implements [engine.Reader].
func (e *postgresEngine) Query(ctx context.Context, statement string, args ...any) (engine.Rows, error) {
	return rowsOf(e.pool.Query(ctx, statement, wire(args)...))
}

func rowsOf(found pgx.Rows, err error) (engine.Rows, error) {
	if err != nil {
		return nil, err
	}
	return &rows{Rows: found}, nil
}

// View implements [engine.Engine].
func (e *postgresEngine) View(ctx context.Context, do func(ctx context.Context, src engine.QueryReader) error) error {
	return pgx.BeginTxFunc(ctx, e.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(t pgx.Tx) error {
		return do(ctx, view{t})
	})
}

// A view reads within one transaction.
type view struct{ t pgx.Tx }

// Query implements [engine.Reader].
func (v view) Query(ctx context.Context, statement string, args ...any) (engine.Rows, error) {
	return rowsOf(v.t.Query(ctx, statement, wire(args)...))
}

// Size implements [engine.Engine].
func (e *postgresEngine) Size(ctx context.Context) (n int64, err error) {
	return n, e.pool.QueryRow(ctx, sizeOf).Scan(&n)
}

// fate returns nil when the turn of that number was committed, whose answer was
// lost. It asks until the server can tell, for a while.
func (e *postgresEngine) fate(ctx context.Context, turn int64) error {
	ctx, cancel := context.WithTimeout(ctx, fateFor)
	defer cancel()
	for {
		last, err := e.lastTurn(ctx)
		switch {
		case errors.Is(err, ErrBuried):
			return err
		case err == nil && last == turn:
			return nil
		case err == nil:
			return errUndone
		case ctx.Err() != nil:
			return fmt.Errorf("nobody knows whether the transaction was committed: %w", errors.Join(ctx.Err(), err))
		}
		select {
		case <-time.After(fatePause):
		case <-ctx.Done():
		}
	}
}

// lastTurn returns the number of this process's last turn, once none is under way.
// The number of a transaction would tell less: a server that crashed gives those
// numbers again of which nothing had reached its disk.
func (e *postgresEngine) lastTurn(ctx context.Context) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, fateAsk)
	defer cancel()
	err = pgx.BeginFunc(ctx, e.pool, func(t pgx.Tx) error {
		if _, err := t.Exec(ctx, lockTurn); err != nil {
			return err
		}
		return t.QueryRow(ctx, turnOf, e.id).Scan(&n)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrBuried
	}
	return n, err
}

const (
	turnOf = `select turn from processes where id = $1`

	fateFor   = 20 * time.Second
	fateAsk   = 2 * time.Second
	fatePause = 50 * time.Millisecond
)

// Close implements [engine.Engine].
func (e *postgresEngine) Close() error {
	if e.quit != nil {
		e.quit()
		e.keeper.Wait()
		e.quit = nil
	}
	if e.own != nil {
		e.own.Close()
	}
	if e.pool != nil {
		e.pool.Close()
	}
	return nil
}

package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/migrations"
)

// FileName is the name of the database within its directory.
const FileName = "trestle.db"

// Options say where the record is kept and what it gets from outside.
type Options struct {
	Dir string // created when missing
	// NewID mints an id that is unique for ever; ids that rise with time keep the
	// file compact.
	NewID func() string
	// Now is the clock for what the store notes of its own: spans it closes and
	// opens again when it is opened and closed. Default: time.Now.
	Now func() time.Time
	// Logger gets one line a decision. Default: nothing is logged.
	Logger *slog.Logger
	// Idle is how long nothing happens in a space before the next event counts as
	// a new stretch of presence there (spans.idle). Default: 12 hours.
	Idle time.Duration
	// Lives says that agents live while the record is open, see [sqlstore.Options].
	// Default: the record is only looked after.
	Lives bool
	// CheckFor bounds the check of the file at the start; a larger file is opened
	// with the check unfinished, and that is logged. Default: 10 seconds.
	CheckFor time.Duration
	// Stage runs a part of [Open] under its name, so that it can be timed: first
	// "database_init", then "schema_migration", then "recovery" of what an earlier
	// process left. Default: they are just run.
	Stage func(name string, do func() error) error
	// Program is the version of the program, noted in the record so that an older
	// program can name it. Default: none is noted.
	Program string
	// Migrating is told how far an older record is on its way to the schema of
	// today. Default: not called.
	Migrating func(engine.MigrationProgress)
	// Free tells how many bytes may still be written to the disk of a folder.
	// Default: the system is asked.
	Free func(dir string) (uint64, error)
	// Ballast is how many bytes to set aside in a file that is given up when the
	// disk is full, where they are at most an eighth of what is free. Default: none.
	Ballast int64
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.CheckFor = cmp.Or(o.CheckFor, 10*time.Second)
	if o.Stage == nil {
		o.Stage = func(_ string, do func() error) error { return do() }
	}
	if o.Migrating == nil {
		o.Migrating = func(engine.MigrationProgress) {}
	}
	if o.Free == nil {
		o.Free = freeBytes
	}
	return o
}

// ofRecord returns the options of what is written, whatever writes it.
func (o Options) ofRecord() sqlstore.Options {
	return sqlstore.Options{NewID: o.NewID, Now: o.Now, Logger: o.Logger, Idle: o.Idle, Lives: o.Lives}
}

// An engine is an open file: the connection that writes and those that read.
type sqliteEngine struct {
	opts Options
	file string
	lock *os.File // nil where nothing is written
	db   *sql.DB  // one connection, the writer's; nil where nothing is written
	*readers
}

var (
	_ engine.DatabaseEngine = (*sqliteEngine)(nil)
	_ engine.BackupEngine   = (*sqliteEngine)(nil)
	_ engine.SpaceReserver  = (*sqliteEngine)(nil)
)

// Open opens the record in o.Dir, creates it when there is none, and brings its
// schema up to date after setting a copy aside. What an earlier process left
// leased when it died is given back, and with o.Lives what it left connected.
//
// It fails within a second with a [*LockedError] when another process has the
// record open, and otherwise with [engine.ErrNewer], [ErrDamaged],
// [ErrNetworkDisk] or [ErrReadOnly], never touching the file then.
func Open(ctx context.Context, o Options) (s *sqlstore.Store, err error) {
	e := &sqliteEngine{opts: o.withDefaults(), file: filepath.Join(o.Dir, FileName)}
	err = e.opts.Stage("database_init", func() error { return e.openFile(ctx) })
	if err == nil {
		err = e.opts.Stage("schema_migration", func() error { return migrate(ctx, e.db, e.file, migrations.SQLite, e.opts) })
	}
	if err == nil {
		err = e.opts.Stage("recovery", func() (err error) { s, err = e.start(ctx); return err })
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open record in %s: %w", o.Dir, readable(err)), e.Close())
	}
	return s, nil
}

// openFile takes the folder for this process and opens the database in it.
func (e *sqliteEngine) openFile(ctx context.Context) (err error) {
	if err := os.MkdirAll(e.opts.Dir, 0o700); err != nil {
		return err
	}
	if remote, err := networkDisk(e.opts.Dir); err != nil {
		return err
	} else if remote {
		return ErrNetworkDisk
	}
	if e.lock, err = lockDir(e.opts.Dir); err != nil {
		return err
	}
	if err := refuseOrphan(e.file); err != nil {
		return err
	}
	switch changed, err := e.keepPrivate(); {
	case err != nil:
		return err
	case len(changed) > 0:
		e.opts.Logger.Warn("other users could read files of the record; now its owner alone can", "dir", e.opts.Dir, "files", changed)
	}
	if e.db, err = openWriter(ctx, e.file); err != nil {
		return err
	}
	return lookForDamage(ctx, e.db, e.opts)
}

// keepPrivate creates the database for its owner alone, or takes the rights of others from
// one, the files beside it and the copies of it, whatever the umask and the mode of the
// folder. It returns the names of those it changed.
func (e *sqliteEngine) keepPrivate() (changed []string, err error) {
	if err := touchPrivate(e.file); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(globEscaper.Replace(e.opts.Dir), FileName+"*"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0:
			continue
		}
		if err := os.Chmod(name, info.Mode().Perm()&0o700); err == nil {
			changed = append(changed, filepath.Base(name))
		} else if name == e.file {
			return nil, fmt.Errorf("take the rights of others from the database: %w", err)
		}
	}
	return changed, nil
}

// globEscaper quotes what has a meaning in the patterns of [filepath.Glob].
var globEscaper = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// touchPrivate makes an empty file for its owner alone; it fails where one is.
func touchPrivate(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// start begins reading and writing.
func (e *sqliteEngine) start(ctx context.Context) (*sqlstore.Store, error) {
	if err := e.prepare(ctx); err != nil {
		return nil, err
	}
	return sqlstore.Open(ctx, e, e.opts.ofRecord())
}

// prepare opens the connections that read and sets the ballast aside.
func (e *sqliteEngine) prepare(ctx context.Context) (err error) {
	if e.readers, err = openReaders(ctx, e.file, "ro", reading); err != nil {
		return err
	}
	if _, err := e.keepPrivate(); err != nil { // the files beside it are there now
		return err
	}
	return e.opts.layBallast()
}

// Session implements [engine.Engine].
func (e *sqliteEngine) Session(ctx context.Context) (engine.WriteSession, error) {
	c, err := e.connect(ctx, committing)
	if err != nil {
		return nil, err
	}
	beside, err := e.connect(ctx, writing)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	opened, err := os.Stat(e.file)
	if err != nil {
		return nil, errors.Join(err, c.Close(), beside.Close())
	}
	// The schema is up to date: the pool has done its work.
	db := e.db
	e.db = nil
	return &session{connection: c, folder: startFolder(ctx, beside, e.opts.Logger), file: e.file, opened: opened}, db.Close()
}

// connect opens a connection that writes, apart from the pool.
func (e *sqliteEngine) connect(ctx context.Context, settings []pragma) (*connection, error) {
	c, err := connect(source(e.file, "rwc", settings))
	if err != nil {
		return nil, damage(err)
	}
	if err := verify(ctx, c.ask, settings); err != nil {
		return nil, errors.Join(damage(err), c.Close())
	}
	return c, nil
}

// Size implements [engine.Engine].
func (e *sqliteEngine) Size(context.Context) (int64, error) {
	info, err := os.Stat(e.file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Backup implements [engine.BackupEngine].
func (e *sqliteEngine) Backup(ctx context.Context, file string) error {
	return copyTo(ctx, e.file, file)
}

// ReleaseReserve implements [engine.SpaceReserver].
func (e *sqliteEngine) ReleaseReserve() bool { return dropBallast(e.opts.Dir) }

// Close implements [engine.Engine]. Later calls do nothing.
func (e *sqliteEngine) Close() error {
	var errs []error
	if e.readers != nil {
		errs = append(errs, e.close())
	}
	if e.db != nil {
		errs = append(errs, e.db.Close())
	}
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	e.readers, e.db, e.lock = nil, nil, nil
	return errors.Join(errs...)
}

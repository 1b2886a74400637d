package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

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
	// Free tells how many bytes may still be written to the disk of a folder.
	// Default: the system is asked.
	Free func(dir string) (uint64, error)
	// Ballast is how many bytes to set aside in a file that is given up when the
	// disk is full. Default: none.
	Ballast int64
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Idle == 0 {
		o.Idle = 12 * time.Hour
	}
	if o.CheckFor == 0 {
		o.CheckFor = 10 * time.Second
	}
	if o.Stage == nil {
		o.Stage = func(_ string, do func() error) error { return do() }
	}
	if o.Free == nil {
		o.Free = freeBytes
	}
	return o
}

// A Store is an open record. Its methods and those of its views may be called
// concurrently.
type Store struct {
	opts    Options
	lock    *os.File
	db      *sql.DB // one connection, the writer's
	readers *readers
	writer  *writer
	close   sync.Once
	closed  error // what close gave
}

// Open opens the record in o.Dir, creates it when there is none, and brings its
// schema up to date after setting a copy aside. What an earlier process left
// leased or connected when it died is given back.
//
// It fails within a second with a [*LockedError] when another process has the
// record open, and otherwise with [ErrNewer], [ErrDamaged] or [ErrNetworkDisk],
// never touching the file then.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := &Store{opts: o.withDefaults()}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open record in %s: %w", o.Dir, err), s.release())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	file := filepath.Join(s.opts.Dir, FileName)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"database_init", func() error { return s.openFile(ctx, file) }},
		{"schema_migration", func() error { return migrate(ctx, s.db, file, migrations.SQLite, s.opts) }},
		{"recovery", func() error { return s.recover(ctx, file) }},
	} {
		if err := s.opts.Stage(step.name, step.do); err != nil {
			return err
		}
	}
	return nil
}

// openFile takes the folder for this process and opens the database in it.
func (s *Store) openFile(ctx context.Context, file string) (err error) {
	if err := os.MkdirAll(s.opts.Dir, 0o700); err != nil {
		return err
	}
	if remote, err := networkDisk(s.opts.Dir); err != nil {
		return err
	} else if remote {
		return ErrNetworkDisk
	}
	if s.lock, err = lockDir(s.opts.Dir); err != nil {
		return err
	}
	if err := refuseOrphan(file); err != nil {
		return err
	}
	if s.db, err = openWriter(ctx, file); err != nil {
		return err
	}
	return check(ctx, s.db, s.opts)
}

// recover begins reading and writing, and gives back what an earlier process
// left.
func (s *Store) recover(ctx context.Context, file string) (err error) {
	if s.readers, err = openReaders(ctx, file); err != nil {
		return err
	}
	if err := layBallast(s.opts.Dir, s.opts.Ballast); err != nil {
		return err
	}
	if s.writer, err = startWriter(ctx, s.db, s.opts); err != nil {
		return err
	}
	return s.write(ctx, revive)
}

// Close ends the open connection spans, waits for writes under way, refuses new
// ones and closes the file. Later calls return what the first did.
func (s *Store) Close(ctx context.Context) error {
	s.close.Do(func() {
		// A full disk must not keep the process from ending: the next start then
		// closes the spans as crashed.
		if err := s.write(ctx, rest); err != nil {
			s.opts.Logger.Warn("spans left open", "error", err)
		}
		s.closed = s.release()
	})
	return s.closed
}

func (s *Store) release() error {
	var errs []error
	if s.writer != nil {
		errs = append(errs, s.writer.stop())
	}
	if s.readers != nil {
		errs = append(errs, s.readers.close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// Backup writes a copy of the record as it stands now to file, which must not
// exist yet. Writers go on meanwhile.
func (s *Store) Backup(ctx context.Context, file string) error {
	return s.Console().Backup(ctx, file)
}

// write runs do in a transaction that is on disk when write returns nil. It
// stops waiting for its turn when ctx ends, and never after it had its turn.
func (s *Store) write(ctx context.Context, do write) error { return s.writer.write(ctx, do) }

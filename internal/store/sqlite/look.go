package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/migrations"
)

// A Console is the record as operators see it. It never writes.
type Console struct {
	readers *readers
	file    string
}

var (
	_ console.Record    = Console{}
	_ console.Chronicle = Console{}
)

// Console returns the operators' view of the store. It needs no Close.
func (s *Store) Console() Console {
	return Console{s.readers, filepath.Join(s.opts.Dir, FileName)}
}

// looking are the settings of connections that read without a writer in this
// process. The last one to leave has to fold the log into the file, so the file
// is opened for writing; the connection itself refuses to write.
var looking = append([]pragma{{"query_only", "on", "1"}}, shared...)

const schemaVersion query = `select max(version_id) from goose_db_version where is_applied = 1`

// Look opens the record in dir for reading, beside a process that has it open
// or without one. It fails with [ErrNewer] when a newer program wrote the file,
// and with [ErrOlder] when this program would first have to migrate it. The
// caller closes it.
func Look(ctx context.Context, dir string) (Console, error) {
	c := Console{file: filepath.Join(dir, FileName)}
	r, err := connectReaders(ctx, c.file, "rw", looking)
	c.readers = r
	if err == nil {
		err = c.checkSchema(ctx)
	}
	if err != nil {
		return Console{}, errors.Join(fmt.Errorf("look into record in %s: %w", dir, err), c.Close())
	}
	return c, nil
}

// checkSchema compares the schema of the file with the one this program knows.
func (c Console) checkSchema(ctx context.Context) error {
	p, err := newProvider(c.readers.db, migrations.SQLite)
	if err != nil {
		return err
	}
	sources := p.ListSources()
	want := sources[len(sources)-1].Version
	var have int64
	if _, err := one(ctx, c.readers, schemaVersion, nil, &have); err != nil {
		return damage(err)
	}
	switch {
	case have > want:
		return newer(have, want, programOf(ctx, c.readers.db))
	case have < want:
		return fmt.Errorf("%w: its schema is %d, this program reads %d", ErrOlder, have, want)
	}
	return nil
}

// Backup writes a copy of the record as it stands now to file, which must not
// exist yet. Whoever writes goes on meanwhile.
func (c Console) Backup(ctx context.Context, file string) error { return copyTo(ctx, c.file, file) }

// Copy is [Console.Backup] of the record in dir, whichever program wrote it: its
// schema is not looked at.
func Copy(ctx context.Context, dir, file string) error {
	return copyTo(ctx, filepath.Join(dir, FileName), file)
}

func copyTo(ctx context.Context, record, file string) (err error) {
	// The engine does not let a connection that refuses to write make a copy.
	db, err := sql.Open("sqlite", source(record, "rw", shared))
	if err != nil {
		return fmt.Errorf("back up %s: %w", record, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := vacuumInto(ctx, db, file); err != nil {
		return fmt.Errorf("back up to %s: %w", file, err)
	}
	return nil
}

// Close closes what [Look] opened.
func (c Console) Close() error {
	if c.readers == nil {
		return nil
	}
	return c.readers.close()
}

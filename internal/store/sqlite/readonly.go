package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
)

// looking are the settings of connections that read without a writer in this
// process. The last one to leave has to fold the log into the file, so the file
// is opened for writing; the connection itself refuses to write.
var looking = slices.Concat(shared, []pragma{{"query_only", "on", "1"}})

const schemaVersion = `select max(version_id) from goose_db_version where is_applied = 1`

// Look opens the record in dir for reading, beside a process that has it open
// or without one. It fails with [engine.ErrNewer] when a newer program wrote the
// file, and with [engine.ErrOlder] when this program would first have to migrate
// it, and with [ErrReadOnly]. The caller closes it.
func Look(ctx context.Context, dir string) (readmodel.ReadModel, error) {
	e := &sqliteEngine{file: filepath.Join(dir, FileName)}
	var err error
	if e.readers, err = openReaders(ctx, e.file, "rw", looking); err == nil {
		err = e.checkSchema(ctx)
	}
	if err != nil {
		return readmodel.ReadModel{}, errors.Join(fmt.Errorf("look into record in %s: %w", dir, readable(err)), e.Close())
	}
	return readmodel.OpenReadOnly(e), nil
}

// checkSchema sees that the schema of the file is the one this program knows.
func (e *sqliteEngine) checkSchema(ctx context.Context) (err error) {
	db, err := sql.Open("sqlite3", source(e.file, "rw", looking))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return sameSchema(ctx, db)
}

// sameSchema compares the schema of a record with the one this program knows.
func sameSchema(ctx context.Context, db *sql.DB) error {
	want := Schema()
	var have int64
	if err := db.QueryRowContext(ctx, schemaVersion).Scan(&have); err != nil {
		return damage(err)
	}
	switch {
	case have > want:
		return newer(have, want, programOf(ctx, db))
	case have < want:
		return fmt.Errorf("%w: its schema is %d, this program reads %d", engine.ErrOlder, have, want)
	}
	return nil
}

// Copy writes a copy of the record in dir as it is now to file, which must
// not exist yet, whichever program wrote it: its schema is not looked at.
func Copy(ctx context.Context, dir, file string) error {
	return copyTo(ctx, filepath.Join(dir, FileName), file)
}

func copyTo(ctx context.Context, from, file string) (err error) {
	// The engine does not let a connection that refuses to write make a copy.
	db, err := sql.Open("sqlite3", source(from, "rw", shared))
	if err != nil {
		return fmt.Errorf("back up %s: %w", from, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := vacuumInto(ctx, db, file); err != nil {
		return fmt.Errorf("back up to %s: %w", file, err)
	}
	return nil
}

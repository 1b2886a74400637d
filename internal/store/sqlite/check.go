package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	lib "modernc.org/sqlite/lib"
)

// refuseOrphan fails when the log of a database is there without the database:
// opening would start an empty one and throw the log away.
func refuseOrphan(file string) error {
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if wal, err := os.Stat(file + "-wal"); err == nil && wal.Size() > 0 {
		return fmt.Errorf("%w: %s is missing but its log %s-wal is there; restore a backup, or move the log away to start empty",
			ErrDamaged, file, file)
	}
	return nil
}

// check lets the engine look for damage, for as long as the options allow.
func check(ctx context.Context, db *sql.DB, o Options) error {
	limited, cancel := context.WithTimeout(ctx, o.CheckFor)
	defer cancel()
	var verdict string
	err := db.QueryRowContext(limited, "pragma quick_check(1)").Scan(&verdict)
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		o.Logger.Warn("check of the database not finished", "limit", o.CheckFor)
		return nil
	case err != nil:
		return damage(err)
	case verdict != "ok":
		return fmt.Errorf("%w: %s; restore a backup", ErrDamaged, verdict)
	}
	return nil
}

// damage marks engine errors that mean the file itself is broken.
func damage(err error) error {
	switch code(err) {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w; restore a backup", ErrDamaged, err)
	}
	return err
}

// layBallast sets size bytes aside next to the database. Without room for them
// it does without.
func layBallast(dir string, size int64) error {
	file := filepath.Join(dir, "trestle.ballast")
	if size == 0 {
		return nil
	}
	if have, err := os.Stat(file); err == nil && have.Size() == size {
		return nil
	}
	free, err := freeBytes(dir)
	if err != nil || free < uint64(size)*2 {
		return err
	}
	return os.WriteFile(file, make([]byte, size), 0o600)
}

// dropBallast frees what layBallast set aside and reports whether there was any.
func dropBallast(dir string) bool { return os.Remove(filepath.Join(dir, "trestle.ballast")) == nil }

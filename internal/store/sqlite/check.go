package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/ncruces/go-sqlite3"
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

// lookForDamage lets the engine do so, for as long as the options allow.
func lookForDamage(ctx context.Context, db *sql.DB, o Options) error {
	verdict, err := quickCheck(ctx, db, o.CheckFor)
	switch {
	case err != nil:
		return damage(err)
	case verdict == "":
		o.Logger.Warn("check of the database not finished", "limit", o.CheckFor)
	case verdict != "ok":
		return fmt.Errorf("%w: %s; restore a backup", ErrDamaged, verdict)
	}
	return nil
}

// quickCheck lets the engine look for damage. The verdict is ok, or what it found, or
// empty when it did not come to an end within the limit.
func quickCheck(ctx context.Context, db *sql.DB, limit time.Duration) (verdict string, err error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = db.QueryRowContext(limited, "pragma quick_check(1)").Scan(&verdict)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return "", nil
	}
	return verdict, err
}

// damage marks engine errors that mean the file itself is broken.
func damage(err error) error {
	if errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) {
		return fmt.Errorf("%w: %w; restore a backup", ErrDamaged, err)
	}
	return err
}

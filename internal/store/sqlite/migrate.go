package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pressly/goose/v3"
)

// migrate brings the schema up to date, each step in its own transaction. An
// older schema is copied aside first, a newer one is refused.
func migrate(ctx context.Context, db *sql.DB, file string, files fs.FS, o Options) (err error) {
	sub, err := schemaFiles(files)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, sub, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	switch {
	case have == want:
		return nil
	case have > want:
		return fmt.Errorf("%w: its schema is %d, this program knows %d; use the newer program or restore a backup", ErrNewer, have, want)
	case have > 0:
		if err := setAside(ctx, db, file, have); err != nil {
			return err
		}
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate schema from %d to %d: %w", have, want, err)
	}
	if have > 0 {
		o.Logger.Info("schema migrated", "from", have, "to", want, "backup", asideName(file, have))
	}
	return nil
}

// schemaFiles returns the migrations of this engine.
func schemaFiles(files fs.FS) (fs.FS, error) { return fs.Sub(files, "sqlite") }

func asideName(file string, version int64) string { return fmt.Sprintf("%s.schema%d", file, version) }

// setAside copies the database before a migration. A copy that an interrupted
// migration left is replaced: the database still has the old schema.
func setAside(ctx context.Context, db *sql.DB, file string, version int64) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	free, err := freeBytes(file)
	if err != nil {
		return err
	}
	if need := uint64(info.Size()) * 5 / 2; free < need {
		return fmt.Errorf("%w: a migration needs %d bytes, %d are free", ErrFull, need, free)
	}
	copied := asideName(file, version)
	if err := os.Remove(copied); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return vacuumInto(ctx, db, copied)
}

// vacuumInto writes a compact copy of the database and makes sure that it is on disk.
func vacuumInto(ctx context.Context, db *sql.DB, file string) error {
	if _, err := db.ExecContext(ctx, "vacuum into $1", file); err != nil {
		return kind(err)
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"

	"github.com/pressly/goose/v3"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/migrations"
)

const (
	writtenBy   = `select value from meta where name = 'program'`
	signProgram = `insert into meta (name, value) values ('program', $1)
on conflict (name) do update set value = excluded.value where value <> excluded.value`
)

// migrate brings the schema up to date, each migration in its own transaction. A
// database with an older schema is copied first; one with a newer schema is refused.
func migrate(ctx context.Context, db *sql.DB, file string, files fs.FS, o Options) (err error) {
	if err := dropHalves(file); err != nil {
		return err
	}
	p, err := newProvider(db, files)
	if err != nil {
		return err
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	switch {
	case have > want:
		return newer(have, want, programOf(ctx, db))
	case have == 0:
		_, err = p.Up(ctx)
		err = kind(err)
	default:
		err = upgrade(ctx, db, p, file, engine.MigrationProgress{From: have, To: want, Total: migrations.CountPending(files, have)}, o)
	}
	if err != nil {
		return fmt.Errorf("migrate schema from %d to %d: %w", have, want, err)
	}
	return sign(ctx, db, o.Program)
}

// upgrade runs the pending migrations of an existing database, if there are any.
func upgrade(ctx context.Context, db *sql.DB, p *goose.Provider, file string, m engine.MigrationProgress, o Options) error {
	if m.Total > 0 {
		if err := walkUp(ctx, db, p, file, m, o); err != nil {
			return err
		}
	}
	if _, err := db.ExecContext(ctx, unmarkMigrating); err != nil {
		return kind(err)
	}
	return nil
}

// walkUp reports the plan, copies the database, and runs the pending migrations.
func walkUp(ctx context.Context, db *sql.DB, p *goose.Provider, file string, m engine.MigrationProgress, o Options) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	m.Bytes = info.Size()
	began, err := origin(ctx, db, file, m.From)
	if err != nil {
		return err
	}
	m.Copy = asideName(file, began)
	o.Migrating(m)
	if err := setAside(ctx, db, m, began, o); err != nil {
		return err
	}
	err = m.Walk(func() error { _, err := p.UpByOne(ctx); return kind(err) }, o.Migrating)
	if err == nil {
		o.Logger.Info("schema migrated", "from", m.From, "to", m.To, "backup", m.Copy)
	}
	return err
}

func newProvider(db *sql.DB, files fs.FS) (*goose.Provider, error) {
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, nil
}

// newer returns the error for a database that a newer program wrote.
func newer(have, want int64, program string) error {
	return fmt.Errorf("%w, or restore a backup", engine.NewerError(have, want, program))
}

// sign stores which version of the program last opened the database, so that an
// older program can name the version that reads it.
func sign(ctx context.Context, db *sql.DB, program string) error {
	if program == "" {
		return nil
	}
	if _, err := db.ExecContext(ctx, signProgram, program); err != nil {
		return fmt.Errorf("store the version of the program: %w", kind(err))
	}
	return nil
}

// programOf returns the version that last opened the database, or "" if it is not
// known.
func programOf(ctx context.Context, db *sql.DB) string {
	var version string
	if err := db.QueryRowContext(ctx, writtenBy).Scan(&version); err != nil {
		return "" // a newer schema may store it elsewhere
	}
	return version
}

// Schema returns the version of the schema that this program writes.
func Schema() int64 { return migrations.Latest(migrations.SQLite) }

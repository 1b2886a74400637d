package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/pressly/goose/v3"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/migrations"
)

const (
	writtenBy   = `select value from meta where name = 'program'`
	signProgram = `insert into meta (name, value) values ('program', $1)
on conflict (name) do update set value = excluded.value where value <> excluded.value`
)

// migrate brings the schema up to date, each step in its own transaction. An
// older schema is copied aside first; a newer one, and a record that would lack
// something afterwards, is refused.
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
		if err = create(ctx, db, files, p.ListSources()); err == nil {
			_, err = p.Up(ctx)
			err = kind(err)
		}
	default:
		err = comeUp(ctx, db, p, file, files, engine.Migration{From: have, To: want}, o)
	}
	if err != nil {
		return fmt.Errorf("migrate schema from %d to %d: %w", have, want, err)
	}
	return sign(ctx, db, o.Program)
}

// comeUp takes the steps that a record has not gone through, if there are any.
func comeUp(ctx context.Context, db *sql.DB, p *goose.Provider, file string, files fs.FS, m engine.Migration, o Options) error {
	left, err := untaken(ctx, db, files)
	if err != nil {
		return err
	}
	if err := whole(ctx, db, files, left); err != nil {
		return err
	}
	if m.Total = len(left); m.Total > 0 {
		if err := walkUp(ctx, db, p, file, m, o); err != nil {
			return err
		}
	}
	if _, err := db.ExecContext(ctx, unmarkMigrating); err != nil {
		return kind(err)
	}
	return nil
}

// walkUp tells the plan, sets the record aside, and takes the steps.
func walkUp(ctx context.Context, db *sql.DB, p *goose.Provider, file string, m engine.Migration, o Options) error {
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
	sub, err := fs.Sub(files, "sqlite")
	if err != nil {
		return nil, err
	}
	// A step whose number is lower than the record's schema is one that was made
	// beside it, between two releases: no step needs those with lower numbers but as
	// they stand in its own line.
	p, err := goose.NewProvider(goose.DialectSQLite3, db, sub, goose.WithDisableGlobalRegistry(true), goose.WithAllowOutofOrder(true))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, nil
}

// newer is the refusal of a record that a newer program wrote.
func newer(have, want int64, program string) error {
	return fmt.Errorf("%w, or restore a backup", engine.NewerError(have, want, program))
}

// sign notes which version of the program last opened the record, so that an
// older one can say who reads it.
func sign(ctx context.Context, db *sql.DB, program string) error {
	if program == "" {
		return nil
	}
	if _, err := db.ExecContext(ctx, signProgram, program); err != nil {
		return fmt.Errorf("sign the record: %w", kind(err))
	}
	return nil
}

// programOf returns the version that last opened the record; empty when it is
// not known.
func programOf(ctx context.Context, db *sql.DB) string {
	var version string
	if err := db.QueryRowContext(ctx, writtenBy).Scan(&version); err != nil {
		return "" // a schema so new that it keeps this elsewhere
	}
	return version
}

// Schema returns the version of the schema that this program writes.
func Schema() int64 { return slices.Max(migrations.Steps(migrations.SQLite, "sqlite")) }

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/pressly/goose/v3"

	"github.com/trestle-bridge/trestle/internal/store/record"
	"github.com/trestle-bridge/trestle/migrations"
)

const (
	writtenBy   = `select value from meta where name = 'program'`
	signProgram = `insert into meta (name, value) values ('program', $1)
on conflict (name) do update set value = excluded.value where value <> excluded.value`
)

// migrate brings the schema up to date, each step in its own transaction. An
// older schema is copied aside first, a newer one is refused.
func migrate(ctx context.Context, db *sql.DB, file string, files fs.FS, o Options) (err error) {
	p, err := newProvider(db, files)
	if err != nil {
		return err
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	switch {
	case have == want:
		return sign(ctx, db, o.Program)
	case have > want:
		return newer(have, want, programOf(ctx, db))
	case have == 0:
		if err = create(ctx, db, files, p.ListSources()); err == nil {
			_, err = p.Up(ctx)
		}
	default:
		err = walkUp(ctx, db, p, file, record.Migration{From: have, To: want, Copy: asideName(file, have)}, o)
	}
	if err != nil {
		return fmt.Errorf("migrate schema from %d to %d: %w", have, want, err)
	}
	return sign(ctx, db, o.Program)
}

// walkUp tells the plan, sets the record aside, and takes the steps.
func walkUp(ctx context.Context, db *sql.DB, p *goose.Provider, file string, m record.Migration, o Options) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	m.Bytes = info.Size()
	steps := p.ListSources()
	m.Total = len(steps) - slices.IndexFunc(steps, func(s *goose.Source) bool { return s.Version > m.From })
	o.Migrating(m)
	if err := setAside(ctx, db, file, m.From, o); err != nil {
		return err
	}
	err = m.Walk(func() error { _, err := p.UpByOne(ctx); return err }, o.Migrating)
	if err == nil {
		o.Logger.Info("schema migrated", "from", m.From, "to", m.To, "backup", m.Copy)
	}
	return err
}

func newProvider(db *sql.DB, files fs.FS) (*goose.Provider, error) {
	sub, err := schemaFiles(files)
	if err != nil {
		return nil, err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, sub, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, nil
}

// newer is the refusal of a record that a newer program wrote.
func newer(have, want int64, program string) error {
	reads := "the newer program"
	if program != "" {
		reads = "trestle " + program
	}
	return fmt.Errorf("%w: its schema is %d, this program knows %d; use %s, which wrote it, or restore a backup", record.ErrNewer, have, want, reads)
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

// schemaFiles returns the migrations of this engine.
func schemaFiles(files fs.FS) (fs.FS, error) { return fs.Sub(files, "sqlite") }

func asideName(file string, version int64) string { return fmt.Sprintf("%s.schema%d", file, version) }

// setAside copies the database before a migration. A copy that an interrupted
// migration left is replaced: the database still has the old schema.
func setAside(ctx context.Context, db *sql.DB, file string, version int64, o Options) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	free, err := o.Free(o.Dir)
	if err != nil {
		return err
	}
	if need := uint64(info.Size()) * 5 / 2; free < need {
		return fmt.Errorf("%w: the copy before a migration, and the migration, need %d MB, and %d MB are free", record.ErrFull, need>>20+1, free>>20)
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

// Schema returns the version of the schema that this program writes.
func Schema() int64 {
	names, err := fs.Glob(migrations.SQLite, "sqlite/*.sql")
	if err != nil {
		panic("sqlite: a constant pattern is wrong")
	}
	var newest int64
	for _, name := range names {
		if n, err := goose.NumericComponent(path.Base(name)); err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}

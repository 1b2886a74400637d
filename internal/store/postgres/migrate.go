package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/trestle-bridge/trestle/internal/store/record"
)

const (
	stepsTaken  = `select coalesce(array_agg(version_id), '{}') from goose_db_version where is_applied`
	sizeOf      = `select pg_database_size(current_database())`
	writtenBy   = `select value from meta where name = 'program'`
	signProgram = `insert into meta (name, value) values ('program', $1)
on conflict (name) do update set value = excluded.value where meta.value <> excluded.value`
)

// migrate brings the schema up to date, each step in its own transaction, while
// other processes that would do the same wait.
func migrate(ctx context.Context, pool *pgxpool.Pool, files fs.FS, o Options) error {
	want := Schema()
	have, left, err := schemaOf(ctx, pool)
	if err != nil {
		return err
	}
	if have > want {
		return newer(have, want, programOf(ctx, pool))
	}
	if len(left) > 0 {
		err := unused(ctx, pool)
		if err != nil {
			if _, left, failed := schemaOf(ctx, pool); failed == nil && len(left) == 0 { // it was brought up to date meanwhile
				return nil
			}
			return fmt.Errorf("the schema is to go from %d to %d: %w", have, want, err)
		}
		if err := walkUp(ctx, pool, files, record.Migration{From: have, To: want, Total: len(left)}, o.Migrating); err != nil {
			return fmt.Errorf("migrate schema from %d to %d: %w", have, want, err)
		}
	}
	if o.Program == "" {
		return nil
	}
	if _, err := pool.Exec(ctx, signProgram, o.Program); err != nil {
		return fmt.Errorf("sign the record: %w", kind(err))
	}
	return nil
}

// schemaOf returns the version of the schema, 0 where there is none, and the steps of
// this program that the record has not gone through.
func schemaOf(ctx context.Context, pool *pgxpool.Pool) (have int64, left []int64, err error) {
	var taken []int64
	if err := pool.QueryRow(ctx, stepsTaken).Scan(&taken); err != nil && codeOf(err) != undefined {
		return 0, nil, fmt.Errorf("read schema version: %w", err)
	}
	for _, n := range taken {
		have = max(have, n)
	}
	return have, slices.DeleteFunc(steps(), func(n int64) bool { return slices.Contains(taken, n) }), nil
}

// unused fails with an [*InUseError] while a process writes the record, which does
// not know what a migration makes of it.
func unused(ctx context.Context, pool *pgxpool.Pool) error {
	err := inUse(pool.QueryRow(ctx, others+` and `+living+` limit 1`, ""))
	if codeOf(err) == undefined { // there is no record yet
		return nil
	}
	return err
}

func walkUp(ctx context.Context, pool *pgxpool.Pool, files fs.FS, m record.Migration, told func(record.Migration)) (err error) {
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := newProvider(db, files)
	if err != nil || m.From == 0 { // a new record is no migration
		if err == nil {
			_, err = p.Up(ctx)
		}
		return err
	}
	if err := pool.QueryRow(ctx, sizeOf).Scan(&m.Bytes); err != nil {
		return err
	}
	return m.Walk(func() error {
		_, err := p.UpByOne(ctx)
		if errors.Is(err, goose.ErrNoNextVersion) { // another process took it
			return nil
		}
		return err
	}, told)
}

func newProvider(db *sql.DB, files fs.FS) (*goose.Provider, error) {
	sub, err := fs.Sub(files, "postgres")
	if err != nil {
		return nil, err
	}
	one, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, sub, goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(one), goose.WithAllowOutofOrder(true))
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
	return fmt.Errorf("%w: its schema is %d, this program knows %d; use %s, which wrote it", record.ErrNewer, have, want, reads)
}

// programOf returns the version that last opened the record; empty when it is
// not known.
func programOf(ctx context.Context, pool *pgxpool.Pool) string {
	var version string
	if err := pool.QueryRow(ctx, writtenBy).Scan(&version); err != nil {
		return "" // a schema so new that it keeps this elsewhere
	}
	return version
}

package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/migrations"
)

const (
	schemaVersion = `select coalesce(max(version_id), 0) from goose_db_version where is_applied`
	sizeOf        = `select pg_database_size(current_database())`
	writtenBy     = `select value from meta where name = 'program'`
	signProgram   = `insert into meta (name, value) values ('program', $1)
on conflict (name) do update set value = excluded.value where meta.value <> excluded.value`
	holdTurn = `select pg_advisory_lock(` + turnKey + `)`
)

// migrate brings the schema up to date, each step in its own transaction, while
// other processes that would do the same wait.
func migrate(ctx context.Context, pool *pgxpool.Pool, files fs.FS, o Options) error {
	want := Schema()
	have, err := schemaOf(ctx, pool)
	if err != nil {
		return err
	}
	if have > want {
		return engine.NewerError(have, want, programOf(ctx, pool))
	}
	if have < want {
		m := engine.MigrationProgress{From: have, To: want, Total: migrations.CountPending(files, have)}
		if err := walkAlone(ctx, pool, files, m, o.Migrating); err != nil {
			return err
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

// A rowQuerier answers a question by one row: the pool, or a transaction.
type rowQuerier interface {
	QueryRow(ctx context.Context, statement string, args ...any) pgx.Row
}

// schemaOf returns the version of the schema, or 0 for an empty database.
func schemaOf(ctx context.Context, from rowQuerier) (have int64, err error) {
	if err := from.QueryRow(ctx, schemaVersion).Scan(&have); err != nil && codeOf(err) != undefined {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return have, nil
}

// walkAlone migrates the schema while no process can write or start to: it holds the
// writer's lock until the last step is done. A new database has no such lock yet.
func walkAlone(ctx context.Context, pool *pgxpool.Pool, files fs.FS, m engine.MigrationProgress, told func(engine.MigrationProgress)) (err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	defer func() { err = errors.Join(err, conn.Conn().Close(ctx)) }() // it gives the turn back, whatever happened
	if _, err := conn.Exec(ctx, holdTurn); err != nil && codeOf(err) != undefined {
		return fmt.Errorf("wait for the turn of the writer: %w", err)
	}
	if err := unused(ctx, conn); err != nil {
		if have, failed := schemaOf(ctx, pool); failed == nil && have >= m.To { // another process migrated it meanwhile
			return nil
		}
		return fmt.Errorf("the schema is to go from %d to %d: %w", m.From, m.To, err)
	}
	if err := walkUp(ctx, pool, files, m, told); err != nil {
		return fmt.Errorf("migrate schema from %d to %d: %w", m.From, m.To, err)
	}
	return nil
}

// unused fails with an [*InUseError] while a process writes the record, which does
// not know what a migration makes of it. The dead are given up before it begins, so
// that one who was not dead after all writes nothing into what it does not know.
func unused(ctx context.Context, conn *pgxpool.Conn) error {
	err := pgx.BeginFunc(ctx, conn, func(t pgx.Tx) error { return nobodyElse(ctx, t, "") })
	if codeOf(err) == undefined { // there is no record yet
		return nil
	}
	return err
}

func walkUp(ctx context.Context, pool *pgxpool.Pool, files fs.FS, m engine.MigrationProgress, told func(engine.MigrationProgress)) (err error) {
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	p, err := newProvider(db, files)
	if err != nil || m.From == 0 { // a new record is no migration
		if err == nil {
			_, err = p.Up(ctx)
		}
		return kind(err)
	}
	if err := pool.QueryRow(ctx, sizeOf).Scan(&m.Bytes); err != nil {
		return err
	}
	return m.Walk(func() error {
		_, err := p.UpByOne(ctx)
		if errors.Is(err, goose.ErrNoNextVersion) { // another process took it
			return nil
		}
		return kind(err)
	}, told)
}

func newProvider(db *sql.DB, files fs.FS) (*goose.Provider, error) {
	one, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(one))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, nil
}

// programOf returns the version that last opened the record; empty when it is
// not known.
func programOf(ctx context.Context, from rowQuerier) string {
	var version string
	if err := from.QueryRow(ctx, writtenBy).Scan(&version); err != nil {
		return "" // a schema so new that it keeps this elsewhere
	}
	return version
}

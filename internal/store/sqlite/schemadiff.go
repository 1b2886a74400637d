package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/migrations"
)

const (
	shapeOf = `select 'table ' || name from sqlite_master where type = 'table'
union all select 'column ' || m.name || '.' || c.name from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table'
union all select 'index ' || name from sqlite_master where type = 'index' and sql is not null
order by 1`
	tablesAsMade = `select sql from sqlite_master where sql is not null and name not like 'sqlite%' order by rowid`
	stepsTaken   = `select version_id from goose_db_version where is_applied = 1 order by id`
)

// lacking returns the tables, columns and indexes that a record will not have once
// it is migrated by the steps that are left: a program between two releases made it,
// whose steps were not those of today. Only the tables as they are made are looked
// at, in memory; what the record has besides does no harm.
func lacking(ctx context.Context, db *sql.DB, files fs.FS, left []int64) (missing []string, err error) {
	want, err := shapeAfter(ctx, files, func(*sql.DB) error { return nil })
	if err != nil {
		return nil, fmt.Errorf("make an empty record: %w", err)
	}
	var have []string
	if len(left) == 0 {
		have, err = texts(ctx, db, shapeOf)
	} else if have, err = shapeAfter(ctx, files, func(mem *sql.DB) error { return copyShape(ctx, db, mem) }); err != nil {
		err = fmt.Errorf("%w: %w", engine.ErrLacks, err)
	}
	if err != nil {
		return nil, err
	}
	lacks := func(part string) bool { _, found := slices.BinarySearch(have, part); return !found }
	for _, part := range want {
		of, _, column := strings.Cut(strings.TrimPrefix(part, "column "), ".")
		if lacks(part) && (!column || !lacks("table "+of)) { // a table says it of its columns
			missing = append(missing, part)
		}
	}
	return missing, nil
}

// whole refuses a record that lacks something, before anything is written to it.
func whole(ctx context.Context, db *sql.DB, files fs.FS, left []int64) error {
	missing, err := lacking(ctx, db, files, left)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("%w: %s", engine.ErrLacks, strings.Join(missing, ", "))
	}
	return err
}

// shapeAfter returns the parts that a record in memory is made of, in order, after
// all migrations of what begin puts into it.
func shapeAfter(ctx context.Context, files fs.FS, begin func(mem *sql.DB) error) (parts []string, err error) {
	mem, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return nil, err
	}
	mem.SetMaxOpenConns(1) // each connection has a memory of its own
	defer func() { err = errors.Join(err, mem.Close()) }()
	if err := begin(mem); err != nil {
		return nil, err
	}
	p, err := newProvider(mem, files)
	if err != nil {
		return nil, err
	}
	have, _, err := p.GetVersions(ctx)
	if err != nil {
		return nil, err
	}
	if have == 0 {
		if err := create(ctx, mem, files, p.ListSources()); err != nil {
			return nil, err
		}
	}
	left, err := untaken(ctx, mem, files)
	if err == nil && len(left) > 0 {
		_, err = p.Up(ctx)
	}
	if err != nil {
		return nil, err
	}
	return texts(ctx, mem, shapeOf)
}

// copyShape makes the tables of a record in memory, without their rows, with the
// steps that were taken.
func copyShape(ctx context.Context, db, mem *sql.DB) error {
	made, err := texts(ctx, db, tablesAsMade)
	if err != nil {
		return err
	}
	steps, err := texts(ctx, db, stepsTaken)
	if err != nil {
		return err
	}
	for _, one := range made {
		if _, err := mem.ExecContext(ctx, one); err != nil {
			return err
		}
	}
	for _, step := range steps {
		if _, err := mem.ExecContext(ctx, noteStep, step); err != nil {
			return err
		}
	}
	return nil
}

// texts returns the one column of what a statement answers.
func texts(ctx context.Context, db *sql.DB, statement string, args ...any) (out []string, err error) {
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, rows.Err()
}

// untaken returns those of the steps in files that a record has not gone through.
func untaken(ctx context.Context, db *sql.DB, files fs.FS) ([]int64, error) {
	taken, err := texts(ctx, db, stepsTaken)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(migrations.Steps(files, "sqlite"), func(n int64) bool { return slices.Contains(taken, fmt.Sprint(n)) }), nil
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// TableReader reads the tables of a database without a writer, as long as it is open.
type TableReader struct{ e *sqliteEngine }

var _ engine.TablePager = (*TableReader)(nil)

// OpenTables takes the record in o.Dir for this process and lets its tables be read,
// which changes nothing. It fails as [Open] does, and with [engine.ErrOlder] where the
// schema is not that of this program. The caller closes them.
func OpenTables(ctx context.Context, o Options) (*TableReader, error) {
	e := &sqliteEngine{opts: o.withDefaults(), file: filepath.Join(o.Dir, FileName)}
	err := e.openFile(ctx)
	if err == nil {
		err = sameSchema(ctx, e.db)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open tables in %s: %w", o.Dir, err), e.Close())
	}
	return &TableReader{e}, nil
}

// Close gives the record back.
func (t *TableReader) Close() error { return t.e.Close() }

const (
	tableNames = `select name from sqlite_master where type = 'table' and name not like 'sqlite%' and name <> 'goose_db_version' order by name`
	columnsOf  = `select name, pk from pragma_table_info($1) order by cid`
	pointsTo   = `select distinct "table" from pragma_foreign_key_list($1)`
	beganAt    = `select cast(min(tstamp) as text) from goose_db_version where version_id > 0`
)

// Identity returns what tells this record from others: when it began.
func (t *TableReader) Identity(ctx context.Context) (began string, err error) {
	return began, t.e.db.QueryRowContext(ctx, beganAt).Scan(&began)
}

// List returns all tables; a table comes after those that its rows point to.
func (t *TableReader) List(ctx context.Context) ([]engine.CopyTable, error) {
	names, err := texts(ctx, t.e.db, tableNames)
	if err != nil {
		return nil, err
	}
	var out []engine.CopyTable
	for len(names) > 0 {
		before := len(names)
		for _, name := range slices.Clone(names) {
			wants, err := texts(ctx, t.e.db, pointsTo, name)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(wants, func(w string) bool { return w != name && slices.Contains(names, w) }) {
				continue
			}
			table, err := t.table(ctx, name)
			if err != nil {
				return nil, err
			}
			out = append(out, table)
			names = slices.DeleteFunc(names, func(n string) bool { return n == name })
		}
		if len(names) == before {
			return nil, fmt.Errorf("tables point to each other: %s", strings.Join(names, ", "))
		}
	}
	return out, nil
}

func (t *TableReader) table(ctx context.Context, name string) (engine.CopyTable, error) {
	out := engine.CopyTable{Name: name}
	rows, err := t.e.db.QueryContext(ctx, columnsOf, name)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	key := map[int]string{}
	for rows.Next() {
		var column string
		var place int
		if err := rows.Scan(&column, &place); err != nil {
			return out, err
		}
		out.Columns = append(out.Columns, column)
		if place > 0 {
			key[place] = column
		}
	}
	for place := range len(key) {
		out.Key = append(out.Key, key[place+1])
	}
	return out, rows.Err()
}

// Count returns how many rows a table has.
func (t *TableReader) Count(ctx context.Context, table engine.CopyTable) (n int64, err error) {
	return n, t.e.db.QueryRowContext(ctx, `select count(*) from "`+table.Name+`"`).Scan(&n)
}

// Page implements [engine.Pager].
func (t *TableReader) Page(ctx context.Context, table engine.CopyTable, after []any, limit int) (page [][]any, err error) {
	rows, err := t.e.db.QueryContext(ctx, table.PageStatement(after != nil)+strconv.Itoa(limit), after...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table.Name, err)
	}
	defer rows.Close()
	for rows.Next() {
		row, places := make([]any, len(table.Columns)), make([]any, len(table.Columns))
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		page = append(page, row)
	}
	return page, rows.Err()
}

// texts returns the single column of a query.
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

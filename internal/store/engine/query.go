package engine

import (
	"context"
	"sync/atomic"
)

// A QueryText is the text of one statement. All of them are constants. Limits are written
// as "limit $1 + 0": SQLite plans a statement anew for every value of a bare limit
// parameter.
type QueryText string

// statements counts the statements of this process.
var statements atomic.Int64

// StatementCount returns how many statements this process has run, without those that
// begin and end transactions and savepoints.
func StatementCount() int64 { return statements.Load() }

// A ResultRow is one row of a result.
type ResultRow interface{ Scan(dest ...any) error }

// EachRow calls scan for every row of the result.
func EachRow(ctx context.Context, src QueryReader, q QueryText, args []any, scan func(ResultRow) error) error {
	statements.Add(1)
	rows, err := src.Query(ctx, string(q), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// ScanRow scans the first row of the result and reports whether there was one.
func ScanRow(ctx context.Context, src QueryReader, q QueryText, args []any, dest ...any) (bool, error) {
	found := false
	err := EachRow(ctx, src, q, args, func(r ResultRow) error {
		if found {
			return nil
		}
		found = true
		return r.Scan(dest...)
	})
	return found, err
}

// QueryBool returns the only column of the first row; false if there is no row.
func QueryBool(ctx context.Context, src QueryReader, q QueryText, args ...any) (yes bool, err error) {
	_, err = ScanRow(ctx, src, q, args, &yes)
	return yes, err
}

// FirstRow returns the first row as scan reads it; nil if there is none.
func FirstRow[T any](ctx context.Context, src QueryReader, q QueryText, args []any, scan func(ResultRow) (T, error)) (*T, error) {
	var out *T
	err := EachRow(ctx, src, q, args, func(r ResultRow) error {
		if out != nil {
			return nil
		}
		v, err := scan(r)
		out = &v
		return err
	})
	return out, err
}

// AllRows returns all rows as scan reads them.
func AllRows[T any](ctx context.Context, src QueryReader, q QueryText, args []any, scan func(ResultRow) (T, error)) ([]T, error) {
	var out []T
	err := EachRow(ctx, src, q, args, func(r ResultRow) error {
		v, err := scan(r)
		if err != nil {
			return err
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

// ScanValue scans a row of one column.
func ScanValue[T any](r ResultRow) (v T, err error) { return v, r.Scan(&v) }

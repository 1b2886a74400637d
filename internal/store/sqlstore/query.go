package sqlstore

import "context"

// A query is the text of one statement. All of them are constants. A bare
// parameter as limit would have the engine plan the statement anew for every
// value, so limits are written as "limit $1 + 0".
type query string

// A row is what a query found at one place of its result.
type row interface{ Scan(dest ...any) error }

// each calls scan for every row of the answer.
func each(ctx context.Context, src Reader, q query, args []any, scan func(row) error) error {
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

// one scans the first row of the answer and reports whether there was one.
func one(ctx context.Context, src Reader, q query, args []any, dest ...any) (bool, error) {
	found := false
	err := each(ctx, src, q, args, func(r row) error {
		if found {
			return nil
		}
		found = true
		return r.Scan(dest...)
	})
	return found, err
}

// whether returns the answer of a query that asks for yes or no; no row is a no.
func whether(ctx context.Context, src Reader, q query, args ...any) (yes bool, err error) {
	_, err = one(ctx, src, q, args, &yes)
	return yes, err
}

// first returns what scan makes of the first row; nil when there is none.
func first[T any](ctx context.Context, src Reader, q query, args []any, scan func(row) (T, error)) (*T, error) {
	var out *T
	err := each(ctx, src, q, args, func(r row) error {
		if out != nil {
			return nil
		}
		v, err := scan(r)
		out = &v
		return err
	})
	return out, err
}

// scanOnly scans a row of one column.
func scanOnly[T any](r row) (v T, err error) { return v, r.Scan(&v) }

// all collects what scan makes of every row.
func all[T any](ctx context.Context, src Reader, q query, args []any, scan func(row) (T, error)) ([]T, error) {
	var out []T
	err := each(ctx, src, q, args, func(r row) error {
		v, err := scan(r)
		if err != nil {
			return err
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

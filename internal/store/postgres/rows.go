package postgres

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// rows are the answer to a statement. done is called once, after they are closed.
type rows struct {
	pgx.Rows
	done func() error
}

// Scan implements [engine.Rows]. Flags are stored as numbers.
func (r *rows) Scan(dest ...any) error {
	for i, d := range dest {
		if to, ok := d.(*bool); ok {
			dest[i] = boolScanner{to}
		}
	}
	return r.Rows.Scan(dest...)
}

// Close implements [engine.Rows].
func (r *rows) Close() error {
	r.Rows.Close()
	err := r.Err()
	if r.done != nil {
		done := r.done
		r.done = nil
		if more := done(); err == nil {
			err = more
		}
	}
	return err
}

// A boolScanner scans a number, or what a condition gave, as true or false.
type boolScanner struct{ to *bool }

// Scan implements sql.Scanner.
func (f boolScanner) Scan(v any) error {
	switch v := v.(type) {
	case int64:
		*f.to = v != 0
	case bool:
		*f.to = v
	}
	return nil
}

// wire returns arguments as the server takes them: flags are numbers, and text
// is valid and without zero bytes, which the server has no place for.
func wire(args []any) []any {
	for i, a := range args {
		switch a := a.(type) {
		case bool:
			args[i] = number(a)
		case string:
			args[i] = plain(a)
		}
	}
	return args
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

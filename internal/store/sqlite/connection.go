package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/internal/store/record"
)

// A connection is one of the engine's own, with the statements it has prepared.
// It belongs to one goroutine: the pool of database/sql, with its locks and its
// conversions, is for connections that many share.
type connection struct {
	driver.Conn
	stmts  map[string]*statement
	values []driver.NamedValue // of the statement that is being bound
}

// A statement is prepared, with the argument that each of its places takes, from 0.
type statement struct {
	driver.Stmt
	places []int
}

func connect(d driver.Driver, source string) (*connection, error) {
	c, err := d.Open(source)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: c, stmts: map[string]*statement{}}, nil
}

// Query implements [record.Reader].
func (c *connection) Query(ctx context.Context, text string, args ...any) (record.Rows, error) {
	st, err := c.bind(ctx, text, args)
	if err != nil {
		return nil, err
	}
	found, err := st.Stmt.(driver.StmtQueryContext).QueryContext(ctx, c.values)
	if err != nil {
		return nil, err
	}
	return &rows{found: found, values: make([]driver.Value, len(found.Columns()))}, nil
}

// Exec runs a statement and returns how many rows it changed.
func (c *connection) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	st, err := c.bind(ctx, text, args)
	if err != nil {
		return 0, err
	}
	res, err := st.Stmt.(driver.StmtExecContext).ExecContext(ctx, c.values)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// ask puts a question whose answer is one cell.
func (c *connection) ask(ctx context.Context, text string) (string, error) {
	found, err := c.Query(ctx, text)
	if err != nil {
		return "", err
	}
	defer found.Close()
	var got any
	for found.Next() {
		if err := found.Scan(&got); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(got), found.Err()
}

// bind prepares a statement, unless it is, and puts its arguments into c.values.
func (c *connection) bind(ctx context.Context, text string, args []any) (*statement, error) {
	st, err := c.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	c.values = c.values[:0]
	for n, arg := range st.places {
		if arg >= len(args) {
			return nil, errors.New("parameter $" + strconv.Itoa(arg+1) + " has no argument")
		}
		v, err := cell(args[arg])
		if err != nil {
			return nil, err
		}
		c.values = append(c.values, driver.NamedValue{Ordinal: n + 1, Value: v})
	}
	return st, nil
}

func (c *connection) prepared(ctx context.Context, text string) (*statement, error) {
	if st, ok := c.stmts[text]; ok {
		return st, nil
	}
	placed, places := positional(text)
	st, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, placed)
	if err != nil {
		return nil, err
	}
	c.stmts[text] = &statement{st, places}
	return c.stmts[text], nil
}

// positional writes a statement with places instead of numbered parameters, and
// returns which parameter each place takes. The engine holds numbered ones to be
// named, and the driver would look each of them up by its name.
func positional(text string) (string, []int) {
	var b strings.Builder
	var places []int
	for {
		before, rest, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String(), places
		}
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(rest[:end])
		if err != nil {
			b.WriteByte('$')
		} else {
			b.WriteByte('?')
			places = append(places, n-1)
		}
		text = rest[end:]
	}
}

// Close gives up the connection and its statements.
func (c *connection) Close() error {
	var errs []error
	for _, st := range c.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, c.Conn.Close())...)
}

// rows is the answer to a statement.
type rows struct {
	found  driver.Rows
	values []driver.Value // of the row at hand
	err    error
	closed bool
}

// Next implements [record.Rows].
func (r *rows) Next() bool {
	if r.closed || r.err != nil {
		return false
	}
	err := r.found.Next(r.values)
	if err == io.EOF { //nolint:errorlint // a driver's io.EOF is never wrapped
		return false
	}
	r.err = err
	return err == nil
}

// Err implements [record.Rows].
func (r *rows) Err() error { return r.err }

// Close implements [record.Rows]. Later calls do nothing.
func (r *rows) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	return r.found.Close()
}

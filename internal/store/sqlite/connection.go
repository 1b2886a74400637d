package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// A connection is one of the engine's own, with the statements it has prepared.
// It belongs to one goroutine: the pool of database/sql, with its locks and its
// conversions, is for connections that many share.
type connection struct {
	*sqlite3.Conn
	stmts map[string]*statement
}

// A statement is prepared, with the argument that each of its places takes, from 0,
// and the number of columns that it answers.
type statement struct {
	*sqlite3.Stmt
	places  []int
	holds   []any // what each place has been given; see [statement.put]
	columns int
	read    bool // its rows are being read
}

func connect(source string) (*connection, error) {
	c, err := sqlite3.Open(source)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: c, stmts: map[string]*statement{}}, nil
}

// Query implements [engine.Reader]. A statement that began is not interrupted.
func (c *connection) Query(_ context.Context, text string, args ...any) (engine.Rows, error) {
	st, err := c.bound(text, args)
	if err != nil {
		return nil, err
	}
	st.read = true
	return &rows{st: st}, nil
}

// Exec runs a statement and returns how many rows it changed.
func (c *connection) Exec(_ context.Context, text string, args ...any) (int64, error) {
	st, err := c.bound(text, args)
	if err != nil {
		return 0, err
	}
	if err := st.Exec(); err != nil {
		return 0, err
	}
	return c.Changes(), nil
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

// bound returns a statement with its arguments, prepared unless it is.
func (c *connection) bound(text string, args []any) (*statement, error) {
	st, err := c.prepared(text)
	if err != nil {
		return nil, err
	}
	for n, arg := range st.places {
		if arg >= len(args) {
			return nil, errors.New("parameter $" + strconv.Itoa(arg+1) + " has no argument")
		}
		if err := st.put(n, args[arg]); err != nil {
			return nil, err
		}
	}
	return st, nil
}

func (c *connection) prepared(text string) (*statement, error) {
	st, ok := c.stmts[text]
	if ok && st.read {
		return nil, errors.New("an answer to the same statement is still being read")
	}
	if ok {
		return st, nil
	}
	placed, places := positional(text)
	made, _, err := c.PrepareFlags(placed, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	c.stmts[text] = &statement{Stmt: made, places: places, holds: make([]any, len(places)), columns: made.ColumnCount()}
	return c.stmts[text], nil
}

// positional writes a statement with places instead of numbered parameters, and
// returns which parameter each place takes. The engine holds numbered ones to be
// named, and numbers them as they come.
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
	st   *statement
	err  error
	over bool // there is no row at hand any more
	shut bool
}

// Next implements [engine.Rows].
func (r *rows) Next() bool {
	if r.over {
		return false
	}
	if r.st.Step() {
		return true
	}
	r.err, r.over = r.st.Err(), true
	return false
}

// Err implements [engine.Rows].
func (r *rows) Err() error { return r.err }

// Scan implements [engine.Rows]. What it hands out stays as it is.
func (r *rows) Scan(dest ...any) error {
	if len(dest) != r.st.columns {
		return fmt.Errorf("%d columns for %d destinations", r.st.columns, len(dest))
	}
	for n, d := range dest {
		if err := r.st.scan(n, d); err != nil {
			return fmt.Errorf("column %d: %w", n, err)
		}
	}
	return nil
}

// Close implements [engine.Rows]. Later calls do nothing.
func (r *rows) Close() error {
	if r.shut {
		return nil
	}
	r.over, r.shut, r.st.read = true, true, false
	err := r.st.Reset()
	if r.err != nil {
		return nil // Reset says the same again
	}
	return err
}

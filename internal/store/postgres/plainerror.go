package postgres

import (
	"cmp"
	"context"
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// serverError is an error of a connection in one line for operators.
type serverError struct {
	words string
	err   error
}

// Error returns the line.
func (e *serverError) Error() string { return e.words }

// Unwrap returns the whole error.
func (e *serverError) Unwrap() error { return e.err }

// plainError returns err with one line as its words: what the server says, or why it cannot
// be reached. The driver writes a line for each address that it tried, twice.
func plainError(err error) error {
	if err == nil {
		return nil
	}
	if _, ours := errors.AsType[*serverError](err); ours {
		return err
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return &serverError{"the server says: " + oneLine(refused.Message) + " (" + refused.Code + ")", err}
	}
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); !connecting {
		if strings.Contains(err.Error(), "\n") {
			return &serverError{oneLine(err.Error()), err}
		}
		return err
	}
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		return &serverError{"the host " + unknown.Name + " is not found: " + oneLine(unknown.Err), err}
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		why := failed.Err.Error()
		if failed.Timeout() {
			why = "no answer in time"
		}
		if i := strings.LastIndex(why, ": "); i >= 0 {
			why = why[i+2:]
		}
		at := ""
		if failed.Addr != nil {
			at = " at " + failed.Addr.String()
		}
		return &serverError{"the server" + at + " cannot be reached: " + oneLine(why), err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &serverError{"the server does not answer in time", err}
	}
	_, tried, _ := strings.Cut(err.Error(), "\n\t")
	line, _, _ := strings.Cut(cmp.Or(tried, err.Error()), "\n")
	return &serverError{"the server cannot be used: " + oneLine(line), err}
}

// oneLine returns text with single blanks for all white space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

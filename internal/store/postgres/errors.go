package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// Errors that callers act on, beside those of package engine.
var (
	// ErrBuried is returned for writes of a process whose right to write has passed
	// to others, because it did not prolong it in time. It has to end.
	ErrBuried = errors.New("other processes have given this one up")
	// ErrRewound is returned for writes to a server that has lost what it had
	// confirmed to this process, as one does that took over from another without its
	// last commits. The process has to end: what it remembers is not so.
	ErrRewound = errors.New("the server has lost what it had confirmed")
	// ErrSetting is returned by [Open] for a server that would break a promise.
	ErrSetting = errors.New("the server is not set up for a record")
	// ErrReadOnly is returned by [Open] for a server that takes no writes now. It is
	// one that another has taken over from, or that is short of disk, and may take
	// them again at any time.
	ErrReadOnly = errors.New("the server takes no writes")
)

// An InUseError is returned by [Open] when another process writes the record and
// this one wanted it alone.
type InUseError struct {
	Host    string
	PID     int64
	Program string        // its version; empty when it did not say
	Expires time.Duration // how long its right to write lasts if it has died
}

// Error names the process.
func (e *InUseError) Error() string {
	return fmt.Sprintf("the record is in use by process %d on %s", e.PID, e.Host)
}

// Codes of the server (its documentation, appendix A).
const (
	diskFull  = "53100"
	undefined = "42P01" // no such table
)

// kind gives an error of the server the type its callers look for.
func kind(err error) error {
	if codeOf(err) == diskFull {
		return errors.Join(engine.ErrFull, err)
	}
	return err
}

// codeOf returns the server's code of an error; empty when the server did not
// say anything.
func codeOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

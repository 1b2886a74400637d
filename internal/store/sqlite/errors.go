package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/trestle-bridge/trestle/internal/store/record"
)

// Errors that callers act on, beside those of package record.
var (
	// ErrDamaged is returned by [Open] when the file fails SQLite's own check.
	ErrDamaged = errors.New("database is damaged")
	// ErrNetworkDisk is returned by [Open] when the directory is on a network file
	// system, where SQLite's locks do not hold.
	ErrNetworkDisk = errors.New("directory is on a network file system")
	// ErrReadOnly is returned by [Open], [Look] and an [Examination] when this user
	// may read the file, and not write it or beside it.
	ErrReadOnly = errors.New("this user may read the record, and not write it, which the engine has to")
)

// kind gives an engine error the type its callers look for.
func kind(err error) error {
	if code(err) == lib.SQLITE_FULL {
		return errors.Join(record.ErrFull, err)
	}
	return err
}

// readable tells a file that is only not to be written from one that cannot be read.
func readable(err error) error {
	if code(err) == lib.SQLITE_READONLY {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return err
}

// code returns the primary result code of an engine error, or SQLITE_OK.
func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return lib.SQLITE_OK
}

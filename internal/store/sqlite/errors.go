package sqlite

import (
	"errors"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Errors that callers act on.
var (
	// ErrFull is returned when the disk has no room for a write. The store goes on
	// working and takes writes again once there is space.
	ErrFull = errors.New("disk is full")
	// ErrClosed is returned for writes after [Store.Close].
	ErrClosed = errors.New("store is closed")
	// ErrNewer is returned by [Open] when the file was written by a newer version.
	ErrNewer = errors.New("database was written by a newer version")
	// ErrOlder is returned by [Look] when the file has to be migrated first.
	ErrOlder = errors.New("database was written by an older version")
	// ErrDamaged is returned by [Open] when the file fails SQLite's own check.
	ErrDamaged = errors.New("database is damaged")
	// ErrNetworkDisk is returned by [Open] when the directory is on a network file
	// system, where SQLite's locks do not hold.
	ErrNetworkDisk = errors.New("directory is on a network file system")
	// ErrUnknown is returned when something named by its id is not in the record.
	ErrUnknown = errors.New("not in the record")
)

// kind gives an engine error the type its callers look for.
func kind(err error) error {
	if code(err) == lib.SQLITE_FULL {
		return errors.Join(ErrFull, err)
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

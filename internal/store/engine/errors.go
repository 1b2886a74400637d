package engine

import "errors"

// Errors that callers test for.
var (
	// ErrFull is returned when the disk has no room for a write. The store goes on
	// working and accepts writes again once there is space.
	ErrFull = errors.New("disk is full")
	// ErrUnwritable is returned when the database refuses every write: its disk or its
	// files cannot be written. The store accepts writes again once they can.
	ErrUnwritable = errors.New("the database cannot be written")
	// ErrClosed is returned for writes after the store was closed.
	ErrClosed = errors.New("store is closed")
	// ErrNewer is returned when a newer version wrote the database.
	ErrNewer = errors.New("database was written by a newer version")
	// ErrOlder is returned when a database that is opened read-only has to be migrated
	// first.
	ErrOlder = errors.New("database was written by an older version")
	// ErrUnknown is returned when the database has no row with the given id.
	ErrUnknown = errors.New("not in the record")
	// ErrNoBackup is returned by an engine that leaves backups to its own tools.
	ErrNoBackup = errors.New("the engine has its own tools for backups")
)

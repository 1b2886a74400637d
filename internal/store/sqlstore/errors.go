package sqlstore

import "errors"

// Errors that callers act on.
var (
	// ErrFull is returned when the disk has no room for a write. The store goes on
	// working and takes writes again once there is space.
	ErrFull = errors.New("disk is full")
	// ErrClosed is returned for writes after [Store.Close].
	ErrClosed = errors.New("store is closed")
	// ErrNewer is returned when a record was written by a newer version.
	ErrNewer = errors.New("database was written by a newer version")
	// ErrOlder is returned when a record that is only read has to be migrated first.
	ErrOlder = errors.New("database was written by an older version")
	// ErrLacks is returned when a record does not have, or would not have once it is
	// migrated, what this program needs: a program between two releases made it.
	ErrLacks = errors.New("database was made between two releases and lacks what this version needs")
	// ErrUnknown is returned when something named by its id is not in the record.
	ErrUnknown = errors.New("not in the record")
	// ErrNoBackup is returned by an engine that leaves backups to its own tools.
	ErrNoBackup = errors.New("the engine has its own tools for backups")
)

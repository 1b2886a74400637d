// Package sqlstore keeps the record in a database: every port of the border, of
// the shell and of the console, in SQL that all engines accept.
//
// It promises that a write that returned without an error is on disk, whole,
// and that one that returned an error left nothing behind. All writers share
// group commits: whatever waits while one commit is on its way to the disk goes
// into the next one together, and a write that fails takes none of its
// neighbours with it. Reads see every write that returned before they began.
//
// It judges nothing: which event wakes whom, what is shown and what is sent is
// decided elsewhere. It reads no clock that reaches stored data but the one it
// is given. It does not know which engine it stands on: opening, locking,
// migrating and copying a database are the engine's.
package sqlstore

// Package engine is the contract between the store and a database engine, and what
// is the same for every engine: the writer with group commit, the transaction, query
// helpers, stored values and clocks.
//
// A write that returned nil is on disk, whole; one that returned an error stored
// nothing. Writes that wait at the same time share one commit, and one that fails is
// undone without the others. A read sees every write that returned before it began.
//
// The package knows no table. The packages sqlite and postgres implement [Engine];
// opening, locking, migrating and copying a database are theirs.
package engine

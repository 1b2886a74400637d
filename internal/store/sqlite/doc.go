// Package sqlite keeps a record in one SQLite file, for a single process: the
// file, its locks, its settings, its schema and its copies.
//
// It promises that a commit that returned is on the disk, that a second process
// is refused at once, and that a file it cannot trust is left alone. What is
// written and read is package sqlstore's.
package sqlite

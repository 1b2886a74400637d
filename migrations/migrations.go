// Package migrations holds the database schema of each engine as numbered SQL files,
// which the store applies when it opens a database.
//
// Until 0.1.0 is released, 0001_init.sql may be edited. Afterwards a released file never
// is: a change of the schema is a new file for each engine. The package does not know
// which code reads the tables.
package migrations

import (
	"embed"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// The migrations of each engine. Tests replace them to add later ones.
var (
	SQLite   = folder("sqlite")   // of the embedded engine
	Postgres = folder("postgres") // of the shared engine
)

func folder(name string) fs.FS {
	sub, err := fs.Sub(files, name)
	if err != nil {
		panic("migrations: " + err.Error()) // a constant name
	}
	return sub
}

// Latest returns the schema version that all migrations in files lead to.
func Latest(files fs.FS) int64 {
	all := versions(files)
	return all[len(all)-1]
}

// CountPending returns the number of migrations in files after a schema version.
func CountPending(files fs.FS, have int64) (n int) {
	for _, version := range versions(files) {
		if version > have {
			n++
		}
	}
	return n
}

// versions returns the numbers of the files in ascending order.
func versions(files fs.FS) (all []int64) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		panic("migrations: " + err.Error()) // a constant pattern
	}
	for _, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			all = append(all, n)
		}
	}
	return all
}

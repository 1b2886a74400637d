// Package migrations holds the database schema, one folder an engine, as the
// numbered files the store applies when it opens a database.
//
// It promises that a numbered file is never edited once it was released: a change
// is a new file. What an empty SQLite record gets at once, fresh.schema, is written
// from them. It knows nothing of who reads the tables.
package migrations

import "embed"

// SQLite holds the schema of the embedded engine below the folder "sqlite".
//
//go:embed sqlite/*.sql sqlite/fresh.schema
var SQLite embed.FS

// Postgres holds the schema of the shared engine below the folder "postgres".
//
//go:embed postgres/*.sql
var Postgres embed.FS

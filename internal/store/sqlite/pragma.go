package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"slices"
	"strings"

	_ "github.com/ncruces/go-sqlite3/driver" // the pool's connections, named sqlite3
)

// A pragma is a setting of a connection: how it is asked for, and what the
// engine must answer afterwards.
type pragma struct{ name, set, read string }

// shared are the settings every connection depends on. How long it
// waits comes first: the others may have to.
var shared = []pragma{
	{"busy_timeout", "5000", "5000"},
	{"foreign_keys", "on", "1"},
	{"trusted_schema", "off", "0"},
}

var writing = slices.Concat(shared, []pragma{
	{"journal_mode", "wal", "wal"},
	{"synchronous", "full", "2"},
	{"journal_size_limit", "67108864", "67108864"},
	{"wal_autocheckpoint", "16000", "16000"}, // 64 MB: what the folder could not do beside the writes
})

// committing are those of the session: the savepoints of a group touch no file. Where
// much is sorted, as by a migration, they would not do: a connection has 256 MB.
var committing = slices.Concat(writing, []pragma{{"temp_store", "memory", "2"}})

var reading = slices.Concat(shared, []pragma{
	{"journal_mode", "wal", "wal"},
	{"query_only", "on", "1"},
	{"cache_size", "-512", "-512"}, // kilobytes: several readers, each with its own
})

// source returns the name by which the engine opens file with the settings.
func source(file, mode string, settings []pragma) string {
	q := url.Values{"vfs": {diskName}, "mode": {mode}, "_txlock": {"immediate"}}
	for _, p := range settings {
		if p.name == "journal_mode" && mode == "ro" {
			continue // a reader cannot set it; it must find it so
		}
		q.Add("_pragma", p.name+"("+p.set+")")
	}
	u := url.URL{Path: file}
	return "file:" + u.EscapedPath() + "?" + q.Encode()
}

// A scalarQuerier puts a question whose answer is one cell.
type scalarQuerier func(ctx context.Context, text string) (string, error)

// asking puts questions to a connection of a pool.
func asking(c *sql.Conn) scalarQuerier {
	return func(ctx context.Context, text string) (got string, err error) {
		return got, c.QueryRowContext(ctx, text).Scan(&got)
	}
}

// verify reads every setting back and fails when one did not take.
func verify(ctx context.Context, ask scalarQuerier, settings []pragma) error {
	for _, p := range settings {
		got, err := ask(ctx, "pragma "+p.name)
		if err != nil {
			return fmt.Errorf("read %s: %w", p.name, err)
		}
		if !strings.EqualFold(got, p.read) {
			return fmt.Errorf("%s is %q, want %q", p.name, got, p.read)
		}
	}
	return nil
}

// openWriter opens the one connection that writes.
func openWriter(ctx context.Context, file string) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", source(file, "rwc", writing))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		return db, damage(err)
	}
	defer c.Close()
	return db, damage(verify(ctx, asking(c), writing))
}

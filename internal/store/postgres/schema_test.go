package postgres_test

import (
	"context"
	"database/sql"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// own are the tables that only one engine has.
var own = []string{"goose_db_version", "processes", "owners", "turn", "sqlite_sequence"}

// One text of a statement serves both engines, and a record moves from one to the
// other: their tables have the same columns.
func TestBothEnginesHaveTheSameColumns(t *testing.T) {
	database := server.Database(t)
	open(t, options(t, database))
	c, err := pgx.Connect(t.Context(), server.URL(database))
	testutil.OK(t, err)
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	here, err := c.Query(t.Context(), `select table_name, column_name, data_type from information_schema.columns where table_schema = 'public'`)
	testutil.OK(t, err)
	defer here.Close()
	//nolint:rowserrcheck // columns looks for it
	if diff := cmp.Diff(columns(t, embedded(t)), columns(t, here)); diff != "" {
		t.Errorf("columns (-sqlite +postgres):\n%s", diff)
	}
}

// embedded asks the other engine what it has.
func embedded(t *testing.T) *sql.Rows {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, NewID: newID})
	testutil.OK(t, err)
	testutil.OK(t, s.Close(t.Context()))
	db, err := sql.Open("sqlite3", filepath.Join(dir, sqlite.FileName))
	testutil.OK(t, err)
	t.Cleanup(func() { _ = db.Close() })
	there, err := db.QueryContext(t.Context(), `select m.name, c.name, c.type from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table'`)
	testutil.OK(t, err)
	t.Cleanup(func() { _ = there.Close() })
	return there
}

// An answer is what either driver gives.
type answer interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

// columns returns what each table has, in the words of Postgres.
func columns(t *testing.T, rows answer) map[string][]string {
	t.Helper()
	words := map[string]string{"integer": "bigint", "blob": "bytea", "real": "double precision", "int": "bigint"}
	out := map[string][]string{}
	for rows.Next() {
		var table, column, kind string
		testutil.OK(t, rows.Scan(&table, &column, &kind))
		if slices.Contains(own, table) {
			continue
		}
		kind = strings.ToLower(kind)
		if word, ok := words[kind]; ok {
			kind = word
		}
		out[table] = append(out[table], column+" "+kind)
	}
	testutil.OK(t, rows.Err())
	for table := range maps.Keys(out) {
		slices.Sort(out[table])
	}
	return out
}

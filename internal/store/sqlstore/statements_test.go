package sqlstore_test

import (
	"database/sql"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/storetest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// The driver would tell of a misspelt column only when the statement first runs.
func TestEveryStatementPreparesOnAFreshSchema(t *testing.T) {
	db := openTables(t)
	found := storetest.Statements(t)
	if len(found) < 100 {
		t.Fatalf("found %d statements, want all of them", len(found))
	}
	for name, text := range found {
		prepare(t, db, name, text)
	}
}

func prepare(t *testing.T, db *sql.DB, name, text string) {
	t.Helper()
	st, err := db.PrepareContext(t.Context(), text)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	t.Cleanup(func() { _ = st.Close() })
}

// openTables returns a database with the schema of today and nothing in it.
func openTables(t *testing.T) *sql.DB {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, NewID: func() string { return "1" }})
	testutil.OK(t, err)
	testutil.OK(t, s.Close(t.Context()))
	db, err := sql.Open("sqlite3", filepath.Join(dir, sqlite.FileName))
	testutil.OK(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// fileConstants returns the names of the constants that some files declare.
func fileConstants(t *testing.T, names ...string) []string {
	t.Helper()
	var out []string
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		testutil.OK(t, err)
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				for _, id := range s.(*ast.ValueSpec).Names {
					out = append(out, id.Name)
				}
			}
		}
	}
	return out
}

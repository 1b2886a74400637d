package record_test

import (
	"database/sql"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/sqlite"
)

// The driver would tell of a misspelt column only when the statement first runs.
func TestEveryStatementPreparesOnAFreshSchema(t *testing.T) {
	db := openTables(t)
	found := statements(t)
	if len(found) < 100 {
		t.Fatalf("found %d statements, want all of them", len(found))
	}
	for name, text := range found {
		st, err := db.PrepareContext(t.Context(), text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := st.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// openTables returns a database with the schema of today and nothing in it.
func openTables(t *testing.T) *sql.DB {
	t.Helper()
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, NewID: func() string { return "1" }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, sqlite.FileName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// statements returns the constants of type query with their values. Fragments,
// whose names end in Columns or begin with is, are parts of others.
func statements(t *testing.T) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	//nolint:staticcheck // the folder is one package and has no build tags that matter here
	packages, err := parser.ParseDir(files, ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	var sources []*ast.File
	for _, f := range packages["record"].Files {
		sources = append(sources, f)
	}
	config := types.Config{Importer: importer.Default(), Error: func(error) {}} // constants need no imports
	checked, _ := config.Check("record", files, sources, nil)
	out := map[string]string{}
	for _, name := range checked.Scope().Names() {
		c, ok := checked.Scope().Lookup(name).(*types.Const)
		if !ok || c.Type().String() != "record.query" || strings.HasSuffix(name, "Columns") || name == "isHead" || name == "cycleProgress" {
			continue
		}
		out[name] = constant.StringVal(c.Val())
	}
	return out
}

// fileConstants returns the names of the constants that some files declare.
func fileConstants(t *testing.T, names ...string) []string {
	t.Helper()
	var out []string
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
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

// Package recordtest is what the tests of engines have in common: the record as the
// suite of stores sees it, and the statements that package record asks of an engine,
// so that every engine can be asked whether it understands all of them.
//
// It promises to miss no statement: it reads the source. It also writes what earlier
// versions left, for the migrations to find. It knows no engine.
package recordtest

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"strings"
	"testing"
)

// Statements returns the statements of package record by the names of their
// constants; dir is its folder. Fragments, which are parts of others, are left out.
func Statements(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	//nolint:staticcheck // the folder is one package and has no build tags that matter here
	packages, err := parser.ParseDir(files, dir, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
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

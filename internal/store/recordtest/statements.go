// Package recordtest is what the tests of engines have in common: the record as the
// suite of stores sees it, and the statements that package record asks of an engine,
// so that every engine can be asked whether it understands all of them.
//
// It promises to miss no statement: it reads the source. It also writes what earlier
// versions left, for the migrations to find. It knows no engine.
package recordtest

import (
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Statements returns the statements of package record by the names of their
// constants; dir is its folder. Fragments, which are parts of others, are left out.
func Statements(t *testing.T, dir string) map[string]string {
	t.Helper()
	return constants(t, dir, func(c *types.Const) bool {
		return c.Type().String() == "sqlstore.query" && !strings.HasSuffix(c.Name(), "Columns") && c.Name() != "isHead" && c.Name() != "cycleProgress"
	})
}

var beginning = regexp.MustCompile(`^(select|insert|update|delete|with) `)

// Own returns the statements that the package of an engine asks for itself, by the
// names of their constants: those that begin as one does. dir is its folder.
func Own(t *testing.T, dir string) map[string]string {
	t.Helper()
	return constants(t, dir, func(c *types.Const) bool {
		return c.Val().Kind() == constant.String && beginning.MatchString(constant.StringVal(c.Val()))
	})
}

// constants returns the texts of a package's constants that pick chooses.
func constants(t *testing.T, dir string, pick func(*types.Const) bool) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	//nolint:staticcheck // the folder is one package and has no build tags that matter here
	packages, err := parser.ParseDir(files, dir, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for name, p := range packages {
		config := types.Config{Importer: importer.Default(), Error: func(error) {}} // constants need no imports
		checked, _ := config.Check(name, files, slices.Collect(maps.Values(p.Files)), nil)
		for _, name := range checked.Scope().Names() {
			if c, ok := checked.Scope().Lookup(name).(*types.Const); ok && pick(c) {
				out[name] = constant.StringVal(c.Val())
			}
		}
	}
	return out
}

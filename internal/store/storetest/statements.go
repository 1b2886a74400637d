package storetest

import (
	"errors"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// packages are those whose statements every engine must accept.
var packages = []string{"engine", "tables", "readmodel", "sqlstore"}

// Statements returns the statements of the store by the names of their constants.
// Fragments, which are parts of others, are left out. It reads the source, so that no
// statement is missed.
func Statements(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, p := range packages {
		found := constants(t, filepath.Join(moduleRoot(t), "internal", "store", p), func(c *types.Const) bool {
			return strings.HasSuffix(c.Type().String(), "engine.QueryText") && !strings.HasSuffix(c.Name(), "Columns") && c.Name() != "IsLaneHead" && c.Name() != "cycleProgress"
		})
		for name, text := range found {
			if _, twice := out[name]; twice {
				t.Fatalf("two statements are called %s", name)
			}
			out[name] = text
		}
	}
	return out
}

var beginning = regexp.MustCompile(`^(select|insert|update|delete|with) `)

// EngineStatements returns the statements of an engine's own package by the names of
// their constants: the string constants that begin like one. dir is its folder.
func EngineStatements(t *testing.T, dir string) map[string]string {
	t.Helper()
	return constants(t, dir, func(c *types.Const) bool {
		return c.Val().Kind() == constant.String && beginning.MatchString(constant.StringVal(c.Val()))
	})
}

// constants returns the values of a package's string constants that pick chooses.
func constants(t *testing.T, dir string, pick func(*types.Const) bool) map[string]string {
	t.Helper()
	l := sourceLoader{root: moduleRoot(t), loaded: map[string]*types.Package{}}
	checked, err := l.load(dir, filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range checked.Scope().Names() {
		if c, ok := checked.Scope().Lookup(name).(*types.Const); ok && pick(c) {
			out[name] = constant.StringVal(c.Val())
		}
	}
	return out
}

// A sourceLoader type-checks packages as far as their constants need it: imports from
// outside the store are empty.
type sourceLoader struct {
	root   string
	loaded map[string]*types.Package
}

// Import implements [types.Importer].
func (l *sourceLoader) Import(name string) (*types.Package, error) {
	if p := l.loaded[name]; p != nil {
		return p, nil
	}
	if _, inStore, ok := strings.Cut(name, "/internal/store/"); ok {
		return l.load(filepath.Join(l.root, "internal", "store", inStore), name)
	}
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

func (l *sourceLoader) load(dir, name string) (*types.Package, error) {
	files := token.NewFileSet()
	//nolint:staticcheck // the folder is one package and has no build tags that matter here
	parsed, err := parser.ParseDir(files, dir, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		return nil, err
	}
	for _, p := range parsed {
		config := types.Config{Importer: l, Error: func(error) {}, IgnoreFuncBodies: true}
		checked, _ := config.Check(name, files, slices.Collect(maps.Values(p.Files)), nil)
		l.loaded[name] = checked
		return checked, nil
	}
	return nil, errors.New("no package in " + dir)
}

// moduleRoot returns the folder of go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			err = errors.New("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal(err)
	return ""
}

package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/trestle-bridge/trestle"

// A source is one Go file of the tree. Build tags play no part: every file counts.
type source struct {
	path  string // from the module's root, with slashes
	pkg   string // its folder; "." at the root
	test  bool
	lines int
	fset  *token.FileSet
	ast   *ast.File
}

// at returns "path:line" of a position in the file.
func (s *source) at(p token.Pos) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(p).Line)
}

// imports returns the import paths of the file, each with its position.
func (s *source) imports() map[string]string {
	found := map[string]string{}
	for _, spec := range s.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			found[name] = s.at(spec.Pos())
		}
	}
	return found
}

// A tree is every Go file of the module, in the order of their paths.
type tree []*source

// packages returns the files of each folder.
func (tr tree) packages() map[string]tree {
	byFolder := map[string]tree{}
	for _, s := range tr {
		byFolder[s.pkg] = append(byFolder[s.pkg], s)
	}
	return byFolder
}

// program returns the files that are not tests.
func (tr tree) program() tree {
	return slices.DeleteFunc(slices.Clone(tr), func(s *source) bool { return s.test })
}

// root returns the folder that holds go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = up
	}
}

// load parses the module that the test runs in.
func load(t *testing.T) tree {
	t.Helper()
	texts := map[string]string{}
	walk(t, func(name string) bool { return path.Ext(name) == ".go" && !strings.Contains(name, "testdata/") },
		func(name, text string) { texts[name] = text })
	if len(texts) == 0 {
		t.Fatal("the module holds no Go file")
	}
	return parse(t, texts)
}

// parse makes a tree of file names and texts.
func parse(t *testing.T, texts map[string]string) tree {
	t.Helper()
	var tr tree
	fset := token.NewFileSet() // one, so that packages can be checked together
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		f, err := parser.ParseFile(fset, name, texts[name], parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		tr = append(tr, &source{
			path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			lines: strings.Count(texts[name], "\n"), fset: fset, ast: f,
		})
	}
	return tr
}

// walk calls visit with the name and text of each file of the module that want
// accepts. Version control, built binaries and a run's data are not the module's.
func walk(t *testing.T, want func(name string) bool, visit func(name, text string)) {
	t.Helper()
	top := root(t)
	err := filepath.WalkDir(top, func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, full)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if d.IsDir() {
			if slices.Contains([]string{".git", "bin", "data"}, name) {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !want(name) {
			return nil
		}
		text, err := os.ReadFile(full)
		if err != nil {
			return err
		}
		visit(name, string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// report fails the test with every finding, and with rule, which says what to do.
func report(t *testing.T, rule string, findings []string) {
	t.Helper()
	if len(findings) > 0 {
		t.Errorf("%s\n  %s", rule, strings.Join(findings, "\n  "))
	}
}

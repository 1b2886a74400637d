package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vague are names that say nothing about what is inside.
var vague = []string{"util", "utils", "common", "helper", "helpers", "types", "base", "manager", "misc", "shared", "lib"}

func TestPackagesAreNamedForWhatTheyHold(t *testing.T) {
	report(t, "A package is a noun a newcomer can guess; these are not:", vaguePackages(load(t)))
}

func vaguePackages(tr tree) []string {
	var found []string
	for folder, files := range tr.packages() {
		name := strings.TrimSuffix(files[0].ast.Name.Name, "_test")
		if slices.Contains(vague, name) || slices.Contains(vague, path.Base(folder)) {
			found = append(found, folder)
		}
	}
	slices.Sort(found)
	return found
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	report(t, "Each package has one comment, \"Package NAME …\" or \"Command NAME …\", in one file:", undescribed(load(t).program()))
}

func undescribed(tr tree) []string {
	var found []string
	for folder, files := range tr.packages() {
		n := 0
		for _, f := range files {
			doc := f.ast.Doc.Text()
			if strings.HasPrefix(doc, "Package "+f.ast.Name.Name+" ") ||
				f.ast.Name.Name == "main" && strings.HasPrefix(doc, "Command "+path.Base(folder)+" ") {
				n++
			}
		}
		if n != 1 {
			found = append(found, fmt.Sprintf("%s: %d package comments", folder, n))
		}
	}
	slices.Sort(found)
	return found
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	report(t, "An exported name has a doc comment: a sentence that begins with the name, or with an article and the name:", undocumented(load(t).program()))
}

// undocumented returns the exported names without a doc comment in our form. A group of
// constants or variables may have one comment for all, as may methods of one name on
// consecutive lines; a method counts when its type is exported. Names of package main
// cannot be imported and are left out.
func undocumented(tr tree) []string {
	var found []string
	for _, f := range tr {
		if f.ast.Name.Name == "main" {
			continue
		}
		for i, d := range f.ast.Decls {
			if i > 0 && continues(f, f.ast.Decls[i-1], d) {
				continue
			}
			for _, name := range undocumentedIn(d) {
				found = append(found, f.at(name.Pos())+": "+name.Name)
			}
		}
	}
	slices.Sort(found)
	return found
}

// continues reports whether d is a method in a block of one-line methods of the
// same name, and not its first.
func continues(f *source, before, d ast.Decl) bool {
	a, ok := before.(*ast.FuncDecl)
	if !ok || a.Recv == nil {
		return false
	}
	b, ok := d.(*ast.FuncDecl)
	return ok && b.Recv != nil && a.Name.Name == b.Name.Name &&
		f.fset.Position(b.Pos()).Line == f.fset.Position(a.End()).Line+1
}

func undocumentedIn(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) && !speaksOf(d.Doc, d.Name.Name) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var missing []*ast.Ident
		for _, s := range d.Specs {
			missing = append(missing, undocumentedSpec(d, s)...)
		}
		return missing
	}
	return nil
}

func undocumentedSpec(d *ast.GenDecl, s ast.Spec) []*ast.Ident {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && !speaksOf(s.Doc, s.Name.Name) && !speaksOf(d.Doc, s.Name.Name) {
			return []*ast.Ident{s.Name}
		}
	case *ast.ValueSpec:
		grouped := d.Lparen != token.NoPos
		for _, name := range s.Names {
			if !name.IsExported() || grouped && (d.Doc != nil || s.Comment != nil) {
				continue
			}
			if !speaksOf(s.Doc, name.Name) && !speaksOf(d.Doc, name.Name) {
				return []*ast.Ident{name}
			}
		}
	}
	return nil
}

// receiver returns the name of the type a method belongs to.
func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// speaksOf reports whether the comment begins with the name or its article.
func speaksOf(doc *ast.CommentGroup, name string) bool {
	words := strings.Fields(doc.Text())
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	return len(words) > 1 && strings.TrimSuffix(strings.TrimRight(words[0], ",:;"), "'s") == name
}

func TestUndocumentedNameIsFound(t *testing.T) {
	tr := parse(t, map[string]string{"shell/wake.go": `package shell

// A Wake is the right to run.
type Wake struct{}

// Runs the wake.
func (w *Wake) Run() {}

func (w *Wake) Stop() {}

type hidden struct{}

func (hidden) Run() {}

// Kind returns the name of each.
func (Wake) Kind() string { return "wake" }
func (Mode) Kind() string { return "mode" }

// Limits of a wake.
const (
	MaxSteps = 12
	MaxActs  = 40
)

var ErrTired, errQuiet = 1, 2

// Mode is how.
type Mode int
`})
	got := undocumented(tr)
	want := []string{"shell/wake.go:25: ErrTired", "shell/wake.go:7: Run", "shell/wake.go:9: Stop"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("undocumented (-want +got):\n%s", diff)
	}
	if got := undescribed(tr); !slices.Equal(got, []string{"shell: 0 package comments"}) {
		t.Errorf("undescribed: got %q, want the package shell", got)
	}
	got = vaguePackages(parse(t, map[string]string{"shell/util/a.go": "package util\n", "hud/a.go": "package hud\n"}))
	if !slices.Equal(got, []string{"shell/util"}) {
		t.Errorf("vague packages: got %q, want shell/util", got)
	}
}

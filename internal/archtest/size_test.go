package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	maxFile     = 600 // lines; one idea, read from top to bottom, fits in fewer
	maxFunction = 100 // lines of the body
)

// longer lists what may be longer than the limits, with the reason. A function
// is written "path:Name" or "path:Type.Name", a file by its path. An entry that
// is no longer needed fails the test.
var longer = map[string]string{}

func TestFilesAndFunctionsFitTheEye(t *testing.T) {
	report(t, "A file is one idea and a function one level; split these, or say in longer (internal/archtest/size_test.go) why not:",
		tooLong(load(t).program(), longer))
}

func tooLong(tr tree, allowed map[string]string) []string {
	var found []string
	used := map[string]bool{}
	note := func(what string, lines, limit int) {
		if lines <= limit {
			return
		}
		used[what] = true
		if allowed[what] == "" {
			found = append(found, fmt.Sprintf("%s: %d lines, limit %d", what, lines, limit))
		}
	}
	for _, f := range tr {
		note(f.path, f.lines, maxFile)
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				name = receiver(fn) + "." + name
			}
			first, last := f.fset.Position(fn.Body.Lbrace).Line, f.fset.Position(fn.Body.Rbrace).Line
			note(f.path+":"+name, last-first+1, maxFunction)
		}
	}
	for what := range allowed {
		if !used[what] {
			found = append(found, what+": is in longer without need")
		}
	}
	slices.Sort(found)
	return found
}

// A goroutine is a promise to wait for it. One go statement in about a thousand
// lines is twice what the models we follow need; wg.Go and errgroup do not count.
func TestFewGoroutinesAreStartedByHand(t *testing.T) {
	tr := load(t).program()
	found, budget := goStatements(tr)
	if len(found) > budget {
		report(t, fmt.Sprintf("%d go statements where %d would do; use wg.Go or errgroup, in view of what waits:", len(found), budget), found)
	}
}

func goStatements(tr tree) (found []string, budget int) {
	lines := 0
	for _, f := range tr {
		lines += f.lines
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				found = append(found, f.at(g.Pos()))
			}
			return true
		})
	}
	return found, 4 + lines/1000
}

func TestOverlongIsFound(t *testing.T) {
	body := strings.Repeat("\tx++\n", maxFunction)
	tr := parse(t, map[string]string{
		"hud/fit.go":  "package hud\n\nfunc (f *Fit) Run(x int) {\n" + body + "}\n\nfunc short(x int) {\n\tgo short(x)\n}\n",
		"hud/long.go": "package hud\n" + strings.Repeat("\n", maxFile),
	})
	got := tooLong(tr, map[string]string{"hud/long.go": "a table", "hud/gone.go": "a table"})
	want := []string{"hud/fit.go:Fit.Run: 102 lines, limit 100", "hud/gone.go: is in longer without need"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("too long (-want +got):\n%s", diff)
	}
	if found, budget := goStatements(tr); len(found) != 1 || budget != 4 {
		t.Errorf("go statements: got %q of %d, want one of 4", found, budget)
	}
}

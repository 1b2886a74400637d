package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/failpoint"
)

// DELIVERY 3.1. A failpoint that no code hits tests nothing, and the harness cannot
// plan one that it does not know.
func TestFaultPointsAreRegisteredAndPlaced(t *testing.T) {
	listed := map[string]bool{}
	for _, p := range failpoint.Points() {
		listed[p.Name] = true
	}
	placed, unlisted := placedPoints(load(t).program(), listed)
	report(t, "These points are not in the table of internal/failpoint/points.go:", unlisted)

	// As long as there is no harness, points may be listed before they are placed.
	if _, err := os.Stat(filepath.Join(root(t), "internal", "faults")); err != nil {
		return
	}
	for _, p := range failpoint.Points() {
		if placed[p.Name] == "" {
			t.Errorf("nothing hits the point %q, listed in internal/failpoint/points.go: %s", p.Name, p.Where)
		}
	}
}

// placedPoints returns the listed names that stand in files of packages with
// fault points, each with one place, and the names given to a point that are
// not listed. A name may reach its point through a function of the package.
func placedPoints(tr tree, listed map[string]bool) (placed map[string]string, unlisted []string) {
	placed = map[string]string{}
	for folder, files := range tr.packages() {
		points := slices.ContainsFunc(files, func(f *source) bool {
			_, imports := f.imports()[module+"/internal/failpoint"]
			return imports
		})
		if !points || folder == "internal/crashtest" {
			continue
		}
		for _, f := range files {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if name, ok := word(n); ok && listed[name] {
					placed[name] = f.at(n.Pos())
				}
				call, ok := n.(*ast.CallExpr)
				if !ok || !isPoint(call.Fun) || len(call.Args) == 0 {
					return true
				}
				if name, ok := word(call.Args[0]); ok && !listed[name] {
					unlisted = append(unlisted, f.at(call.Pos())+": "+name)
				}
				return true
			})
		}
	}
	return placed, unlisted
}

// word returns the text of a string literal.
func word(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

func isPoint(fn ast.Expr) bool {
	sel, ok := fn.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == "fault" && (sel.Sel.Name == "Point" || sel.Sel.Name == "Guard")
}

func TestPlacedPointsAreFound(t *testing.T) {
	tr := parse(t, map[string]string{
		"activity/ingress.go": "package activity\n\nimport \"" + module + "/internal/failpoint\"\n\nfunc accept() {\n" +
			"\t_ = fault.Point(\"ingest.received\")\n\t_ = commit(\"ingest.before_commit\")\n\t_ = fault.Point(\"ingest.unheard_of\")\n}\n",
		"shell/wake.go": "package shell\n\nvar name = \"wake.claimed\"\n",
	})
	placed, unlisted := placedPoints(tr, map[string]bool{"ingest.received": true, "ingest.before_commit": true, "wake.claimed": true})
	want := map[string]string{"ingest.received": "activity/ingress.go:6", "ingest.before_commit": "activity/ingress.go:7"}
	if diff := cmp.Diff(want, placed); diff != "" {
		t.Errorf("placed (-want +got):\n%s", diff)
	}
	if want := []string{"activity/ingress.go:8: ingest.unheard_of"}; !slices.Equal(unlisted, want) {
		t.Errorf("unlisted: got %q, want %q", unlisted, want)
	}
}

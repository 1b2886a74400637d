package archtest

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/fault"
)

// DELIVERY 3.1. The kill harness is vacuous at a point that nobody hits, and a
// point it does not know can not be planned.
func TestFaultPointsAreRegisteredAndPlaced(t *testing.T) {
	hit, unnamed := hitPoints(load(t).program())
	report(t, "fault.Point and fault.Guard take the name as a literal, so that a reader can search for it:", unnamed)

	listed := map[string]bool{}
	for _, p := range fault.Points() {
		listed[p.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(hit)) {
		if !listed[name] {
			t.Errorf("%s: the point %q is not in internal/fault/points.go", hit[name], name)
		}
	}
	// As long as there is no harness, points may be listed before they are placed.
	if _, err := os.Stat(filepath.Join(root(t), "internal", "faults")); err != nil {
		return
	}
	for _, p := range fault.Points() {
		if hit[p.Name] == "" {
			t.Errorf("nothing calls fault.Point(%q), listed in internal/fault/points.go: %s", p.Name, p.Where)
		}
	}
}

// hitPoints returns the names that the program hits, each with one place, and
// the calls whose name is no literal.
func hitPoints(tr tree) (hit map[string]string, unnamed []string) {
	hit = map[string]string{}
	for _, f := range tr {
		if f.pkg == "internal/fault" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isPoint(call.Fun) || len(call.Args) == 0 {
				return true
			}
			lit, ok := call.Args[0].(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				unnamed = append(unnamed, f.at(call.Pos()))
				return true
			}
			if name, err := strconv.Unquote(lit.Value); err == nil {
				hit[name] = f.at(call.Pos())
			}
			return true
		})
	}
	return hit, unnamed
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
	tr := parse(t, map[string]string{"activity/ingress.go": "package activity\n\nfunc accept(name string) {\n" +
		"\t_ = fault.Point(\"ingest.received\")\n\t_ = fault.Guard(\"ingest.before_commit\", nil)\n\t_ = fault.Point(name)\n}\n"})
	hit, unnamed := hitPoints(tr)
	want := map[string]string{"ingest.received": "activity/ingress.go:4", "ingest.before_commit": "activity/ingress.go:5"}
	if diff := cmp.Diff(want, hit); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	if !slices.Equal(unnamed, []string{"activity/ingress.go:6"}) {
		t.Errorf("unnamed: got %q, want line 6", unnamed)
	}
}

package archtest

import (
	"go/ast"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// movers is the file of the shell's machine.
const movers = "shell/state.go"

// PRD-6.3-A2: a state changes and a transition comes to be in one place alone, the
// machine's; everybody else asks it.
func TestStatesAreMovedInOnePlace(t *testing.T) {
	report(t, "Only "+movers+" makes machines and transitions and sets their states:", strayMoves(load(t).program()))
}

func strayMoves(tr tree) []string {
	var stray []string
	for _, f := range tr {
		if f.path == movers {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if name := typeName(n.Type); name == "spaces.Transition" || name == "shell.StateMachine" ||
					f.pkg == "shell" && name == "StateMachine" || f.pkg == "spaces" && name == "Transition" {
					stray = append(stray, f.at(n.Pos())+": makes a "+name)
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					if sel, ok := to.(*ast.SelectorExpr); ok && f.pkg == "shell" && (sel.Sel.Name == "state" || sel.Sel.Name == "moves") {
						stray = append(stray, f.at(n.Pos())+": sets "+sel.Sel.Name)
					}
				}
			}
			return true
		})
	}
	slices.Sort(stray)
	return stray
}

// typeName returns a type as it is written, without its package's path.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}

func TestStrayMoveIsNamedWithItsPlace(t *testing.T) {
	tr := parse(t, map[string]string{
		"shell/cycle.go":      "package shell\n\nfunc f(m *StateMachine) {\n\tm.state = 1\n\t_ = &StateMachine{}\n}\n",
		"shell/state.go":      "package shell\n\nfunc g(m *StateMachine) { m.state = 2 }\n",
		"cmd/trestle/main.go": "package main\n\nvar _ = spaces.Transition{}\n",
	})
	want := []string{
		"cmd/trestle/main.go:3: makes a spaces.Transition",
		"shell/cycle.go:4: sets state", "shell/cycle.go:5: makes a StateMachine",
	}
	if diff := cmp.Diff(want, strayMoves(tr)); diff != "" {
		t.Errorf("stray moves (-want +got):\n%s", diff)
	}
}

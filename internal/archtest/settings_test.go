package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A setting that is documented does something.
func TestEverySettingIsRead(t *testing.T) {
	report(t, "A documented setting that no code reads is a broken promise:", broken(load(t).program()))
}

// broken returns the keys of internal/config's settingKeys whose field no code
// outside that package reads. A field that is only handed on, to a field of
// another struct, is read when that one is.
func broken(tr tree) []string {
	w := newWatch(tr)
	keys := w.settings(module + "/internal/config")
	var found []string
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if !w.read(keys[name], map[types.Object]bool{}) {
			found = append(found, name+": nothing reads it")
		}
	}
	if len(keys) == 0 {
		return []string{"no setting found at all"}
	}
	return found
}

// A watch knows of each field where it is read, by the types of our own code.
// What others declare is unknown to it, and does not matter.
type watch struct {
	tr      map[string]tree
	info    types.Info
	checked map[string]*types.Package
	uses    map[types.Object]int            // reads that end in an expression
	handed  map[types.Object][]types.Object // the fields that it is handed on to
}

func newWatch(tr tree) *watch {
	w := &watch{
		tr: tr.packages(), checked: map[string]*types.Package{}, uses: map[types.Object]int{}, handed: map[types.Object][]types.Object{},
		info: types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Uses: map[*ast.Ident]types.Object{}},
	}
	for folder := range w.tr {
		if _, err := w.Import(module + "/" + folder); err != nil {
			panic(err)
		}
	}
	for folder, files := range w.tr {
		if folder == "internal/config" {
			continue
		}
		for _, f := range files {
			w.look(f.ast)
		}
	}
	return w
}

// Import implements [types.Importer]: ours are read, others are empty.
func (w *watch) Import(path string) (*types.Package, error) {
	if p, ok := w.checked[path]; ok {
		return p, nil
	}
	var files []*ast.File
	for _, f := range w.tr[strings.TrimPrefix(path, module+"/")] {
		files = append(files, f.ast)
	}
	if len(files) == 0 {
		p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
		p.MarkComplete()
		w.checked[path] = p
		return p, nil
	}
	conf := types.Config{Importer: w, Error: func(error) {}, FakeImportC: true}
	p, _ := conf.Check(path, w.tr[strings.TrimPrefix(path, module+"/")][0].fset, files, &w.info) // what others declare cannot be resolved
	w.checked[path] = p
	return p, nil
}

// look notes the fields that a file reads, and those it hands on.
func (w *watch) look(f *ast.File) {
	written := map[ast.Expr]bool{}
	handed := map[ast.Expr]types.Object{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				written[to] = true
				if s, ok := to.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) {
					handed[n.Rhs[i]] = w.field(s)
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok {
				if v, ok := w.info.Uses[key].(*types.Var); ok && v.IsField() {
					handed[n.Value] = v
				}
			}
		case *ast.SelectorExpr:
			switch field := w.field(n); {
			case field == nil || written[n]:
			case handed[n] != nil:
				w.handed[field] = append(w.handed[field], handed[n])
			default:
				w.uses[field]++
			}
		}
		return true
	})
}

// field returns the field that an expression selects; nil when it selects none.
func (w *watch) field(s *ast.SelectorExpr) types.Object {
	if sel, ok := w.info.Selections[s]; ok && sel.Kind() == types.FieldVal {
		return sel.Obj()
	}
	return nil
}

// read reports whether any code reads a field, or one that it is copied to.
func (w *watch) read(field types.Object, seen map[types.Object]bool) bool {
	if seen[field] {
		return false
	}
	seen[field] = true
	return w.uses[field] > 0 || slices.ContainsFunc(w.handed[field], func(to types.Object) bool { return w.read(to, seen) })
}

// settings returns the field behind each key of the variable settingKeys.
func (w *watch) settings(pkg string) map[string]types.Object {
	found := map[string]types.Object{}
	for _, f := range w.tr[strings.TrimPrefix(pkg, module+"/")] {
		for _, d := range f.ast.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				v, ok := n.(*ast.ValueSpec)
				if !ok || v.Names[0].Name != "settingKeys" {
					return true
				}
				for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
					name, err := strconv.Unquote(e.(*ast.CompositeLit).Elts[0].(*ast.BasicLit).Value)
					if err == nil {
						found[name] = w.settable(e)
					}
				}
				return false
			})
		}
	}
	return found
}

// settable returns the innermost field that an entry of the table points at,
// itself or in the variable that it names.
func (w *watch) settable(entry ast.Node) (field types.Object) {
	ast.Inspect(entry, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if field == nil {
				field = w.field(n)
			}
			return false
		case *ast.Ident:
			if v, ok := w.info.Uses[n].(*types.Var); ok && field == nil && !v.IsField() {
				field = w.settable(w.value(v))
			}
		}
		return true
	})
	return field
}

// value returns what a variable of a package is declared with.
func (w *watch) value(v *types.Var) (value ast.Node) {
	value = &ast.BadExpr{}
	for _, f := range w.tr[strings.TrimPrefix(v.Pkg().Path(), module+"/")] {
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				if s := s.(*ast.ValueSpec); s.Names[0].Pos() == v.Pos() && len(s.Values) == 1 {
					value = s.Values[0]
				}
			}
		}
	}
	return value
}

func TestBrokenSettingIsFound(t *testing.T) {
	got := broken(parse(t, map[string]string{
		"internal/config/settings.go": `package config

type Settings struct {
	Wake, Focus string
	Chat        struct{ Keep, Above, Below, First int }
}

type key struct {
	name string
	set  func(*Settings) any
}

var wake = func(s *Settings) any { s.Wake = "auto"; return nil }

var settingKeys = []key{
	{"wake", wake},
	{"focus", func(s *Settings) any { return &s.Focus }},
	{"chat.keep", func(s *Settings) any { return &s.Chat.Keep }},
	{"chat.above", func(s *Settings) any { return &s.Chat.Above }},
	{"chat.below", func(s *Settings) any { return &s.Chat.Below }},
	{"chat.first", func(s *Settings) any { return &s.Chat.First }},
}
`,
		"shell/shell.go": `package shell

type Knobs struct{ Keep, Above, Below int }

func (k Knobs) Least() int { return k.Keep }
`,
		"cmd/trestle/wire.go": `package main

import (
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/shell"
)

func wire(s config.Settings) shell.Knobs {
	s.Chat.Below = 3
	if s.Wake == "" || s.Chat.First > 3 {
		return shell.Knobs{}
	}
	return shell.Knobs{Keep: s.Chat.Keep, Above: s.Chat.Above}
}
`,
	}))
	if diff := cmp.Diff([]string{"chat.above: nothing reads it", "chat.below: nothing reads it", "focus: nothing reads it"}, got); diff != "" {
		t.Errorf("broken (-want +got):\n%s", diff)
	}
}

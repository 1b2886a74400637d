package archtest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the generated parts of docs")

const (
	settingsBegin = "<!-- settings: written by `go test ./internal/archtest -update` -->\n"
	settingsEnd   = "<!-- end of settings -->\n"
)

// A page that differs from the program is worse than none: the table of settings
// is made from the program's own.
func TestSettingsPageIsTheProgramsOwn(t *testing.T) {
	var want strings.Builder
	for _, f := range load(t) {
		if f.pkg == "internal/config" && !f.test {
			want.WriteString(settingsTable(f))
		}
	}
	page := filepath.Join(root(t), "docs", "configuration.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), settingsBegin)
	got, after, ended := strings.Cut(rest, settingsEnd)
	if !ok || !ended {
		t.Fatalf("%s has lost the marks around its settings", page)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+settingsBegin+want.String()+settingsEnd+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("docs/configuration.md; write it with: go test ./internal/archtest -update (-program +page)\n%s", diff)
	}
}

// settingsTable returns the Markdown table of the list settingKeys, whose rows
// begin with name, default and meaning; nothing when the file does not declare it.
func settingsTable(f *source) string {
	var table strings.Builder
	for _, d := range f.ast.Decls {
		list := declared(d, "settingKeys")
		if list == nil {
			continue
		}
		table.WriteString("| key | default | meaning |\n| --- | --- | --- |\n")
		for _, e := range list.Elts {
			if words := firstStrings(e, 3); len(words) == 3 {
				fmt.Fprintf(&table, "| `%s` | `%s` | %s |\n", words[0], words[1], words[2])
			}
		}
	}
	return table.String()
}

// declared returns the composite literal that d gives the variable called name.
func declared(d ast.Decl, name string) *ast.CompositeLit {
	g, ok := d.(*ast.GenDecl)
	if !ok {
		return nil
	}
	for _, s := range g.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 || v.Names[0].Name != name {
			continue
		}
		if list, ok := v.Values[0].(*ast.CompositeLit); ok {
			return list
		}
	}
	return nil
}

// firstStrings returns the leading elements of a literal that are strings, at most n.
func firstStrings(e ast.Expr, n int) []string {
	row, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	var words []string
	for _, x := range row.Elts[:min(n, len(row.Elts))] {
		lit, ok := x.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			break
		}
		word, err := strconv.Unquote(lit.Value)
		if err != nil {
			break
		}
		words = append(words, word)
	}
	return words
}

func TestSettingsTableIsReadFromTheList(t *testing.T) {
	tr := parse(t, map[string]string{"internal/config/keys.go": "package config\n\n" +
		"var settingKeys = []settingKey{\n\t{\"max_steps\", \"12\", \"model calls\", whole(1)},\n\t{\"wake\", \"auto\", \"what wakes\", nil},\n}\n\nvar other = []int{1}\n"})
	want := []string{"| key | default | meaning |", "| --- | --- | --- |", "| `max_steps` | `12` | model calls |", "| `wake` | `auto` | what wakes |", ""}
	if got := strings.Split(settingsTable(tr[0]), "\n"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	problemCode  = regexp.MustCompile(`TRS-[A-Z][0-9]{2}`)
	problemPlace = regexp.MustCompile(`(?m)^#+ (TRS-[A-Z][0-9]{2})$`)
)

// ECOSYSTEM 3.1, 8: a code is also a place in the guide.
func TestEveryCodeHasItsPlaceInTheGuide(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "problems.md"))
	if err != nil {
		t.Fatal(err)
	}
	missing, stale := misplaced(load(t).program(), string(page))
	report(t, "docs/problems.md needs a heading `### CODE` with what it means and what to do for each code of the program:", missing)
	report(t, "docs/problems.md explains codes that the program does not know:", stale)
}

// misplaced returns the places of codes that page does not explain, and the codes it
// explains that no code uses.
func misplaced(tr tree, page string) (missing, stale []string) {
	var explained []string
	for _, m := range problemPlace.FindAllStringSubmatch(page, -1) {
		explained = append(explained, m[1])
	}
	used := map[string]bool{}
	for _, f := range tr {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil || problemCode.FindString(text) != text || text == "" {
				return true
			}
			used[text] = true
			if !slices.Contains(explained, text) {
				missing = append(missing, f.at(lit.Pos())+": "+text)
			}
			return true
		})
	}
	for _, code := range explained {
		if !used[code] {
			stale = append(stale, code)
		}
	}
	return missing, stale
}

func TestCodeWithoutAPlaceIsFound(t *testing.T) {
	tr := parse(t, map[string]string{"adapters/slack/doctor.go": "package slack\n\nconst a, b, c = \"TRS-S05\", \"TRS-S06\", \"see TRS-S07\"\n"})
	missing, stale := misplaced(tr, "### TRS-S05\n\ntext\n\n### TRS-S08\n")
	if !slices.Equal(missing, []string{"adapters/slack/doctor.go:3: TRS-S06"}) || !slices.Equal(stale, []string{"TRS-S08"}) {
		t.Errorf("missing %q, stale %q", missing, stale)
	}
}

// ECOSYSTEM 9: no guide names a code without an explanation.
func TestGuidesNameOnlyCodesThatAreExplained(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "problems.md"))
	if err != nil {
		t.Fatal(err)
	}
	var unknown []string
	walk(t, func(name string) bool { return strings.HasSuffix(name, ".md") }, func(name, text string) {
		for _, code := range problemCode.FindAllString(text, -1) {
			if !strings.Contains(string(page), "### "+code+"\n") {
				unknown = append(unknown, name+": "+code)
			}
		}
	})
	report(t, "These codes have no place in docs/problems.md:", unknown)
}

package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRootContextIsMadeInMainOnly(t *testing.T) {
	report(t, "context.Background and context.TODO stand in programs only; take ctx as an argument, or context.WithoutCancel(ctx):",
		rootContexts(load(t).program()))
}

func rootContexts(tr tree) []string {
	var found []string
	for _, f := range tr {
		if matchesAny(f.pkg, []string{"cmd/...", "internal/bench/..."}) {
			continue
		}
		calls(f, func(pkg, name string, n ast.Node) {
			if pkg == "context" && (name == "Background" || name == "TODO") {
				found = append(found, f.at(n.Pos()))
			}
		})
	}
	return found
}

// sqlHome is where SQL may stand: the stores, the schema, and the auditor, which
// must not see the database through the code it audits.
var sqlHome = []string{"internal/store/...", "internal/pubsub/pgnotify", "migrations/...", "internal/crashtest/..."}

var sql = regexp.MustCompile(`(?is)^\s*(select\s[^.]*\sfrom\s+[a-z_]+|insert\s+(or\s+\w+\s+)?into\s+\w+|update\s+[a-z_]+\s+set\s|` +
	`delete\s+from\s+[a-z_]+|create\s+(unique\s+)?(table|index|trigger|view)\s|alter\s+table\s|pragma\s+\w+)`)

func TestOnlyStoresHoldSQL(t *testing.T) {
	found := strayStatements(load(t).program())
	walk(t, func(name string) bool { return path.Ext(name) == ".sql" && !strings.Contains(name, "testdata/") },
		func(name, _ string) {
			if !matchesAny(path.Dir(name), sqlHome) {
				found = append(found, name)
			}
		})
	report(t, "SQL stands in "+list(sqlHome)+" only; declare a port and let the store answer:", found)
}

func strayStatements(tr tree) []string {
	var found []string
	for _, f := range tr {
		if matchesAny(f.pkg, sqlHome) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && sql.MatchString(text) {
					found = append(found, f.at(lit.Pos()))
				}
			}
			return true
		})
	}
	return found
}

// A test that is skipped silently checks nothing.
func TestNoTestIsSkipped(t *testing.T) {
	report(t, "A test runs or does not exist:", skips(load(t)))
}

func skips(tr tree) []string {
	var found []string
	for _, f := range tr {
		calls(f, func(pkg, name string, n ast.Node) {
			if slices.Contains([]string{"t", "b", "f", "tb"}, pkg) && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, name) {
				found = append(found, f.at(n.Pos()))
			}
		})
	}
	return found
}

var (
	// machinePath matches paths that exist on one developer's machine only.
	machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9_.$}])/(?:home/[a-z]|Users/[A-Za-z]|root/|work/|workspace/)`)
	// unowned is a mark of unfinished work without an issue.
	unowned = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)
	owned   = regexp.MustCompile(`\bTODO\(#\d+\)`)
)

func TestTextIsFreeOfMachinesAndLooseEnds(t *testing.T) {
	var found []string
	walk(t, ours, func(name, text string) { found = append(found, looseEnds(name, text)...) })
	report(t, "No path of somebody's machine, and no TODO without an issue, as in TODO(#12):", found)
}

// ours accepts the files that people write. Settings and secrets of a run that
// lies in the checkout are not part of it, and this file names what it forbids.
func ours(name string) bool {
	if name == "trestle.yaml" || name == "trestle.env" || name == "internal/archtest/words_test.go" {
		return false
	}
	return name == "Makefile" || name == ".ci/run" ||
		slices.Contains([]string{".go", ".md", ".yml", ".yaml", ".sql", ".txtar", ".mod", ".html"}, path.Ext(name))
}

func looseEnds(name, text string) []string {
	var found []string
	n := 0
	for line := range strings.Lines(text) {
		n++
		if machinePath.MatchString(line) || unowned.MatchString(owned.ReplaceAllString(line, "")) {
			found = append(found, name+":"+strconv.Itoa(n)+": "+strings.TrimSpace(line))
		}
	}
	return found
}

func TestForbiddenWordsAreFound(t *testing.T) {
	tr := parse(t, map[string]string{
		"shell/wake.go":                 "package shell\n\nvar ctx = context.Background()\n\nconst q = \"select id from event\"\n\nconst prompt = \"Select a space. Say where it came from last\"\n",
		"internal/store/sqlite/read.go": "package sqlite\n\nconst q = `\nselect id\nfrom event`\n",
		"cmd/trestle/main.go":           "package main\n\nvar ctx = context.Background()\n",
		"cmd/trestle/main_test.go":      "package main\n\nfunc TestX(t *testing.T) {\n\tt.Skip(\"later\")\n}\n",
	})
	check := func(name string, got, want []string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	check("root contexts", rootContexts(tr), []string{"shell/wake.go:3"})
	check("statements", strayStatements(tr), []string{"shell/wake.go:5"})
	check("skips", skips(tr), []string{"cmd/trestle/main_test.go:4"})
	check("loose ends", looseEnds("a.md", "see /home/kim/x\nand /var/lib/trestle\nTODO(#12): fine\nTODO: not\nhttp://x/work/y\n"),
		[]string{"a.md:1: see /home/kim/x", "a.md:4: TODO: not"})
}

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const table = `
# Requirements

| ID | Demand | P |
| --- | --- | --- |
| SEA-01 | first | M |
| SEA-02 | second | M |
| **SEA-03** | third | M |
| SEA-10 | tenth | S |
| BLA-T1 | tests one | M |
| BLA-T2 | tests two | M |
| PRE-5.2-A1 † | with a mark | S |
| PRE-5.2-A2 | another | S |
| Short | no id | |
| SEA-01 | again | |
`

// PRD-7.3-1: any table of ids is read, marks left out, each id once.
func TestTableIsReadByItsFirstColumn(t *testing.T) {
	var ids []string
	for _, r := range requirements(table) {
		ids = append(ids, r.id)
	}
	want := []string{"SEA-01", "SEA-02", "SEA-03", "SEA-10", "BLA-T1", "BLA-T2", "PRE-5.2-A1", "PRE-5.2-A2"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

// PRD-7.3-1: single ids, ranges and lists in tests count; words that only look
// like ids do not.
func TestCitationsAreFound(t *testing.T) {
	known := map[string]bool{}
	for _, r := range requirements(table) {
		known[r.id] = true
	}
	for text, want := range map[string][]string{
		"// SEA-02: says why":            {"SEA-02"},
		"// SEA-01 … SEA-22":             {"SEA-01", "SEA-02", "SEA-03", "SEA-10"},
		"// SEA-01…SEA-02, BLA-T1..T2":   {"BLA-T1", "BLA-T2", "SEA-01", "SEA-02"},
		"// SEA-02 to SEA-03":            {"SEA-02", "SEA-03"},
		"// PRE-5.2-A1 … -A2":            {"PRE-5.2-A1", "PRE-5.2-A2"},
		"// SEA-01, -03 and more":        {"SEA-01", "SEA-03"},
		"// SEA-011 and XSEA-01 and SEA": {},
		"// SEA-10 … SEA-01":             {"SEA-01", "SEA-10"},
		"// SEA-01 … BLA-T2":             {"SEA-01", "BLA-T2"},
		"// SEA-01 to the end":           {"SEA-01"},
		"UTF-8 and SHA-256":              {},
	} {
		got := slices.Sorted(maps.Keys(citedIn(text, known)))
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q cites %q, want %q", text, got, want)
		}
	}
}

// PRD-7.3-1: the report names what has a test and what has none; only tests count.
func TestReportSaysWhatHasATest(t *testing.T) {
	tree := t.TempDir()
	for name, text := range map[string]string{
		"requirements.md":                      table,
		"hud/fit_test.go":                      "package hud\n\n// SEA-01 … SEA-02\nfunc TestX(t *testing.T) {}\n",
		"hud/fit.go":                           "package hud\n\n// SEA-03 is built here, and tested nowhere.\n",
		"cmd/t/testdata/scenes/a.txtar":        "BLA-T1: a scene\n-- log --\n",
		"internal/store/storetest/suite.go":    "package storetest\n\n// SEA-01 again\n",
		".git/hooks/old_test.go":               "// BLA-T2\n",
		"internal/store/storetest/readme.html": "SEA-10",
	} {
		file := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs strings.Builder
	to := filepath.Join(tree, "parity.md")
	if code := run([]string{"-tree", tree, "-out", to, filepath.Join(tree, "requirements.md")}, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	want := `# Parity

3 of 8 requirements have a test that cites them (37 %).

| group | requirements | with a test | |
| --- | ---: | ---: | ---: |
| SEA | 4 | 2 | 50 % |
| BLA | 2 | 1 | 50 % |
| PRE | 2 | 0 | 0 % |

## Without a test

| id | demand |
| --- | --- |
| SEA-03 | third |
| SEA-10 | tenth |
| BLA-T2 | tests two |
| PRE-5.2-A1 | with a mark |
| PRE-5.2-A2 | another |

## With a test

| id | tests |
| --- | --- |
| SEA-01 | hud/fit_test.go, internal/store/storetest/suite.go |
| SEA-02 | hud/fit_test.go |
| BLA-T1 | cmd/t/testdata/scenes/a.txtar |
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if written, err := os.ReadFile(to); err != nil || string(written) != out.String() {
		t.Errorf("written: %v", err)
	}
}

func TestWrongUseIsSaid(t *testing.T) {
	var out, errs strings.Builder
	if code := run(nil, &out, &errs); code != 2 || !strings.Contains(errs.String(), "usage") {
		t.Errorf("without a file: exit %d: %s", code, errs.String())
	}
	empty := filepath.Join(t.TempDir(), "empty.md")
	if err := os.WriteFile(empty, []byte("nothing here"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := run([]string{empty}, &out, &errs); code != 1 || !strings.Contains(errs.String(), "no table") {
		t.Errorf("without a table: exit %d: %s", code, errs.String())
	}
}

func FuzzCitationsEndAndAreKnown(f *testing.F) {
	f.Add("// SEA-01 … SEA-22, -3, BLA-T1..T4, PRE-5.2-A1 … -A2")
	f.Add("A-0 to A-99999999999999999999")
	known := map[string]bool{"SEA-01": true, "A-0": true}
	f.Fuzz(func(t *testing.T, text string) {
		for id := range citedIn(text, known) {
			if !known[id] {
				t.Errorf("%q cites %q", text, id)
			}
		}
	})
}

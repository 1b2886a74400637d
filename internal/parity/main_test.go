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
| SEQ-01 | first | M |
| SEQ-02 | second | M |
| **SEQ-03** | third | M |
| SEQ-10 | tenth | S |
| BLU-T1 | tests one | M |
| BLU-T2 | tests two | M |
| PRD-5.2-A1 † | with a mark | S |
| PRD-5.2-A2 | another | S |
| Short | no id | |
| SEQ-01 | again | |
`

// PRD-7.3-1: any table of ids is read, marks left out, each id once.
func TestTableIsReadByItsFirstColumn(t *testing.T) {
	var ids []string
	for _, r := range requirements(table) {
		ids = append(ids, r.id)
	}
	want := []string{"SEQ-01", "SEQ-02", "SEQ-03", "SEQ-10", "BLU-T1", "BLU-T2", "PRD-5.2-A1", "PRD-5.2-A2"}
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
		"// SEQ-02: says why":            {"SEQ-02"},
		"// SEQ-01 … SEQ-22":             {"SEQ-01", "SEQ-02", "SEQ-03", "SEQ-10"},
		"// SEQ-01…SEQ-02, BLU-T1..T2":   {"BLU-T1", "BLU-T2", "SEQ-01", "SEQ-02"},
		"// SEQ-02 to SEQ-03":            {"SEQ-02", "SEQ-03"},
		"// PRD-5.2-A1 … -A2":            {"PRD-5.2-A1", "PRD-5.2-A2"},
		"// SEQ-01, -03 and more":        {"SEQ-01", "SEQ-03"},
		"// SEQ-011 and XSEQ-01 and SEQ": {},
		"// SEQ-10 … SEQ-01":             {"SEQ-01", "SEQ-10"},
		"// SEQ-01 … BLU-T2":             {"SEQ-01", "BLU-T2"},
		"// SEQ-01 to the end":           {"SEQ-01"},
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
		"hud/fit_test.go":                      "package hud\n\n// SEQ-01 … SEQ-02\nfunc TestX(t *testing.T) {}\n",
		"hud/fit.go":                           "package hud\n\n// SEQ-03 is built here, and tested nowhere.\n",
		"cmd/t/testdata/scenes/a.txtar":        "BLU-T1: a scene\n-- log --\n",
		"internal/store/storetest/suite.go":    "package storetest\n\n// SEQ-01 again\n",
		".git/hooks/old_test.go":               "// BLU-T2\n",
		"internal/store/storetest/readme.html": "SEQ-10",
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
| SEQ | 4 | 2 | 50 % |
| BLU | 2 | 1 | 50 % |
| PRD | 2 | 0 | 0 % |

## Without a test

| id | demand |
| --- | --- |
| SEQ-03 | third |
| SEQ-10 | tenth |
| BLU-T2 | tests two |
| PRD-5.2-A1 | with a mark |
| PRD-5.2-A2 | another |

## With a test

| id | tests |
| --- | --- |
| SEQ-01 | hud/fit_test.go, internal/store/storetest/suite.go |
| SEQ-02 | hud/fit_test.go |
| BLU-T1 | cmd/t/testdata/scenes/a.txtar |
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
	f.Add("// SEQ-01 … SEQ-22, -3, BLU-T1..T4, PRD-5.2-A1 … -A2")
	f.Add("A-0 to A-99999999999999999999")
	known := map[string]bool{"SEQ-01": true, "A-0": true}
	f.Fuzz(func(t *testing.T, text string) {
		for id := range citedIn(text, known) {
			if !known[id] {
				t.Errorf("%q cites %q", text, id)
			}
		}
	})
}

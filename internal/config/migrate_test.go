package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

const oldFile = `# kept as it is
model: gpt-5-mini
max_space_actions: 1 # a comment
agents:
  ada: {name: Ada, max_space_actions: 2}
  max:
    max_space_actions: 3
    max_space_acts: 4
`

// ECOSYSTEM 1, rule 1: a known-old key counts under its new name, an old one
// never wins over a new one, and the mend is printed and not written.
func TestKnownOldKeysCountAndAreMended(t *testing.T) {
	c, err := loadText(t, oldFile, "TRESTLE_MAX_STEPS=3")
	if err != nil || len(c.Problems) > 0 || len(c.Warnings) != 3 {
		t.Fatalf("error %v, problems %v, warnings %v", err, c.Problems, c.Warnings)
	}
	for agent, want := range map[string]int{"": 1, "ada": 2, "max": 4} {
		if got := c.SettingsFor(agent, "").MaxSpaceActs; got != want {
			t.Errorf("max_space_acts of %q is %d, want %d", agent, got, want)
		}
	}
	m := c.Migration()
	want := `--- trestle.yaml
+++ trestle.yaml
@@ -1,8 +1,7 @@
 # kept as it is
 model: gpt-5-mini
-max_space_actions: 1 # a comment
+max_space_acts: 1 # a comment
 agents:
-  ada: {name: Ada, max_space_actions: 2}
+  ada: {name: Ada, max_space_acts: 2}
   max:
-    max_space_actions: 3
     max_space_acts: 4
`
	if diff := cmp.Diff(want, m.Patch); diff != "" || len(m.ByHand) > 0 {
		t.Errorf("by hand %q, patch (-want +got):\n%s", m.ByHand, diff)
	}
}

// The patch is one that the usual tools apply, and what comes out needs none.
func TestMigrationAppliesAndIsTheLast(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is needed for this test: ", err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, File)
	testutil.OK(t, os.WriteFile(file, []byte(strings.Repeat("# far apart\n", 20)+oldFile), 0o600))
	none := func(string) (string, bool) { return "", false }
	c, err := Load(Source{Folder: dir, Lookup: none})
	testutil.OK(t, err)
	apply := exec.CommandContext(t.Context(), git, "apply", "-p0", "-")
	apply.Dir, apply.Stdin = dir, strings.NewReader(c.Migration().Patch)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	after, err := Load(Source{Folder: dir, Lookup: none})
	if err != nil || len(after.Warnings) > 0 || after.Migration().Patch != "" {
		t.Errorf("error %v, warnings %v, patch %q", err, after.Warnings, after.Migration().Patch)
	}
}

// The rows of the table say what the upgrade notes need, and lead somewhere.
func TestFormersLeadToKeysThatAreRead(t *testing.T) {
	for _, row := range formers {
		if row.since == "" || row.until == "" || row.old == row.new || (row.new == "" && row.fix == "") {
			t.Errorf("%+v does not say enough", row)
		}
		if strings.Count(row.old, "*") < strings.Count(row.new, "*") {
			t.Errorf("%+v has stars that stand for nothing", row)
		}
		if _, old := findSetting(lastKey(row.old)); old {
			t.Errorf("%s is read under its old name", row.old)
		}
	}
}

// A key that moved elsewhere, or is gone, is for a person to mend.
func TestKeysThatMovedAreForAPerson(t *testing.T) {
	rows := []renamedKey{
		{old: "limits.steps", new: "max_steps", since: "0.2", until: "0.4"},
		{old: "spaces.*.colour", since: "0.2", until: "0.4", fix: "spaces have no colours any more; remove it"},
	}
	text := "limits: {steps: 5}\nspaces:\n  den: {colour: red}\n"
	root, faults := parseTree("f.yaml", text, expander{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	c := &Config{Path: "f.yaml", renamings: modernise(root, rows), doc: &document{root, text}}
	if got := root.get("max_steps"); got == nil || got.text != "5" || root.get("spaces").get("den").get("colour") != nil {
		t.Errorf("max_steps is %v; the tree still has old keys", got)
	}
	m := c.Migration()
	want := []string{
		"f.yaml:1:10: limits.steps is now max_steps; write it so; the old key is understood up to version 0.4; see `trestle config migrate`",
		"f.yaml:3:9: spaces.den.colour is not read any more; spaces have no colours any more; remove it",
	}
	if diff := cmp.Diff(want, m.ByHand); diff != "" || m.Patch != "" {
		t.Errorf("patch %q, by hand (-want +got):\n%s", m.Patch, diff)
	}
}

package sqlite

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write fresh.schema anew")

// made is what stands in the schema of a database that these files made: each
// thing's text, and how many rows a table has.
func made(t *testing.T, files fstest.MapFS) (texts []string, rows map[string]int) {
	t.Helper()
	dir := t.TempDir()
	db := raw(t, dir)
	if err := migrate(t.Context(), db, filepath.Join(dir, FileName), files, options(t, dir).withDefaults()); err != nil {
		t.Fatal(err)
	}
	found, err := db.QueryContext(t.Context(), "select type, name, sql from sqlite_master where sql is not null and name not in ('goose_db_version', 'sqlite_sequence') order by rowid")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	rows = map[string]int{}
	for found.Next() {
		var kind, name, text string
		if err := found.Scan(&kind, &name, &text); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
		if kind == "table" {
			rows[name] = 0
		}
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	rows["goose_db_version"] = 0
	for name := range rows {
		n := 0
		if err := db.QueryRowContext(t.Context(), "select count(*) from "+name).Scan(&n); err != nil {
			t.Fatal(err)
		}
		rows[name] = n
	}
	return texts, rows
}

// DELIVERY 2.7: a fresh record is what an old one becomes: the same tables, the
// same rows, the same steps behind it.
func TestFreshSchemaIsWhatMigrationsMake(t *testing.T) {
	whole := stepped(t, nil)
	walked := maps.Clone(whole)
	delete(walked, "sqlite/"+freshFile)
	texts, rows := made(t, walked)
	if *update {
		last := slices.Sorted(maps.Keys(walked))[len(walked)-1]
		text := fmt.Sprintf(freshHead+" the tables of an empty record, as its migrations make them. Written by\n-- go test ./internal/store/sqlite -run TestFreshSchema -update\n\n", schemaOf(t, last)) +
			strings.Join(texts, ";\n\n") + ";\n"
		if err := os.WriteFile("../../../migrations/sqlite/"+freshFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		whole["sqlite/"+freshFile] = &fstest.MapFile{Data: []byte(text)}
	}
	freshTexts, freshRows := made(t, whole)
	if diff := cmp.Diff(texts, freshTexts); diff != "" {
		t.Errorf("tables (-walked +fresh), mend it with -update:\n%s", diff)
	}
	if diff := cmp.Diff(rows, freshRows); diff != "" {
		t.Errorf("rows (-walked +fresh):\n%s", diff)
	}
	if n := len(walked); freshRows["goose_db_version"] != n+1 || freshRows["spaces"] != 0 {
		t.Errorf("%d steps are noted, want %d and that of none; there are %d spaces", freshRows["goose_db_version"], n, freshRows["spaces"])
	}
}

func schemaOf(t *testing.T, file string) (n int) {
	t.Helper()
	if _, err := fmt.Sscanf(filepath.Base(file), "%04d_", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// K25: a step that fresh.schema does not know yet is taken after it.
func TestFreshSchemaIsWalkedOn(t *testing.T) {
	_, rows := made(t, stepped(t, map[string]string{"9000_colours.sql": colours}))
	_, before := made(t, stepped(t, nil))
	if rows["goose_db_version"] != before["goose_db_version"]+1 {
		t.Errorf("%d steps are noted, want one more than %d", rows["goose_db_version"], before["goose_db_version"])
	}
}

// The file that stands in the program is for the newest schema: an empty record
// walks no step.
func TestFreshSchemaIsTheNewest(t *testing.T) {
	text, err := os.ReadFile("../../../migrations/sqlite/" + freshFile)
	if err != nil {
		t.Fatal(err)
	}
	files := slices.Sorted(maps.Keys(stepped(t, nil)))
	newest := schemaOf(t, files[len(files)-2]) // the last is fresh.schema
	if head := fmt.Sprintf(freshHead, newest); !strings.HasPrefix(string(text), head) {
		t.Errorf("%s begins %.20q, want %q; write it anew with -update", freshFile, text, head)
	}
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/migrations"
)

// F33, K25: the refusal names the version that can read the record.
func TestNewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	dir := t.TempDir()
	o := options(t, dir)
	o.Program = "0.9.1"
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	db := raw(t, dir)
	if _, err := db.ExecContext(t.Context(), "insert into goose_db_version (version_id, is_applied) values (9999, true)"); err != nil {
		t.Fatal(err)
	}
	o.Program = "0.4.0"
	for name, open := range map[string]func() error{
		"for writing": func() error { _, err := Open(t.Context(), o); return err },
		"for reading": func() error { _, err := Look(t.Context(), dir); return err },
	} {
		err := open()
		if !errors.Is(err, engine.ErrNewer) || !strings.Contains(err.Error(), "9999") || !strings.Contains(err.Error(), "trestle 0.9.1") {
			t.Errorf("%s: got %v, want ErrNewer with the schema and the version that wrote it", name, err)
		}
	}
	if by := programOf(t.Context(), db); by != "0.9.1" {
		t.Errorf("the refused program signed the record: %s", by)
	}
}

// stepped returns the real migrations and later ones, by their file names.
func stepped(t *testing.T, later map[string]string) fs.FS {
	t.Helper()
	more := map[string]string{}
	for name, text := range later {
		more[name] = "-- +goose Up\n" + text
	}
	return testutil.WithFiles(t, migrations.SQLite, more)
}

const (
	colours = "alter table spaces add column colour text;\n"
	broken  = "create table halfway (x text check (x = '')) strict;\ninsert into halfway (x) select id from spaces;\n" // where there is a room
)

// aside returns the only copy that a migration left.
func aside(t *testing.T, dir string) string {
	t.Helper()
	copies, err := filepath.Glob(filepath.Join(dir, FileName+".schema*"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies are %v, %v", copies, err)
	}
	return copies[0]
}

// K25, BLU-05: an older record is copied aside, then migrated in place; a step that
// fails leaves nothing, the steps before it stay.
func TestOlderSchemaIsCopiedAsideAndMigrated(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	room := openRoom(t, s)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	db := raw(t, dir)
	file := filepath.Join(dir, FileName)
	if err := migrate(t.Context(), db, file, stepped(t, map[string]string{"9000_colours.sql": colours, "9001_broken.sql": broken}), options(t, dir).withDefaults()); err == nil {
		t.Fatal("a broken migration passed")
	}
	var colour sql.NullString
	if err := db.QueryRowContext(t.Context(), "select colour from spaces where id = $1", string(room)).Scan(&colour); err != nil {
		t.Errorf("the step before the broken one did not stay: %v", err)
	}
	if err := db.QueryRowContext(t.Context(), "select * from halfway").Scan(&colour); err == nil || errors.Is(err, sql.ErrNoRows) {
		t.Error("half of a migration stayed")
	}
	var found int
	copied := raw(t, copyAs(t, aside(t, dir)))
	if err := copied.QueryRowContext(t.Context(), "select count(*) from spaces where id = $1", string(room)).Scan(&found); err != nil || found != 1 {
		t.Errorf("the copy has %d of the room (%v)", found, err)
	}
	if err := copied.QueryRowContext(t.Context(), "select colour from spaces").Scan(&colour); err == nil {
		t.Error("the copy was made after the first step")
	}
}

// K25: killed within a step, the record is fully as before; killed between two
// steps, it comes after the first, and the next start takes the rest.
func TestKilledMigrationReopensAtAWholeStep(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	room := openRoom(t, s)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	within := killedWithin(t, dir)
	var n int
	db := raw(t, within)
	if err := db.QueryRowContext(t.Context(), "select count(*) from spaces where id = $1", string(room)).Scan(&n); err != nil || n != 1 {
		t.Errorf("killed within a step: %d of the room (%v)", n, err)
	}
	if err := db.QueryRowContext(t.Context(), "select count(colour) from spaces").Scan(&n); err == nil {
		t.Error("killed within a step: half of it stayed")
	}

	o := options(t, within)
	file := filepath.Join(within, FileName)
	one := stepped(t, map[string]string{"9000_colours.sql": colours})
	if err := migrate(t.Context(), db, file, one, o.withDefaults()); err != nil {
		t.Fatal(err)
	}
	killed := copyAs(t, file) // as it lies between the steps
	if wal, err := os.ReadFile(file + "-wal"); err == nil {
		overwrite(t, filepath.Join(killed, FileName)+"-wal", 0, string(wal))
	}
	two := stepped(t, map[string]string{"9000_colours.sql": colours, "9001_sizes.sql": "alter table spaces add column size integer;\n"})
	after := raw(t, killed)
	o = options(t, killed)
	if err := migrate(t.Context(), after, filepath.Join(killed, FileName), two, o.withDefaults()); err != nil {
		t.Fatalf("killed between two steps: %v", err)
	}
	if err := after.QueryRowContext(t.Context(), "select count(*) + count(colour) + count(size) from spaces where id = $1", string(room)).Scan(&n); err != nil || n != 1 {
		t.Errorf("killed between two steps: %d (%v)", n, err)
	}
}

// killedWithin returns a copy of the record's files as they lie on the disk in
// the middle of a step.
func killedWithin(t *testing.T, dir string) string {
	t.Helper()
	c, err := raw(t, dir).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for _, half := range []string{"begin immediate", "alter table spaces add column colour text", "create table halfway (x text) strict"} {
		if _, err := c.ExecContext(t.Context(), half); err != nil {
			t.Fatal(err)
		}
	}
	killed := copyAs(t, filepath.Join(dir, FileName))
	if wal, err := os.ReadFile(filepath.Join(dir, FileName+"-wal")); err == nil {
		overwrite(t, filepath.Join(killed, FileName+"-wal"), 0, string(wal))
	}
	if _, err := c.ExecContext(context.WithoutCancel(t.Context()), "rollback"); err != nil {
		t.Fatal(err)
	}
	return killed
}

// DELIVERY 2.7 "Disk full": a disk that becomes full within a step is told as that, leaves
// what was done before, and the next start goes on.
func TestDiskThatBecomesFullWithinAStepIsToldAsThat(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	openRoom(t, s)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	o, file := options(t, dir).withDefaults(), filepath.Join(dir, FileName)
	steps := map[string]string{
		"9000_colours.sql": colours,
		"9001_sizes.sql":   "pragma max_page_count = 2000;\ncreate table sizes (x blob) strict;\ninsert into sizes (x) select zeroblob(10000000) from spaces;\n",
	}
	if err := migrate(t.Context(), raw(t, dir), file, stepped(t, steps), o); !errors.Is(err, engine.ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
	steps["9001_sizes.sql"] = "create table sizes (x blob) strict;\n"
	db := raw(t, dir)
	if err := migrate(t.Context(), db, file, stepped(t, steps), o); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	var n int
	if err := db.QueryRowContext(t.Context(), "select count(colour) + (select count(*) from sizes) from spaces").Scan(&n); err != nil || n != 0 {
		t.Errorf("after it: %d, %v", n, err)
	}
}

// ECOSYSTEM 7: without room for the copy nothing is migrated, and the message
// says how much is needed.
func TestMigrationNeedsRoomForItsCopy(t *testing.T) {
	dir := t.TempDir()
	if err := openIn(t, dir).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := options(t, dir).withDefaults()
	o.Free = func(string) (uint64, error) { return 100 << 10, nil }
	db := raw(t, dir)
	err := migrate(t.Context(), db, filepath.Join(dir, FileName), stepped(t, map[string]string{"9000_colours.sql": colours}), o)
	if !errors.Is(err, engine.ErrFull) || !strings.Contains(err.Error(), "MB") {
		t.Errorf("got %v, want ErrFull with figures", err)
	}
	var n int
	if err := db.QueryRowContext(t.Context(), "select count(colour) from spaces").Scan(&n); err == nil {
		t.Error("the schema was migrated without a copy")
	}
}

// K25: a database that an earlier version wrote opens after a later migration, is copied
// first, and runs.
func TestDatabaseOfAnEarlierVersionIsCopiedAndRuns(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, FileName)
	s := openIn(t, dir)
	room := openRoom(t, s)
	testutil.OK(t, s.Close(t.Context()))
	testutil.Replace(t, &migrations.SQLite, stepped(t, map[string]string{"9000_colours.sql": colours}))
	s = openIn(t, dir)
	if _, err := s.Border().Record(t.Context(), message(room, 1)); err != nil {
		t.Fatal(err)
	}
	if got := aside(t, dir); got != file+".schema1" {
		t.Errorf("the copy is %s", got)
	}
	var kept string
	copied := raw(t, copyAs(t, aside(t, dir)))
	if err := copied.QueryRowContext(t.Context(), "select id from spaces where kind = 'room'").Scan(&kept); err != nil || kept != string(room) {
		t.Errorf("the copy has the room %q, %v", kept, err)
	}
	if err := copied.QueryRowContext(t.Context(), "select colour from spaces").Scan(&kept); err == nil {
		t.Error("the copy was made after the migration")
	}
}

// DELIVERY 2.7: a new database runs all migrations, without a copy.
func TestNewDatabaseRunsAllMigrations(t *testing.T) {
	dir := t.TempDir()
	testutil.Replace(t, &migrations.SQLite, stepped(t, map[string]string{"9000_colours.sql": colours}))
	s := openIn(t, dir)
	openRoom(t, s)
	var n int
	db := raw(t, dir)
	if err := db.QueryRowContext(t.Context(), "select count(*) - count(colour) from spaces").Scan(&n); err != nil || n == 0 {
		t.Errorf("%d spaces without a colour (%v)", n, err)
	}
	if copies, err := filepath.Glob(filepath.Join(dir, FileName+".schema*")); err != nil || len(copies) > 0 {
		t.Errorf("copies are %v, %v", copies, err)
	}
}

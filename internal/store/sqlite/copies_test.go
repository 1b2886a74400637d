package sqlite

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// aRecord returns the folder of a record with a room in it, and the record's file.
func aRecord(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	s := openIn(t, dir)
	openRoom(t, s)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, FileName)
}

// K25, ECOSYSTEM 7: the copy has its name once it is whole. What a process that was
// killed left of one is under another name, and gone with the next start.
func TestHalfACopyIsNoCopy(t *testing.T) {
	dir, file := aRecord(t)
	half := file + ".schema7.partial"
	overwrite(t, half, 0, "half of a copy")
	if err := openIn(t, dir).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("half a copy is still there: %v", err)
	}
	// The rename cannot be done, as if the process had been killed before it.
	db, o, copied := raw(t, dir), options(t, dir).withDefaults(), asideName(file, Schema())
	if err := os.MkdirAll(filepath.Join(copied, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	more := stepped(t, map[string]string{"9000_colours.sql": colours})
	if err := migrate(t.Context(), db, file, more, o); err == nil {
		t.Fatal("the record was migrated without a copy")
	}
	if _, err := db.ExecContext(t.Context(), "select colour from spaces"); err == nil {
		t.Error("a step was taken without a copy")
	}
	whole := raw(t, copyAs(t, copied+".partial"))
	var n int
	if err := whole.QueryRowContext(t.Context(), "select count(*) from spaces").Scan(&n); err != nil || n == 0 {
		t.Errorf("what was to be the copy has %d rooms (%v)", n, err)
	}
	if err := os.RemoveAll(copied); err != nil {
		t.Fatal(err)
	}
	if err := migrate(t.Context(), db, file, more, o); err != nil {
		t.Fatal(err)
	}
	if got := aside(t, dir); got != copied {
		t.Errorf("the copy is %s", got)
	}
}

// K25: a migration that goes on where another one was cut off sets no half migrated
// record aside: the copy of before the first step leads back. The next migration has
// a copy of its own again.
func TestUnfinishedMigrationKeepsItsCopy(t *testing.T) {
	dir, file := aRecord(t)
	db, o := raw(t, dir), options(t, dir).withDefaults()
	steps := map[string]string{"9000_colours.sql": colours, "9001_broken.sql": broken}
	for range 2 {
		if err := migrate(t.Context(), db, file, stepped(t, steps), o); err == nil {
			t.Fatal("a broken migration passed")
		}
	}
	first := aside(t, dir) // the only one
	copied := raw(t, copyAs(t, first))
	if _, err := copied.ExecContext(t.Context(), "select colour from spaces"); err == nil || first != asideName(file, Schema()) {
		t.Errorf("%s is a copy of a half migrated record", first)
	}
	steps["9001_broken.sql"] = "alter table spaces add column size integer;\n"
	if err := migrate(t.Context(), db, file, stepped(t, steps), o); err != nil {
		t.Fatal(err)
	}
	aside(t, dir)
	later := maps.Clone(steps)
	later["9002_shape.sql"] = "alter table spaces add column shape text;\n"
	if err := migrate(t.Context(), db, file, stepped(t, later), o); err != nil {
		t.Fatal(err)
	}
	if copies, err := filepath.Glob(file + ".schema*"); err != nil || len(copies) != 2 {
		t.Errorf("copies are %v (%v), want one of each migration", copies, err)
	}
}

// A copy that was deleted is made again, from the present database.
func TestCopyThatIsGoneIsMadeAgain(t *testing.T) {
	dir, file := aRecord(t)
	db, o := raw(t, dir), options(t, dir).withDefaults()
	steps := stepped(t, map[string]string{"9000_colours.sql": colours, "9001_broken.sql": broken})
	for range 2 {
		if err := migrate(t.Context(), db, file, steps, o); err == nil {
			t.Fatal("a broken migration passed")
		}
		if err := os.Remove(aside(t, dir)); err != nil {
			t.Fatal(err)
		}
	}
}

// ECOSYSTEM 7: room for the copy and for the steps is asked for, to the byte; what goes
// on with a copy that is there needs none for another.
func TestMigrationAsksForTheRoomItTakes(t *testing.T) {
	dir, file := aRecord(t)
	db, o := raw(t, dir), options(t, dir).withDefaults()
	steps := map[string]string{"9000_colours.sql": colours, "9001_broken.sql": broken}
	short := func(halves int64, by uint64) bool {
		t.Helper()
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		o.Free = func(string) (uint64, error) { return uint64(info.Size()*halves/2) - by, nil }
		err = migrate(t.Context(), db, file, stepped(t, steps), o)
		if err == nil {
			t.Fatal("a broken migration passed")
		}
		return errors.Is(err, engine.ErrFull)
	}
	if !short(5, 1) || short(5, 0) {
		t.Error("two and a half times its size is not what the first attempt asks for")
	}
	if !short(3, 1) || short(3, 0) {
		t.Error("one and a half times its size is not what the second attempt asks for")
	}
}

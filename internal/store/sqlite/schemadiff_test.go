package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/migrations"
)

// A step whose number is lower than what the record has, because it was made beside
// it, is taken at the next start, with a copy before it.
func TestStepThatWasMadeBesideIsTaken(t *testing.T) {
	dir, file := aRecord(t)
	db, o := raw(t, dir), options(t, dir).withDefaults()
	steps := map[string]string{"9000_colours.sql": colours, "9002_sizes.sql": "alter table spaces add column size integer;\n"}
	if err := migrate(t.Context(), db, file, stepped(t, steps), o); err != nil {
		t.Fatal(err)
	}
	steps["9001_shapes.sql"] = "alter table spaces add column shape text;\n"
	for range 2 {
		if err := migrate(t.Context(), db, file, stepped(t, steps), o); err != nil {
			t.Fatal(err)
		}
	}
	ran(t, db, "select colour, shape, size from spaces")
	ran(t, raw(t, copyAs(t, asideName(file, 9002))), "select colour, size from spaces")
}

// Such a record is not read before the step is taken: its schema is the newest, and
// it has not all of it.
func TestRecordThatLacksAStepIsNotRead(t *testing.T) {
	dir, _ := aRecord(t)
	db := raw(t, dir)
	ran(t, db, "drop table digests", "delete from goose_db_version where version_id = 27")
	if _, err := Look(t.Context(), dir); !errors.Is(err, engine.ErrOlder) || !strings.Contains(err.Error(), "27") {
		t.Errorf("reading it: %v, want ErrOlder with the step", err)
	}
	if err := openIn(t, dir).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	ran(t, db, "select * from digests")
	there, err := Look(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := there.Close(); err != nil {
		t.Error(err)
	}
}

// A record whose steps were others than those of today is refused before anything is
// written, with what it lacks; what it has besides does no harm.
func TestRecordThatLacksSomethingIsRefusedAndLeftAlone(t *testing.T) {
	for name, test := range map[string]struct {
		made string
		want string
	}{
		"a table":           {"drop table senders", "table senders"},
		"a column":          {"alter table outbox drop column portrait", "column outbox.portrait"},
		"an index":          {"drop index refusals_last", "index refusals_last"},
		"a step of another": {"delete from goose_db_version where version_id = 26", "duplicate column"},
		"a table, an older": {"drop table senders; drop table digests; delete from goose_db_version where version_id = 27", "table senders"},
		"nothing":           {"create index more on spaces (name); create table mine (x text); alter table spaces add column mine text", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, file := aRecord(t)
			db := raw(t, dir)
			ran(t, db, test.made, "pragma wal_checkpoint(truncate)")
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), options(t, dir))
			if test.want == "" {
				if err != nil || s.Close(t.Context()) != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if !errors.Is(err, engine.ErrLacks) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want ErrLacks and %q", err, test.want)
			}
			after, err := os.ReadFile(file)
			if err != nil || string(after) != string(before) {
				t.Errorf("the file was changed (%v)", err)
			}
			if copies, err := filepath.Glob(file + ".schema*"); err != nil || len(copies) > 0 {
				t.Errorf("copies are %v (%v)", copies, err)
			}
		})
	}
}

func BenchmarkWhole(b *testing.B) {
	dir := b.TempDir()
	s, err := Open(b.Context(), options(b, dir))
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	e := &sqliteEngine{opts: options(b, dir).withDefaults(), file: filepath.Join(dir, FileName)}
	if err := e.openFile(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	for b.Loop() {
		if err := whole(b.Context(), e.db, migrations.SQLite, nil); err != nil {
			b.Fatal(err)
		}
	}
}

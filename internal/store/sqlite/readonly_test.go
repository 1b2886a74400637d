package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// ECOSYSTEM 3.1: read commands work beside a running process and without one.
func TestLookReadsBesideTheWriterAndWithoutIt(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	_, err := s.Border().Open(t.Context(), spaces.OpenRequest{Key: "den", Name: "Den", Circle: "home", Agents: []spaces.AgentID{"ada"}, At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), FileName)
	if err := s.Console().Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	check := func(when, dir string) {
		t.Helper()
		c, err := Look(t.Context(), dir)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}()
		rooms, err := c.Rooms(t.Context())
		if err != nil || len(rooms) != 1 || rooms[0].Space.Name != "Den" || len(rooms[0].Agents) != 1 {
			t.Errorf("%s: rooms are %+v, %v", when, rooms, err)
		}
		r, err := openReaders(t.Context(), filepath.Join(dir, FileName), "rw", looking)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		defer func() {
			if err := r.close(); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}()
		err = r.View(t.Context(), func(ctx context.Context, src engine.QueryReader) error {
			_, err := src.(*connection).Exec(ctx, "delete from spaces")
			return err
		})
		if err == nil {
			t.Errorf("%s: a look could write", when)
		}
	}
	check("beside the writer", dir)
	check("in the backup", filepath.Dir(copied))
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("without a writer", dir)
}

func TestLookRefusesAnotherSchema(t *testing.T) {
	for _, test := range []struct {
		version int64
		want    error
	}{{999, engine.ErrNewer}, {0, engine.ErrOlder}} {
		dir := t.TempDir()
		openIn(t, dir)
		db, err := sql.Open("sqlite3", source(filepath.Join(dir, FileName), "rw", shared))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		_, err = db.ExecContext(t.Context(), "update goose_db_version set version_id = $1 where version_id > 0", test.version)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Look(t.Context(), dir); !errors.Is(err, test.want) {
			t.Errorf("schema %d: got %v, want %v", test.version, err, test.want)
		}
	}
}

func TestRunOfNobodyIsUnknown(t *testing.T) {
	s := openIn(t, t.TempDir())
	if _, err := s.Console().Run(t.Context(), "nothing"); !errors.Is(err, console.ErrUnknown) {
		t.Errorf("got %v, want %v", err, console.ErrUnknown)
	}
}

// Issue 3: an examination does not call a check fine that had no time to end.
func TestCheckThatDidNotEndIsNoCheck(t *testing.T) {
	dir := t.TempDir()
	openIn(t, dir)
	for limit, want := range map[time.Duration]string{time.Nanosecond: "not finished", 0: "ok"} {
		r, err := DataDirCheck{Dir: dir, CheckFor: limit}.Run(t.Context())
		if err != nil || r.Damage != "" || !strings.HasSuffix(r.Engine, "quick_check "+want) {
			t.Errorf("a limit of %s gives %q, %q, %v; want %s", limit, r.Engine, r.Damage, err, want)
		}
	}
}

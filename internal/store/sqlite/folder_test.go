package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/trestle-bridge/trestle/migrations"
)

// I14, DELIVERY 2.7: no write waits for the pages of those before it to reach the
// file, and the log is folded in although nobody ever rests.
func TestLogIsFoldedInBesideTheWrites(t *testing.T) {
	o := options(t, t.TempDir())
	e := &engine{opts: o.withDefaults(), file: filepath.Join(o.Dir, FileName)}
	if err := e.openFile(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := migrate(t.Context(), e.db, e.file, migrations.SQLite, e.opts); err != nil {
		t.Fatal(err)
	}
	opened, err := e.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*session)
	if err := s.Run(t.Context(), `create table filler (n integer not null primary key, body blob not null)`); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(e.file)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	for range foldEvery {
		if _, err := s.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context(), `insert into filler (body) values (zeroblob(10000))`); err != nil {
			t.Fatal(err)
		}
		if err := s.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.folder.stop(); err != nil { // which ends what it was rung for
		t.Fatal(err)
	}
	if grown := size() - before; grown < foldEvery*10000 {
		t.Errorf("the file has grown by %d bytes, and %d were written", grown, foldEvery*10000)
	}
	if err := s.connection.Close(); err != nil {
		t.Error(err)
	}
}

package sqlite

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/trestle-bridge/trestle/migrations"
)

// aSession returns a session of a new record with a table to fill. The caller stops its
// folder.
func aSession(t *testing.T) *session {
	t.Helper()
	o := options(t, t.TempDir())
	e := &sqliteEngine{opts: o.withDefaults(), file: filepath.Join(o.Dir, FileName)}
	if err := e.openFile(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := migrate(t.Context(), e.db, e.file, migrations.SQLite, e.opts); err != nil {
		t.Fatal(err)
	}
	opened, err := e.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*session)
	t.Cleanup(func() {
		if err := s.connection.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Run(t.Context(), `create table filler (n integer not null primary key, body blob not null)`); err != nil {
		t.Fatal(err)
	}
	return s
}

// fill commits one row.
func (s *session) fill(t *testing.T) {
	t.Helper()
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

// I14, DELIVERY 2.7: no write waits for the pages of those before it to reach the file,
// and the WAL is checkpointed although writes never pause.
func TestLogIsFoldedInBesideTheWrites(t *testing.T) {
	s := aSession(t)
	size := func() int64 {
		info, err := os.Stat(s.Filename("main").Database())
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	for range foldEvery {
		s.fill(t)
	}
	if err := s.folder.stop(); err != nil { // which ends what it was rung for
		t.Fatal(err)
	}
	if grown := size() - before; grown < foldEvery*10000 {
		t.Errorf("the file has grown by %d bytes, and %d were written", grown, foldEvery*10000)
	}
}

// I14, DELIVERY 2.7: what was committed while the log was folded in is folded in by the
// session, and the log begins anew; where nothing was, it does so by itself.
func TestLogBeginsAnewOnceAllOfItIsFoldedIn(t *testing.T) {
	s := aSession(t)
	begun := func() uint32 { // how often a log was begun in the file, sqlite.org/fileformat2.html
		log, err := os.ReadFile(s.Filename("main").WAL())
		if err != nil {
			t.Fatal(err)
		}
		return binary.BigEndian.Uint32(log[12:])
	}
	for range foldEvery {
		s.fill(t)
	}
	if err := s.folder.stop(); err != nil {
		t.Fatal(err)
	}
	s.folder.rest.Store(false) // it had all there was, if it was slow
	before := begun()
	s.fill(t)
	if got := begun() - before; got != 1 {
		t.Errorf("after a log that was folded in beside the writes, %d have begun, want 1", got)
	}
	s.fill(t)
	if got := begun() - before; got != 1 {
		t.Errorf("while the log is not folded in, %d have begun, want still 1", got)
	}
	s.folder.rest.Store(true) // as if the last two had come meanwhile
	s.fill(t)
	if got := begun() - before; got != 2 {
		t.Errorf("after the session folded in the rest, %d have begun, want 2", got)
	}
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var start = time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)

var minted atomic.Int64

// newID mints ids that rise over all tests: a record may be opened again.
func newID() string { return fmt.Sprintf("id-%06d", minted.Add(1)) }

func options(tb testing.TB, dir string) Options {
	tb.Helper()
	return Options{
		Dir: dir, NewID: newID, Now: func() time.Time { return start },
		Logger: slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
}

// openIn opens the record in dir and closes it with the test.
func openIn(tb testing.TB, dir string) *sqlstore.Store {
	tb.Helper()
	s, err := Open(tb.Context(), options(tb, dir))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(tb.Context())); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// raw opens the file beside the store.
func raw(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", source(filepath.Join(dir, FileName), "rwc", shared))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// DELIVERY 2.7: a setting that did not take is found, whatever the engine said.
func TestSettingsAreReadBack(t *testing.T) {
	dir := t.TempDir()
	openIn(t, dir)
	reading, err := openReaders(t.Context(), filepath.Join(dir, FileName), "ro", reading)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := reading.close(); err != nil {
			t.Error(err)
		}
	}()
	one, err := reading.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer reading.give(one)
	other, err := raw(t, dir).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for name, c := range map[string]struct {
		ask  scalarQuerier
		want map[string]string
	}{
		"reader": {one.ask, map[string]string{"journal_mode": "wal", "query_only": "1", "foreign_keys": "1", "busy_timeout": "5000"}},
		"writer": {asking(other), map[string]string{"journal_mode": "wal"}},
	} {
		for setting, want := range c.want {
			if got, err := c.ask(t.Context(), "pragma "+setting); err != nil || got != want {
				t.Errorf("%s of a %s is %q (%v), want %q", setting, name, got, err, want)
			}
		}
	}
	db, err := openWriter(t.Context(), filepath.Join(t.TempDir(), FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := verify(t.Context(), asking(c), writing); err != nil {
		t.Errorf("the writer's settings: %v", err)
	}
	if got, err := asking(c)(t.Context(), "pragma temp_store"); err != nil || got != "0" {
		t.Errorf("what a migration sorts is kept in memory: temp_store %q (%v)", got, err)
	}
	for _, lax := range []string{"synchronous = normal", "foreign_keys = off"} {
		db := raw(t, t.TempDir())
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ExecContext(t.Context(), "pragma journal_mode = wal; pragma journal_size_limit = 67108864; pragma "+lax); err != nil {
			t.Fatal(err)
		}
		if err := verify(t.Context(), asking(c), writing); err == nil {
			t.Errorf("%s was not found", lax)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// F34
func TestSecondProcessIsRefusedAtOnceAndToldWho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		first := openIn(t, dir)
		began := time.Now()
		_, err := Open(t.Context(), options(t, dir))
		held, ok := errors.AsType[*LockedError](err)
		if !ok || held.PID != os.Getpid() {
			t.Fatalf("got %v, want who holds the directory", err)
		}
		if waited := time.Since(began); waited > 0 {
			t.Errorf("refused after it had waited for %v", waited)
		}
		if err := first.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		openIn(t, dir)
	})
}

// copyAs puts a file where a record is looked for and returns the directory.
func copyAs(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// F32: never an empty start over something that was there.
func TestDamagedRecordIsRefused(t *testing.T) {
	damaged := map[string]func(t *testing.T, file string){
		"no database at all": func(t *testing.T, file string) {
			t.Helper()
			overwrite(t, file, 0, strings.Repeat("not a database ", 1000))
		},
		"a broken page": func(t *testing.T, file string) {
			t.Helper()
			overwrite(t, file, 4096*3, strings.Repeat("x", 4096*4))
		},
		"a log without its database": func(t *testing.T, file string) {
			t.Helper()
			overwrite(t, file+"-wal", 0, "frames")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, spoil := range damaged {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openIn(t, dir)
			openRoom(t, s)
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			spoil(t, filepath.Join(dir, FileName))
			again, err := Open(t.Context(), options(t, dir))
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("got %v, want ErrDamaged", err)
			}
			if err == nil {
				_ = again.Close(t.Context())
			}
		})
	}
}

func overwrite(t *testing.T, file string, at int64, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(text), at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNetworkDisksAreKnown(t *testing.T) {
	for name, magic := range map[string]uint32{"nfs": 0x6969, "smb": 0xfe534d42, "cifs": 0xff534d42} {
		if !networkMagic(magic) {
			t.Errorf("%s is taken for a local disk", name)
		}
	}
	for name, magic := range map[string]uint32{"ext4": 0xef53, "tmpfs": 0x01021994, "xfs": 0x58465342, "overlay": 0x794c7630} {
		if networkMagic(magic) {
			t.Errorf("%s is taken for a network disk", name)
		}
	}
}

// DELIVERY 2.7: the restore drill.
func TestBackupIsAWholeRecord(t *testing.T) {
	s := openIn(t, t.TempDir())
	room := openRoom(t, s)
	if _, err := s.Border().Record(t.Context(), message(room, 1)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := s.Console().Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Border().Record(t.Context(), message(room, 2)); err != nil {
		t.Fatal(err)
	}
	if err := s.Console().Backup(t.Context(), file); err == nil {
		t.Error("a backup overwrote another")
	}
	restored := openIn(t, copyAs(t, file))
	got, err := restored.Border().Record(t.Context(), message(room, 1))
	if err != nil || got.Duplicates != 1 {
		t.Errorf("recorded %+v (%v) after the restore, want a duplicate", got, err)
	}
	found, err := restored.Audit(t.Context(), start)
	if err != nil || len(found) != 0 {
		t.Errorf("audit of the restored record: %v %v", found, err)
	}
}

// The database, the files beside it and its copies are for their owner alone, whatever the
// umask and the mode of the folder, also those that were made readable for others, which is
// said once.
func TestTheDatabaseIsPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "of [several]")
	testutil.OK(t, os.Mkdir(dir, 0o755))
	file := filepath.Join(dir, FileName)
	var log strings.Builder
	for round := range 3 {
		s, err := Open(t.Context(), Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		testutil.OK(t, err)
		if round == 0 {
			testutil.OK(t, s.Console().Backup(t.Context(), asideName(file, 1)))
		}
		testutil.OK(t, s.Close(t.Context()))
		entries, err := os.ReadDir(dir)
		testutil.OK(t, err)
		for _, e := range entries {
			info, err := e.Info()
			testutil.OK(t, err)
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("round %d: %s has mode %v", round, e.Name(), info.Mode())
			}
			if round == 0 && strings.HasPrefix(e.Name(), FileName) {
				testutil.OK(t, os.Chmod(filepath.Join(dir, e.Name()), 0o644))
			}
		}
		want := 0
		if round > 0 {
			want = 1
		}
		if said := strings.Count(log.String(), "other users could read"); said != want {
			t.Errorf("round %d: said %d times, want %d:\n%s", round, said, want, log.String())
		}
	}
	if !strings.Contains(log.String(), FileName+".schema1") {
		t.Errorf("the log does not name the copy:\n%s", log.String())
	}
}

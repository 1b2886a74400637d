package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// What the writer remembers of a room is forgotten when its write is undone.
func TestUndoneWriteLeavesNoTraceInMemory(t *testing.T) {
	s := openIn(t, t.TempDir())
	room := openRoom(t, s)
	undone := errors.New("undone")
	err := s.write(t.Context(), func(ctx context.Context, tx *tx) error {
		i := intake{tx: tx, batch: message(room, 1)}
		if err := i.record(ctx); err != nil {
			return err
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	if got, err := s.Border().Record(t.Context(), message(room, 1)); err != nil || got.New != 1 {
		t.Fatalf("recorded %+v, %v", got, err)
	}
	found, err := s.Audit(t.Context(), start)
	if err != nil || len(found) != 0 {
		t.Errorf("audit: %v %v", found, err)
	}
}

// DELIVERY 2.2.1: a write that returned is there after a power cut; one under way
// is there whole or not at all. A copy of the files stands for the cut.
func TestFilesAtAnyMomentHoldEveryWriteThatReturned(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	room := openRoom(t, s)
	for n := range 20 {
		if _, err := s.Border().Record(t.Context(), message(room, n)); err != nil {
			t.Fatal(err)
		}
	}
	hold, begun, release := held()
	var under sync.WaitGroup
	under.Go(func() {
		_ = s.write(t.Context(), func(ctx context.Context, tx *tx) error {
			i := intake{tx: tx, batch: message(room, 99)}
			return errors.Join(i.record(ctx), hold(ctx, tx))
		})
	})
	<-begun
	cut := t.TempDir()
	for _, name := range []string{FileName, FileName + "-wal"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(cut, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	release()
	under.Wait()
	after := openIn(t, cut)
	events, err := after.Shell().Events(t.Context(), room, spaces.Primary, 0, 1000)
	if err != nil || len(events) != 22 {
		t.Errorf("%d events (%v), want linked, joined and twenty messages", len(events), err)
	}
	found, err := after.Audit(t.Context(), start)
	if err != nil || len(found) != 0 {
		t.Errorf("audit: %v %v", found, err)
	}
}

// F30: the disk is full for a while.
func TestFullDiskRefusesWritesAndRecovers(t *testing.T) {
	o := options(t, t.TempDir())
	o.Ballast = 1 << 20
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	ballast := filepath.Join(o.Dir, "trestle.ballast")
	if info, err := os.Stat(ballast); err != nil || info.Size() != o.Ballast {
		t.Fatalf("ballast: %v %v", info, err)
	}
	room := openRoom(t, s)
	pages := func(n string) {
		t.Helper()
		err := s.write(t.Context(), func(ctx context.Context, tx *tx) error {
			_, err := tx.conn.ExecContext(ctx, "pragma max_page_count = "+n)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	pages("1") // the engine takes the present size as the least
	var full error
	for n := range 200 {
		if _, full = s.Border().Record(t.Context(), message(room, n)); full != nil {
			break
		}
	}
	if !errors.Is(full, ErrFull) {
		t.Fatalf("got %v, want ErrFull", full)
	}
	if _, err := os.Stat(ballast); err == nil {
		t.Error("the ballast was kept on a full disk")
	}
	pages("1000000")
	if got, err := s.Border().Record(t.Context(), message(room, 500)); err != nil || got.New != 1 {
		t.Errorf("recorded %+v (%v) after space came back", got, err)
	}
	found, err := s.Audit(t.Context(), start)
	if err != nil || len(found) != 0 {
		t.Errorf("audit: %v %v", found, err)
	}
}

// The log of commits is folded into the file when nobody writes.
func TestQuietStoreFoldsItsLogIn(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	if err := s.write(t.Context(), keep("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, FileName+"-wal")); err == nil && info.Size() > 0 {
		t.Errorf("the log has %d bytes after the close", info.Size())
	}
}

// I8: the guard counts what it turns away.
func TestRefusedWritesAreCounted(t *testing.T) {
	s := openIn(t, t.TempDir())
	w := benchOf(t, s)
	if _, err := s.Border().Record(t.Context(), message(w.room, 1)); err != nil {
		t.Fatal(err)
	}
	wake, err := w.claim(t)
	if err != nil {
		t.Fatal(err)
	}
	late := spaces.StepCommit{Lease: wake.Lease, Step: spaces.Step{Cycle: wake.Cycle.ID}, At: start}
	late.Lease.Epoch--
	for range 2 {
		if _, err := s.Shell().Commit(t.Context(), late); !errors.Is(err, spaces.ErrLeaseLost) {
			t.Fatalf("got %v, want ErrLeaseLost", err)
		}
	}
	var refused int
	if _, err := one(t.Context(), s.readers, `select sum(refused) from leases`, nil, &refused); err != nil || refused != 2 {
		t.Errorf("%d refusals are counted (%v), want 2", refused, err)
	}
}

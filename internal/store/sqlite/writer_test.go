package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

const (
	put   query = `insert into meta (name, value) values ($1, $2)`
	count query = `select count(*) from meta`
)

// keep is a write that leaves one row.
func keep(name string) write {
	return func(ctx context.Context, t *tx) error { return t.run(ctx, put, name, "x") }
}

func rowsOf(t *testing.T, s *Store) int {
	t.Helper()
	var n int
	if _, err := one(t.Context(), s.readers, count, nil, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// held returns a write that keeps the writer busy until release is called.
func held() (hold write, begun <-chan struct{}, release func()) {
	in, out := make(chan struct{}), make(chan struct{})
	return func(context.Context, *tx) error {
		close(in)
		<-out
		return nil
	}, in, func() { close(out) }
}

// grouped runs the writes so that all of them wait while the writer is busy, and
// returns their outcomes.
func grouped(t *testing.T, s *Store, writes []write) []error {
	t.Helper()
	hold, begun, release := held()
	outcomes := make([]error, len(writes))
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.write(t.Context(), hold); err != nil {
			t.Error(err)
		}
	})
	<-begun
	for i, w := range writes {
		all.Go(func() { outcomes[i] = s.write(t.Context(), w) })
	}
	release()
	all.Wait()
	return outcomes
}

// DELIVERY 2.7: what waits together is committed together.
func TestWritersShareCommits(t *testing.T) {
	s := openIn(t, t.TempDir())
	var writes []write
	for n := range 200 {
		writes = append(writes, keep(fmt.Sprint(n)))
	}
	before := s.writer.commits.Load()
	for i, err := range grouped(t, s, writes) {
		if err != nil {
			t.Errorf("write %d: %v", i, err)
		}
	}
	if n := s.writer.commits.Load() - before; n > 100 {
		t.Errorf("200 writes took %d commits, want them to share", n)
	}
	if got := rowsOf(t, s); got != 200 {
		t.Errorf("%d rows, want 200", got)
	}
}

func TestFailedWriteTakesNoNeighbourWithIt(t *testing.T) {
	s := openIn(t, t.TempDir())
	broken := errors.New("changed my mind")
	var writes []write
	for n := range 30 {
		writes = append(writes, func(ctx context.Context, tx *tx) error {
			if err := keep(fmt.Sprint(n))(ctx, tx); err != nil || n%3 != 0 {
				return err
			}
			return broken
		})
	}
	for n, err := range grouped(t, s, writes) {
		if want := n%3 == 0; errors.Is(err, broken) != want {
			t.Errorf("write %d gave %v", n, err)
		}
	}
	if got := rowsOf(t, s); got != 20 {
		t.Errorf("%d rows, want the 20 that did not fail", got)
	}
}

// A panic in a write is its caller's; the writer lives on.
func TestPanicInAWriteReachesItsCallerAlone(t *testing.T) {
	s := openIn(t, t.TempDir())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = s.write(t.Context(), func(ctx context.Context, tx *tx) error {
			if err := keep("lost")(ctx, tx); err != nil {
				return err
			}
			panic("own bug")
		})
	}()
	if err := s.write(t.Context(), keep("kept")); err != nil {
		t.Fatal(err)
	}
	if got := rowsOf(t, s); got != 1 {
		t.Errorf("%d rows, want the one after the panic", got)
	}
}

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

func TestClosedStoreTakesNothing(t *testing.T) {
	s := openIn(t, t.TempDir())
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.write(t.Context(), keep("late")); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestWaitingWriteEndsWithItsContext(t *testing.T) {
	s := openIn(t, t.TempDir())
	hold, begun, release := held()
	var busy sync.WaitGroup
	busy.Go(func() {
		if err := s.write(t.Context(), hold); err != nil {
			t.Error(err)
		}
	})
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	var late error
	busy.Go(func() { late = s.write(ctx, keep("late")) })
	cancel()
	release()
	busy.Wait()
	if rows := rowsOf(t, s); (late == nil) != (rows == 1) {
		t.Errorf("the write gave %v and left %d rows", late, rows)
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

// DELIVERY 3.1, exec_then_error: the caller of a commit whose answer is lost
// learns of an error, and its neighbours of nothing.
func TestWriteWhoseAnswerIsLostIsStillThere(t *testing.T) {
	s := openIn(t, t.TempDir())
	lost := errors.New("answer lost")
	outcomes := grouped(t, s, []write{
		keep("a"),
		func(ctx context.Context, tx *tx) error {
			tx.kept = true
			return errors.Join(keep("b")(ctx, tx), lost)
		},
		keep("c"),
	})
	for n, err := range outcomes {
		if want := n == 1; errors.Is(err, lost) != want {
			t.Errorf("write %d gave %v", n, err)
		}
	}
	if got := rowsOf(t, s); got != 3 {
		t.Errorf("%d rows, want all three", got)
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

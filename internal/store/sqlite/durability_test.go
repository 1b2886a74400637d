package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/migrations"
	"github.com/trestle-bridge/trestle/spaces"
)

// DELIVERY 2.2.1: a write that returned is there after a power cut; one under way
// is there whole or not at all. A copy of the files represents the cut.
func TestFilesAtAnyMomentHoldEveryWriteThatReturned(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	room := openRoom(t, s)
	for n := range 20 {
		if _, err := s.Border().Record(t.Context(), message(room, n)); err != nil {
			t.Fatal(err)
		}
	}
	begun, released := make(chan struct{}), make(chan struct{})
	late := message(room, 99)
	late.Claims = func([]spaces.PendingWork) []spaces.WakeClaim { // called within the transaction, with the message written
		close(begun)
		<-released
		return nil
	}
	var under sync.WaitGroup
	under.Go(func() {
		if _, err := s.Border().Record(t.Context(), late); err != nil {
			t.Error(err)
		}
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
	close(released)
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

// A bounded engine has a disk of as many pages as a test says.
type bounded struct {
	sqliteEngine
	pages chan string
}

// A boundedSession hears of another bound at the beginning of a transaction, on
// the goroutine that the connection belongs to.
type boundedSession struct {
	*session
	pages chan string
}

func (e *bounded) Session(ctx context.Context) (engine.WriteSession, error) {
	s, err := e.sqliteEngine.Session(ctx)
	if err != nil {
		return nil, err
	}
	return boundedSession{s.(*session), e.pages}, nil
}

func (s boundedSession) Begin(ctx context.Context) (engine.WriteTurn, error) {
	select {
	case n := <-s.pages:
		if _, err := s.ask(ctx, "pragma max_page_count = "+n); err != nil {
			return engine.WriteTurn{}, err
		}
	default:
	}
	return s.session.Begin(ctx)
}

func (e *bounded) open(ctx context.Context) (*sqlstore.Store, error) {
	if err := e.openFile(ctx); err != nil {
		return nil, err
	}
	if err := migrate(ctx, e.db, e.file, migrations.SQLite, e.opts); err != nil {
		return nil, err
	}
	if err := e.prepare(ctx); err != nil {
		return nil, err
	}
	return sqlstore.Open(ctx, e, e.opts.ofRecord())
}

// F30: the disk is full for a while.
func TestFullDiskRefusesWritesAndRecovers(t *testing.T) {
	o := options(t, t.TempDir())
	o.Ballast = 1 << 20
	e := &bounded{sqliteEngine: sqliteEngine{opts: o.withDefaults(), file: filepath.Join(o.Dir, FileName)}, pages: make(chan string, 1)}
	s, err := e.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	ballast := filepath.Join(o.Dir, ballastName)
	if info, err := os.Stat(ballast); err != nil || info.Size() != o.Ballast {
		t.Fatalf("ballast: %v %v", info, err)
	}
	room := openRoom(t, s)
	if !s.FullAt().IsZero() {
		t.Error("full before it was")
	}
	e.pages <- "1" // the engine takes the present size as the least
	var full error
	for n := range 200 {
		if _, full = s.Border().Record(t.Context(), message(room, n)); full != nil {
			break
		}
	}
	if !errors.Is(full, engine.ErrFull) {
		t.Fatalf("got %v, want ErrFull", full)
	}
	if s.FullAt().IsZero() {
		t.Error("the store does not know that it is full")
	}
	if _, err := os.Stat(ballast); err == nil {
		t.Error("the ballast was kept on a full disk")
	}
	e.pages <- "1000000"
	if got, err := s.Border().Record(t.Context(), message(room, 500)); err != nil || got.New != 1 {
		t.Errorf("recorded %+v (%v) after space came back", got, err)
	}
	found, err := s.Audit(t.Context(), start)
	if err != nil || len(found) != 0 {
		t.Errorf("audit: %v %v", found, err)
	}
}

// The WAL is checkpointed into the file while there are no writes.
func TestQuietStoreFoldsItsLogIn(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	openRoom(t, s)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, FileName+"-wal")); err == nil && info.Size() > 0 {
		t.Errorf("the log has %d bytes after the close", info.Size())
	}
}

// I8: the guard counts what it turns away.
func TestRefusedWritesAreCounted(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
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
	err = raw(t, dir).QueryRowContext(t.Context(), `select sum(refused) from leases`).Scan(&refused)
	if err != nil || refused != 2 {
		t.Errorf("%d refusals are counted (%v), want 2", refused, err)
	}
}

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// lived returns a folder with a record in which something has happened.
func lived(t *testing.T, messages int) (dir string, room spaces.SpaceID) {
	t.Helper()
	dir = t.TempDir()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir, NewID: newID})
	testutil.OK(t, err)
	room = openRoom(t, s)
	for n := range messages {
		in := message(room, "zoe", n)
		in.Items[0].From.Name = "Zoe\x00\xff" // a name that the server has no place for
		if _, err := s.Border().Record(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	rest(t, s, claim(t, s, "1", room))
	testutil.OK(t, s.Close(t.Context()))
	return dir, room
}

func tables(t *testing.T, dir string) *sqlite.TableReader {
	t.Helper()
	src, err := sqlite.OpenTables(t.Context(), sqlite.Options{Dir: dir})
	testutil.OK(t, err)
	t.Cleanup(func() { _ = src.Close() })
	return src
}

// A source that fails after some pages, as a power cut would.
type failing struct {
	*sqlite.TableReader
	pages int
}

var errCut = errors.New("the power went")

func (f *failing) Page(ctx context.Context, t engine.CopyTable, after []any, limit int) ([][]any, error) {
	if f.pages--; f.pages < 0 {
		return nil, errCut
	}
	return f.TableReader.Page(ctx, t, after, min(limit, 7))
}

// A move that is interrupted anywhere goes on where it stood, and what arrives is
// a record that works on.
func TestInterruptedMoveGoesOnAndArrivesWhole(t *testing.T) {
	dir, room := lived(t, 30)
	database := server.Database(t)
	src := &failing{TableReader: tables(t, dir)}
	var done postgres.CopyProgress
	var copied int64
	for try := 0; ; try++ {
		var most int64
		src.pages = 12
		if try == 20 {
			src.pages = 1 << 20 // comparing begins anew each time
		}
		var err error
		done, err = postgres.Move(t.Context(), server.URL(database), src, func(m postgres.CopyProgress) {
			if m.Doing == "copy" {
				most = m.Done
			}
		})
		if most < copied {
			t.Fatalf("try %d has copied %d rows, the one before it %d", try, most, copied)
		}
		copied = most
		if err == nil {
			break
		}
		if !errors.Is(err, errCut) {
			t.Fatal(err)
		}
		if _, err := postgres.Open(t.Context(), options(t, database)); !errors.Is(err, postgres.ErrUnfinished) || !strings.Contains(err.Error(), fmt.Sprintf("; %d rows", copied)) {
			t.Fatalf("half a record was opened: %v", err)
		}
	}
	if copied != done.Total || len(done.Hash) != 64 {
		t.Errorf("moved %+v, copied %d", done, copied)
	}
	s := open(t, options(t, database))
	sound(t, s)
	events, err := s.Shell().Events(t.Context(), room, spaces.Primary, 0, 1000)
	if err != nil || len(events) != 32 {
		t.Errorf("%d events arrived (%v), want 32", len(events), err)
	}
	if got, err := s.Border().Record(t.Context(), message(room, "zoe", 1)); err != nil || got.Duplicates != 1 {
		t.Errorf("recorded %+v (%v), want what the file knew", got, err)
	}
	if got, err := s.Border().Record(t.Context(), message(room, "tom", 1)); err != nil || got.New != 1 {
		t.Errorf("recorded %+v (%v) after the move", got, err)
	}
}

func TestMoveGoesOnlyIntoAnEmptyDatabase(t *testing.T) {
	dir, _ := lived(t, 1)
	database := server.Database(t)
	openRoom(t, open(t, options(t, database)))
	if _, err := postgres.Move(t.Context(), server.URL(database), tables(t, dir), func(postgres.CopyProgress) {}); !errors.Is(err, postgres.ErrNotEmpty) {
		t.Errorf("got %v, want ErrNotEmpty", err)
	}
}

// A nameless record cannot say when it began.
type nameless struct{ *sqlite.TableReader }

func (nameless) Identity(context.Context) (string, error) { return "", errCut }

// What a database that holds no record yet has noted of itself gives way to what the
// record says.
func TestMoveLeavesNothingOfWhatTheDatabaseSaidOfItself(t *testing.T) {
	dir, _ := lived(t, 1)
	database, src := server.Database(t), tables(t, dir)
	if _, err := postgres.Move(t.Context(), server.URL(database), nameless{src}, func(postgres.CopyProgress) {}); !errors.Is(err, errCut) {
		t.Fatalf("got %v, want what the source failed with", err)
	}
	server.Do(t, database, `insert into meta (name, value) values ('kept', 'yes') on conflict (name) do nothing`)
	if _, err := postgres.Move(t.Context(), server.URL(database), src, func(postgres.CopyProgress) {}); err != nil {
		t.Error(err)
	}
}

// A renamed record says of itself that it began at another time.
type renamed struct{ *failing }

func (renamed) Identity(context.Context) (string, error) { return "2001-01-01 00:00:00", nil }

// A database that holds half of one record takes nothing of another one, and goes on
// with its own.
func TestHalfOfARecordIsNotMixedWithAnother(t *testing.T) {
	dir, _ := lived(t, 3)
	database := server.Database(t)
	src := &failing{TableReader: tables(t, dir), pages: 12}
	address, silent := server.URL(database), func(postgres.CopyProgress) {}
	if _, err := postgres.Move(t.Context(), address, src, silent); !errors.Is(err, errCut) {
		t.Fatalf("the first move ended with %v", err)
	}
	src.pages = 1 << 20
	if _, err := postgres.Move(t.Context(), address, renamed{src}, silent); !errors.Is(err, postgres.ErrNotEmpty) || !strings.Contains(err.Error(), "half of another one") {
		t.Errorf("another record: %v, want it refused", err)
	}
	if done, err := postgres.Move(t.Context(), address, src, silent); err != nil || done.Done != done.Total {
		t.Errorf("its own: %+v, %v", done, err)
	}
}

// What arrived is compared row by row: a change on the way is found.
func TestMoveFindsWhatIsDifferent(t *testing.T) {
	dir, _ := lived(t, 3)
	database := server.Database(t)
	changed := false
	_, err := postgres.Move(t.Context(), server.URL(database), tables(t, dir), func(m postgres.CopyProgress) {
		if m.Doing == "copy" && m.Table == "usage" && !changed {
			changed = true
			server.Do(t, database, `update entities set name = 'Tom' where id in (select id from entities where kind = 'human' limit 1)`)
		}
	})
	if !errors.Is(err, postgres.ErrDiffers) || !strings.Contains(err.Error(), "entities") {
		t.Errorf("got %v, want that entities differ", err)
	}
}

package postgres_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// keeps records a message in spite of a connection that broke.
func keeps(t *testing.T, s *sqlstore.Store, room spaces.SpaceID, n int) {
	t.Helper()
	for range 100 {
		if _, err := s.Border().Record(t.Context(), message(room, "zoe", n)); err == nil {
			return
		} else if errors.Is(err, postgres.ErrRewound) || errors.Is(err, postgres.ErrBuried) {
			t.Fatal(err)
		}
	}
	t.Fatal("nothing can be recorded")
}

// F37: a server that took over without its last commits is detected by a process that
// had them confirmed, though others have written since, and by a process that starts
// where that was recorded; a process that lost no commit goes on.
func TestLostCommitsAreFound(t *testing.T) {
	private, database := ownServer(t)
	o := options(t, "")
	o.URL, o.Witness = private.URL(database), filepath.Join(t.TempDir(), "witness")
	lost := make(chan error, 1)
	o.Lost = func(err error) { lost <- err }
	o.Rewound = func(known, had int64) { t.Errorf("a new record has had %d turns of %d", had, known) }
	s, err := postgres.Open(t.Context(), o)
	testutil.OK(t, err)
	room := openRoom(t, s)
	quiet := options(t, "")
	quiet.URL = o.URL
	other := open(t, quiet)
	keeps(t, other, room, 100)
	keeps(t, s, room, 1)

	private.Crash(t)
	private.Remember(t)
	private.Return(t)
	keeps(t, s, room, 2)
	keeps(t, s, room, 3)
	private.Crash(t)
	private.Rewind(t)
	private.Return(t)

	for n := range 5 { // more than was lost
		keeps(t, other, room, 200+n)
	}
	for err = nil; !errors.Is(err, postgres.ErrRewound); {
		if _, err = s.Border().Record(t.Context(), message(room, "zoe", 4)); err == nil {
			t.Fatal("a process goes on whose commits were lost")
		}
	}
	if err := <-lost; !errors.Is(err, postgres.ErrRewound) {
		t.Errorf("the process was told %v, want ErrRewound", err)
	}
	if err := s.Close(t.Context()); err != nil && !errors.Is(err, postgres.ErrBuried) {
		t.Log(err) // it could not put things in order
	}
	sound(t, other)
	told := 0
	o.Rewound = func(known, had int64) {
		if told++; known <= had {
			t.Errorf("told of %d turns where %d were known", had, known)
		}
	}
	for n := range 2 {
		next, err := postgres.Open(t.Context(), o)
		testutil.OK(t, err)
		keeps(t, next, room, 5+n)
		if err := next.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if told != 1 {
		t.Errorf("told %d times at the next two starts, want at the first", told)
	}
}

// F37: all processes were gone when the server lost its last commits.
func TestLostCommitsAreFoundAtTheStart(t *testing.T) {
	private, database := ownServer(t)
	o := options(t, "")
	o.URL, o.Witness = private.URL(database), filepath.Join(t.TempDir(), "witness")
	told := 0
	o.Rewound = func(known, had int64) {
		told++
		if known <= had {
			t.Errorf("told of %d turns where %d were known", had, known)
		}
	}
	run := func(n int) {
		s, err := postgres.Open(t.Context(), o)
		testutil.OK(t, err)
		keeps(t, s, openRoom(t, s), n)
		testutil.OK(t, s.Close(context.WithoutCancel(t.Context())))
	}
	run(1)
	private.Crash(t)
	private.Remember(t)
	private.Return(t)
	run(2)
	private.Crash(t)
	private.Return(t)
	run(3)
	if told != 0 {
		t.Error("told of lost turns where none were lost")
	}
	private.Crash(t)
	private.Rewind(t)
	private.Return(t)
	run(4)
	if told != 1 {
		t.Errorf("told %d times of lost turns, want once", told)
	}
	run(5)
	if told != 1 {
		t.Errorf("told %d times of lost turns, want once", told)
	}
}

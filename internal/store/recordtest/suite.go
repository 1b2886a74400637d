package recordtest

import (
	"context"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/store/storetest"
)

// Suite opens a record as the suite sees it. open is called once more for each time
// the suite restarts it, or has it looked after; the last record is closed when the
// test ends.
func Suite(t *testing.T, open func(ctx context.Context, lives bool) (*sqlstore.Store, error)) storetest.Store {
	t.Helper()
	s := Open(t, func(ctx context.Context) (*sqlstore.Store, error) { return open(ctx, true) })
	end := func(t *testing.T, clean bool) {
		t.Helper()
		stop := s.Crash
		if clean {
			stop = s.Close
		}
		if err := stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return storetest.Store{
		Border: s.Border(), Shell: s.Shell(), Problems: s.Problems(), Jobs: s.Jobs(), Fork: s.Fork, Lines: s.Console().Lines, LineOf: s.Console().LineOf, Memories: s.Console(), Latest: s.Console(), Run: s.Console().Run, Minds: s.Console().Minds, Manifests: s.Console().Manifests,
		Audit: func(ctx context.Context, at time.Time) ([]string, error) {
			found, err := s.Audit(ctx, at)
			var lines []string
			for _, f := range found {
				lines = append(lines, f.String())
			}
			return lines, err
		},
		Close: func(t *testing.T) {
			t.Helper()
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		},
		Restart: func(t *testing.T, clean bool) storetest.Store {
			t.Helper()
			end(t, clean)
			return Suite(t, open)
		},
		Upkeep: func(t *testing.T, clean bool, do func(storetest.Border)) storetest.Store {
			t.Helper()
			end(t, clean)
			command := Open(t, func(ctx context.Context) (*sqlstore.Store, error) { return open(ctx, false) })
			do(command.Border())
			if err := command.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			return Suite(t, open)
		},
	}
}

// Open opens a record that is closed when the test ends.
func Open(t *testing.T, open func(ctx context.Context) (*sqlstore.Store, error)) *sqlstore.Store {
	t.Helper()
	s, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return s
}

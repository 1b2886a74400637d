package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// OpenStore opens a store for the suite. open is called again for each restart and for
// each store that runs no agents; the last store is closed when the test ends.
func OpenStore(t *testing.T, open func(ctx context.Context, lives bool) (*sqlstore.Store, error)) Store {
	t.Helper()
	s := OpenForTest(t, func(ctx context.Context) (*sqlstore.Store, error) { return open(ctx, true) })
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
	return Store{
		Border: s.Border(), Links: s.Links(), Shell: s.Shell(), Problems: s.Problems(), Jobs: s.Jobs(), Fork: s.Fork, Lines: s.Console().Lines, LineOf: s.Console().LineOf, Memories: s.Console(), Latest: s.Console(), Run: s.Console().Run, Minds: s.Console().Minds, Manifests: s.Console().Manifests, Prompts: s.Prompts(), Tools: s.Shell(), Figures: s.Figures(),
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
		Restart: func(t *testing.T, clean bool) Store {
			t.Helper()
			end(t, clean)
			return OpenStore(t, open)
		},
		Upkeep: func(t *testing.T, clean bool, do func(BridgeStore)) Store {
			t.Helper()
			end(t, clean)
			command := OpenForTest(t, func(ctx context.Context) (*sqlstore.Store, error) { return open(ctx, false) })
			do(command.Border())
			if err := command.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			return OpenStore(t, open)
		},
	}
}

// OpenForTest opens a store that is closed when the test ends.
func OpenForTest(t *testing.T, open func(ctx context.Context) (*sqlstore.Store, error)) *sqlstore.Store {
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

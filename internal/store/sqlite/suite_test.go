package sqlite_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/storetest"
)

// Every check of a property opens a database several times, so there are fewer of
// them than usual, unless the command line says how many.
func TestMain(m *testing.M) {
	checks := flag.Lookup("rapid.checks")
	if err := checks.Value.Set("30"); err != nil {
		panic(err)
	}
	os.Exit(m.Run()) // parses the command line first
}

func TestStoreKeepsThePromisesOfEveryPort(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store {
		t.Helper()
		var n atomic.Int64
		return open(t, sqlite.Options{
			Dir: t.TempDir(), NewID: func() string { return fmt.Sprintf("id-%06d", n.Add(1)) },
			Now:    func() time.Time { return time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC) },
			Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})),
		})
	})
}

// open opens the record as the suite sees it.
func open(t *testing.T, o sqlite.Options) storetest.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return storetest.Store{
		Border: s.Border(), Shell: s.Shell(), Problems: s.Problems(), Jobs: s.Jobs(), Fork: s.Fork,
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
			stop := s.Crash
			if clean {
				stop = s.Close
			}
			if err := stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			return open(t, o)
		},
	}
}

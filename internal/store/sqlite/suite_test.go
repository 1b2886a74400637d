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
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
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
		o := sqlite.Options{
			Dir: t.TempDir(), NewID: func() string { return fmt.Sprintf("id-%06d", n.Add(1)) },
			Now:    func() time.Time { return time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC) },
			Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})),
		}
		return storetest.OpenStore(t, func(ctx context.Context, lives bool) (*sqlstore.Store, error) {
			o := o
			o.Lives = lives
			return sqlite.Open(ctx, o)
		})
	})
}

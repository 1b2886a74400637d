package sqlstore_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// server is what all tests of the package share.
var server testservers.PostgresServer

func TestMain(m *testing.M) { os.Exit(server.Main(m)) }

var start = time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)

// onEachEngine runs a test with an empty record on every engine.
func onEachEngine(t *testing.T, test func(t *testing.T, s *sqlstore.Store)) {
	t.Helper()
	var n atomic.Int64
	newID := func() string { return fmt.Sprintf("id-%06d", n.Add(1)) }
	now := func() time.Time { return start }
	quiet := slog.New(slog.DiscardHandler)
	for name, open := range map[string]func(t *testing.T) (*sqlstore.Store, error){
		"sqlite": func(t *testing.T) (*sqlstore.Store, error) {
			t.Helper()
			return sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), NewID: newID, Now: now, Logger: quiet})
		},
		"postgres": func(t *testing.T) (*sqlstore.Store, error) {
			t.Helper()
			return postgres.Open(t.Context(), postgres.Options{URL: server.URL(server.Database(t)), NewID: newID, Now: now, Logger: quiet})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := open(t)
			testutil.OK(t, err)
			t.Cleanup(func() { testutil.OK(t, s.Close(context.WithoutCancel(t.Context()))) })
			test(t, s)
		})
	}
}

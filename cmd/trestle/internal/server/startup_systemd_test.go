package server

import (
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/systemd"
	"github.com/trestle-bridge/trestle/internal/testservers"
)

func count(all []string, want string) (n int) {
	for _, one := range all {
		if one == want {
			n++
		}
	}
	return n
}

// ECOSYSTEM 7, 8: a migration that lasts longer than the service manager waits for a start
// is not cut off: it would never be done.
func TestManagerIsAskedToWaitWhileTheSchemaComesUp(t *testing.T) {
	for name, want := range map[string]int{"schema_migration": 10, "recovery": 0} {
		socket, heard := testservers.ServiceManager(t)
		synctest.Test(t, func(t *testing.T) {
			s := NewServer(new(config.Config), slog.New(slog.DiscardHandler), io.Discard, true)
			s.Manager = systemd.New(func(name string) (string, bool) { return socket, name == "NOTIFY_SOCKET" }, 1)
			if err := s.runStage(t.Context(), name, func() error { <-time.After(95 * time.Second); return io.EOF }); !errors.Is(err, io.EOF) {
				t.Errorf("%s: the stage says %v", name, err)
			}
		})
		if n := count(heard(), "EXTEND_TIMEOUT_USEC=60000000"); n != want {
			t.Errorf("in 95 s of %s it was asked %d times, want %d", name, n, want)
		}
	}
}

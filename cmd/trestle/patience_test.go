package main

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/systemd"
)

// aManager returns the socket of a service manager, and what ends it and returns what
// it has heard, a line each.
func aManager(t *testing.T) (socket string, heard func() []string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	all := make(chan []string, 1)
	go func() {
		var lines []string
		for text := make([]byte, 4096); ; {
			n, err := c.Read(text)
			if err != nil || string(text[:n]) == "over" {
				all <- lines
				return
			}
			lines = append(lines, strings.Split(string(text[:n]), "\n")...)
		}
	}()
	return socket, func() []string {
		t.Helper()
		if err := managerAt(socket).Notify(t.Context(), "over"); err != nil {
			t.Error(err)
		}
		lines := <-all
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		return lines
	}
}

func managerAt(socket string) systemd.ServiceNotifier {
	return systemd.New(func(name string) (string, bool) { return socket, name == "NOTIFY_SOCKET" }, 1)
}

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
		socket, heard := aManager(t)
		synctest.Test(t, func(t *testing.T) {
			s := newProcess(new(config.Config), slog.New(slog.DiscardHandler), io.Discard, true)
			s.manager = managerAt(socket)
			if err := s.patient(t.Context(), name, func() error { <-time.After(95 * time.Second); return io.EOF }); !errors.Is(err, io.EOF) {
				t.Errorf("%s: the stage says %v", name, err)
			}
		})
		if n := count(heard(), "EXTEND_TIMEOUT_USEC=60000000"); n != want {
			t.Errorf("in 95 s of %s it was asked %d times, want %d", name, n, want)
		}
	}
}

// ECOSYSTEM 7: the service manager is told how far an older record is.
func TestManagerIsToldOfAMigration(t *testing.T) {
	socket, heard := aManager(t)
	_, url := onTelegram(t, "7001:yesterday")
	s := yesterday(t, url)
	s.env += "\nNOTIFY_SOCKET=" + socket
	t.Run("up", func(t *testing.T) { s.serve(t) })
	first := strings.Join(heard(), "\n")
	if !strings.HasPrefix(first, "EXTEND_TIMEOUT_USEC=60000000\nSTATUS=the record comes up to date, schema 1 to ") {
		t.Errorf("heard:\n%s", first)
	}
}

package systemd

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

func env(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

// systemd STATUS= and watchdog.
func TestManagerHearsOneDatagram(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	testutil.OK(t, err)
	defer func() { _ = c.Close() }()
	n := New(env(map[string]string{"NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"}), 42)
	if !n.Enabled() || n.Watchdog() != 30*time.Second {
		t.Errorf("notifier is %+v", n)
	}
	testutil.OK(t, n.Notify(t.Context(), Ready, StatusLine("2 adapters,\n1 problem")))
	text := make([]byte, 256)
	size, err := c.Read(text)
	if got := string(text[:size]); err != nil || got != "READY=1\nSTATUS=2 adapters, 1 problem" {
		t.Errorf("heard %q, %v", got, err)
	}
}

func TestNobodyIsToldWithoutAManager(t *testing.T) {
	for name, values := range map[string]map[string]string{
		"no manager":               {"WATCHDOG_USEC": "30000000"},
		"a watchdog of another":    {"NOTIFY_SOCKET": "x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": strconv.Itoa(7)},
		"a watchdog of no numbers": {"NOTIFY_SOCKET": "x", "WATCHDOG_USEC": "often"},
	} {
		if n := New(env(values), 42); n.Watchdog() != 0 {
			t.Errorf("%s: watchdog every %s", name, n.Watchdog())
		}
	}
	if err := new(ServiceNotifier).Notify(t.Context(), Alive); err != nil {
		t.Error(err)
	}
	gone := New(env(map[string]string{"NOTIFY_SOCKET": filepath.Join(t.TempDir(), "gone")}), 42)
	if err := gone.Notify(t.Context(), Alive); err == nil {
		t.Error("telling a socket that is gone succeeded")
	}
}

// A full socket does not block the program.
func TestManagerThatDoesNotReadIsLeftAlone(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	testutil.OK(t, err)
	defer func() { _ = c.Close() }()
	n := New(env(map[string]string{"NOTIFY_SOCKET": socket}), 42)
	for range 10_000 { // more than a socket keeps
		if err := n.Notify(t.Context(), Alive); err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
			return
		}
	}
	t.Error("all that nobody has read was taken")
}

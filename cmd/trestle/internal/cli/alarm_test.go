package cli

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// ECOSYSTEM 8, 9: systemd hears READY, STATUS, WATCHDOG and STOPPING.
func TestServiceManagerIsKeptInformed(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	testutil.OK(t, err)
	defer func() { _ = c.Close() }()
	wanted := []string{"READY=1", "WATCHDOG=1", "STATUS=healthy; 1 account connected"}
	hear := func(all []string) {
		t.Helper()
		for text := make([]byte, 4096); len(all) > 0; {
			n, err := c.Read(text)
			if err != nil {
				t.Fatalf("%q was not heard: %v", all, err)
			}
			all = slices.DeleteFunc(all, func(want string) bool { return slices.Contains(strings.Split(string(text[:n]), "\n"), want) })
		}
	}
	s := stage{folder: t.TempDir(), env: "NOTIFY_SOCKET=" + socket + "\nWATCHDOG_USEC=200000\nWATCHDOG_PID=" + fmt.Sprint(os.Getpid())}
	t.Run("up", func(t *testing.T) {
		s.serve(t)
		testutil.OK(t, c.SetReadDeadline(time.Now().Add(30*time.Second)))
		hear(wanted)
	})
	hear([]string{"STOPPING=1"})
}

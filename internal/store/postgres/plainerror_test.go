package postgres

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// What is wrong with a server is said in one plain line, by a start, by commands that read,
// and by the doctor.
func TestAServerThatCannotBeReachedIsOnePlainLine(t *testing.T) {
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testutil.OK(t, err)
	closed := ln.Addr().String()
	testutil.OK(t, ln.Close())
	other, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0") // which speaks something else
	testutil.OK(t, err)
	defer func() { _ = other.Close() }()
	go func() {
		for {
			c, err := other.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("SSH-2.0-other\r\n")) // its reader may be gone
			_ = c.Close()
		}
	}()
	for url, want := range map[string]string{
		"postgres://u:hunter2@" + closed + "/x":                         "the server at " + closed + " cannot be reached: connection refused",
		"postgres://u:hunter2@" + other.Addr().String() + "/x":          "the server",
		"postgres://u:hunter2@no.such.host.invalid/x?connect_timeout=3": "the host no.such.host.invalid is not found",
	} {
		_, opened := Open(t.Context(), Options{URL: url})
		_, looked := Look(t.Context(), url)
		var r doctor.DataDir
		Examine(t.Context(), url, &r)
		for _, got := range []error{opened, looked, errors.New(r.Refused)} {
			if line := got.Error(); !strings.Contains(line, want) || strings.ContainsAny(line, "\n\t") || strings.Contains(line, "hunter2") {
				t.Errorf("%s: %q, want %q", url, line, want)
			}
		}
	}
}

package testservers

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// ServiceManager starts a socket that takes what a program tells its service
// manager. The returned function closes it and returns the lines that came; it is
// called once.
func ServiceManager(t *testing.T) (socket string, heard func() []string) {
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
		end, err := new(net.Dialer).DialContext(context.WithoutCancel(t.Context()), "unixgram", socket)
		if err == nil {
			_, err = end.Write([]byte("over"))
			_ = end.Close() // it has been written
		}
		if err != nil {
			t.Error(err)
		}
		lines := <-all
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		return lines
	}
}

package console_test

import (
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Callers without a credential that send the head of a request and then nothing hold at
// most so many requests from one address: the next is refused at once, before anything of
// it is read. Callers from elsewhere are served.
func TestBodiesThatDoNotComeAreBounded(t *testing.T) {
	w := consoletest.Open(t)
	srv := httptest.NewServer(w.Console.Handler())
	defer srv.Close()
	address := strings.TrimPrefix(srv.URL, "http://")
	post := func(from, body string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.DialContext(t.Context(), "tcp", address)
		testutil.OK(t, err)
		_, err = fmt.Fprintf(c, "POST /login HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\n%s", address, body)
		testutil.OK(t, err)
		return c
	}
	answer := func(c net.Conn) string {
		head := make([]byte, len("HTTP/1.1 200"))
		testutil.OK(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
		_, err := io.ReadFull(c, head)
		testutil.OK(t, err)
		return string(head[len("HTTP/1.1 "):])
	}
	const most = 16
	codes := make(chan string, 2*most)
	for range 2 * most {
		c := post("127.0.0.1", "token=")
		defer func() { _ = c.Close() }()
		go func() {
			head := make([]byte, len("HTTP/1.1 200"))
			if _, err := io.ReadFull(c, head); err == nil {
				codes <- string(head[len("HTTP/1.1 "):])
			}
		}()
	}
	for range most {
		select {
		case code := <-codes:
			if code != "503" {
				t.Errorf("one too many is answered with %s", code)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("too many bodies are read at one time")
		}
	}
	c := post("127.0.0.2", "token=x")
	defer func() { _ = c.Close() }()
	if code := answer(c); code != "401" {
		t.Errorf("a caller from elsewhere is answered with %s", code)
	}
}

package console_test

import (
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Callers without a credential that send the head of a request and then nothing hold at
// most so many requests: the next is refused at once, before anything of it is read.
func TestBodiesThatDoNotComeAreBounded(t *testing.T) {
	w := consoletest.Open(t)
	srv := httptest.NewServer(w.Console.Handler())
	defer srv.Close()
	address := strings.TrimPrefix(srv.URL, "http://")
	open := func() net.Conn {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		testutil.OK(t, err)
		_, err = fmt.Fprintf(c, "POST /login HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 4000\r\n\r\ntoken=", address)
		testutil.OK(t, err)
		return c
	}
	var held []net.Conn
	defer func() {
		for _, c := range held {
			_ = c.Close()
		}
	}()
	refused := 0
	for range 100 {
		held = append(held, open())
	}
	for _, c := range slices.Backward(held) { // mostly the last ones are one too many
		testutil.OK(t, c.SetReadDeadline(time.Now().Add(200*time.Millisecond)))
		head := make([]byte, 12)
		if _, err := io.ReadFull(c, head); err == nil && string(head) == "HTTP/1.1 503" {
			refused++
		}
		if refused == 36 {
			break
		}
	}
	if refused != 36 {
		t.Errorf("%d of 100 requests were refused, want 36", refused)
	}
}

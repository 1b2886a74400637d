// Package systemd notifies the service manager with the protocol of sd_notify(3):
// datagrams of lines to the socket in NOTIFY_SOCKET. Without a socket it does nothing.
package systemd

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"
)

// A ServiceNotifier sends notifications to systemd. The zero value sends nothing.
type ServiceNotifier struct {
	socket   string
	watchdog time.Duration
}

// New returns the notifier of the process pid, configured by the environment.
func New(lookup func(string) (string, bool), pid int) ServiceNotifier {
	var n ServiceNotifier
	n.socket, _ = lookup("NOTIFY_SOCKET")
	usec, _ := lookup("WATCHDOG_USEC")
	whose, named := lookup("WATCHDOG_PID")
	if us, err := strconv.ParseInt(usec, 10, 64); err == nil && us > 0 && (!named || whose == strconv.Itoa(pid)) {
		n.watchdog = time.Duration(us) * time.Microsecond
	}
	return n
}

// Enabled reports whether there is a notification socket.
func (n ServiceNotifier) Enabled() bool { return n.socket != "" }

// Watchdog returns the interval within which systemd expects [Alive]; 0 when it
// expects none.
func (n ServiceNotifier) Watchdog() time.Duration {
	if n.socket == "" {
		return 0
	}
	return n.watchdog
}

// Notifications of sd_notify(3).
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
	Alive    = "WATCHDOG=1"
)

// StatusLine returns the message that `systemctl status` shows, joined to one line.
func StatusLine(text string) string { return "STATUS=" + strings.Join(strings.Fields(text), " ") }

// ExtendTimeout asks systemd to extend the timeout of the current operation.
func ExtendTimeout(d time.Duration) string {
	return "EXTEND_TIMEOUT_USEC=" + strconv.FormatInt(d.Microseconds(), 10)
}

// mostWait limits the time of a write to a full socket.
const mostWait = time.Second

// Notify sends the lines in one datagram. It does nothing without a socket and
// blocks for at most a second.
func (n ServiceNotifier) Notify(ctx context.Context, lines ...string) error {
	if n.socket == "" {
		return nil
	}
	var d net.Dialer // it supports abstract sockets, whose names begin with @
	c, err := d.DialContext(ctx, "unixgram", n.socket)
	if err != nil {
		return err
	}
	if err := c.SetWriteDeadline(time.Now().Add(mostWait)); err != nil {
		return errors.Join(err, c.Close())
	}
	_, err = c.Write([]byte(strings.Join(lines, "\n")))
	return errors.Join(err, c.Close())
}

// Package systemd tells the service manager how the program is, by the protocol
// of sd_notify(3): one datagram of lines to the socket that NOTIFY_SOCKET names.
//
// It promises that nothing happens where there is no such socket. It knows
// nothing of what it tells.
package systemd

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"
)

// A ServiceNotifier talks to the service manager. The zero Notifier talks to nobody.
type ServiceNotifier struct {
	socket   string
	watchdog time.Duration
}

// New returns the notifier that the environment asks for, of the process pid.
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

// Enabled reports whether there is somebody to tell.
func (n ServiceNotifier) Enabled() bool { return n.socket != "" }

// Watchdog returns how often at least the manager wants to hear [Alive]; 0 when
// it does not ask.
func (n ServiceNotifier) Watchdog() time.Duration {
	if n.socket == "" {
		return 0
	}
	return n.watchdog
}

// What the manager understands.
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
	Alive    = "WATCHDOG=1"
)

// StatusLine returns the line that `systemctl status` shows; it is one line whatever
// the text holds.
func StatusLine(text string) string { return "STATUS=" + strings.Join(strings.Fields(text), " ") }

// ExtendTimeout asks the manager to wait so long from now for what is under way, where it
// would give it up before.
func ExtendTimeout(d time.Duration) string {
	return "EXTEND_TIMEOUT_USEC=" + strconv.FormatInt(d.Microseconds(), 10)
}

// mostWait is how long a manager may take that does not read what it is told.
const mostWait = time.Second

// Notify sends the lines in one datagram. Without a manager it does nothing, and it
// waits a second at most for one that has too much to read.
func (n ServiceNotifier) Notify(ctx context.Context, lines ...string) error {
	if n.socket == "" {
		return nil
	}
	var d net.Dialer // which knows the abstract names of Linux, that begin with @
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

package fake

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"
)

// RequestOrigin returns where a request came to, as "http://HOST" or "https://HOST".
func RequestOrigin(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// ServeUntilDone answers on ln with h until ctx is done, then closes the listener and
// every connection at once, as a machine does that is switched off, and returns
// nil. Any other end is an error.
func ServeUntilDone(ctx context.Context, ln net.Listener, h http.Handler) error {
	lasting := context.WithoutCancel(ctx) // a request ends with its connection, not before it
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		BaseContext:       func(net.Listener) context.Context { return lasting },
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		closing := srv.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			return errors.Join(err, closing)
		}
		return nil
	}
}

// WriteHalf answers with a status and half of the body, and breaks the connection.
func WriteHalf(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body[:len(body)/2]) // the client's hanging up is its own affair
	BreakConnection(w)
}

// BreakConnection closes the connection under the answer.
func BreakConnection(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush() // what was written before is on the wire
	panic(http.ErrAbortHandler)
}

// WaitUnlessGone waits, and reports false when the client went away first.
func WaitUnlessGone(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

package fake

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Origin returns where a request came to, as "http://HOST" or "https://HOST".
func Origin(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// Serve answers on ln with h until ctx is done, then closes the listener and
// every connection at once, as a machine does that is switched off, and returns
// nil. Any other end is an error.
func Serve(ctx context.Context, ln net.Listener, h http.Handler) error {
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

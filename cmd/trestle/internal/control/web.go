package control

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"time"
)

// WriteJSON answers a request of the control socket.
func WriteJSON(rw http.ResponseWriter, code int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(code)
	e := json.NewEncoder(rw)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // the reader has gone
}

// newHTTPServer returns a server with limits for slow and large requests.
func newHTTPServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
}

// ServeHTTP answers on ln until ctx is done, then lets requests in hand finish
// for a moment.
func ServeHTTP(ctx context.Context, ln net.Listener, h http.Handler) error {
	s := newHTTPServer(h)
	s.BaseContext = func(net.Listener) context.Context { return ctx }
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		stopped <- s.Shutdown(last)
	})
	err := s.Serve(ln)
	if stop() { // it ended by itself
		return err
	}
	if err := <-stopped; err != nil {
		return s.Close()
	}
	return nil
}

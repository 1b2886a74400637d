package main

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/notify/inproc"
)

// web serves what people and machines look at: health and live events. All of
// it reads and nothing changes anything.
type web struct {
	config func() *config.Config // the one that counts now
	health func() health
	boot   *Bootstrap
	bus    *inproc.Bus
}

// streamRoom is how many events a slow reader of /events may be behind before
// it is told that some were skipped.
const streamRoom = 1024

func (w *web) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", w.showHealth)
	mux.HandleFunc("GET /health/bootstrap", w.showBootstrap)
	mux.HandleFunc("GET /events", w.streamEvents)
	return w.guard(mux)
}

// guard lets only those in who may be there (SECURITY S7, S8): the right Host,
// so that no page of another site can reach us by a name of its own, and the
// token wherever there is one. A request that came through a proxy is not from
// this machine, whatever its address says.
func (w *web) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Content-Type-Options", "nosniff")
		rw.Header().Set("Cache-Control", "no-store")
		switch {
		case !w.knowsHost(r.Host):
			http.Error(rw, "this host name is not served here", http.StatusMisdirectedRequest)
		case w.config().Token != "" && !w.authorised(r):
			rw.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(rw, "the token is missing or wrong", http.StatusUnauthorized)
		case w.config().Token == "" && forwarded(r):
			http.Error(rw, "requests through a proxy need a token; set one in the configuration", http.StatusForbidden)
		default:
			next.ServeHTTP(rw, r)
		}
	})
}

// knowsHost reports whether the Host header names this machine. With a token
// any name may lead here: the token is the proof then.
func (w *web) knowsHost(hostport string) bool {
	if w.config().Token != "" {
		return true
	}
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return config.IsLoopback(strings.Trim(host, "[]"))
}

func (w *web) authorised(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(given), []byte(string(w.config().Token))) == 1
}

func forwarded(r *http.Request) bool {
	return slices.ContainsFunc([]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"}, func(name string) bool {
		return r.Header.Get(name) != ""
	})
}

func (w *web) showHealth(rw http.ResponseWriter, _ *http.Request) {
	h := w.health()
	code := http.StatusOK
	if h.Status == "starting" {
		code = http.StatusServiceUnavailable
	}
	writeJSON(rw, code, h)
}

func (w *web) showBootstrap(rw http.ResponseWriter, _ *http.Request) {
	writeJSON(rw, http.StatusOK, w.boot.Report())
}

// streamEvents sends live events as they happen (PRD-6.2-3).
func (w *web) streamEvents(rw http.ResponseWriter, r *http.Request) {
	events := w.bus.Open(streamRoom)
	defer events.Close()
	stream := startStream(rw)
	for {
		next, stop := context.WithTimeoutCause(r.Context(), heartbeat, errHeartbeat)
		e, err := events.Next(next)
		stop()
		switch {
		case errors.Is(err, errHeartbeat):
			err = stream.comment("still here")
		case err == nil:
			err = stream.send(e.ID, e)
		}
		if err != nil {
			return
		}
	}
}

func writeJSON(rw http.ResponseWriter, code int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(code)
	e := json.NewEncoder(rw)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // the reader has gone; nobody is left to tell
}

// newServer returns a server with limits for slow and large requests.
func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
}

// serveHTTP answers on ln until ctx is done, then lets requests in hand finish
// for a moment.
func serveHTTP(ctx context.Context, ln net.Listener, h http.Handler, grace time.Duration) error {
	s := newServer(h)
	s.BaseContext = func(net.Listener) context.Context { return ctx }
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
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

package testservers

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"testing"
)

// A RedisServer is a private server that keeps nothing on disk. It starts when its
// address is asked for; the caller stops it.
type RedisServer struct {
	Port int

	once sync.Once
	runs *server
}

func (r *RedisServer) start(ctx context.Context) error {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return missing("a Redis server", "redis-server")
	}
	who, err := humble("redis")
	if err != nil {
		return err
	}
	dir, err := folder(who)
	if err != nil {
		return err
	}
	if r.Port, err = freePort(); err != nil {
		return err
	}
	r.runs, err = launch(dir, who, "KILL", program, "--port", strconv.Itoa(r.Port), "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no")
	if err != nil {
		return err
	}
	return r.runs.answers(ctx, r.ping)
}

// URL starts the server when it has not been yet, and returns its address.
func (r *RedisServer) URL(tb testing.TB) string {
	tb.Helper()
	url, err := r.Open(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return url
}

// Open is [Redis.URL] for programs.
func (r *RedisServer) Open(ctx context.Context) (url string, err error) {
	r.once.Do(func() { err = r.start(ctx) })
	return fmt.Sprintf("redis://127.0.0.1:%d", r.Port), err
}

// Crash ends the server; all it knew is gone.
func (r *RedisServer) Crash(tb testing.TB) {
	tb.Helper()
	if err := r.runs.down(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

// Return starts the server again on the same port, empty.
func (r *RedisServer) Return(tb testing.TB) {
	tb.Helper()
	if err := r.runs.up(); err != nil {
		tb.Fatal(err)
	}
	if err := r.runs.answers(tb.Context(), r.ping); err != nil {
		tb.Fatal(err)
	}
}

// Stop ends the server.
func (r *RedisServer) Stop() error {
	if r.runs == nil {
		return nil
	}
	return r.runs.stop()
}

func (r *RedisServer) ping(ctx context.Context) error {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.Port)))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // it has answered or not
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	said := make([]byte, len("+PONG"))
	if _, err := c.Read(said); err != nil || string(said) != "+PONG" {
		return fmt.Errorf("it says %q: %w", said, err)
	}
	return nil
}

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// DELIVERY 2.7: processes of one database find one another on a Redis, and only those:
// another installation on the same server receives none of their events.
func TestInstallationsShareARedisAndNothingElse(t *testing.T) {
	var database testservers.PostgresServer
	var server testservers.RedisServer
	t.Cleanup(func() { testutil.OK(t, errors.Join(database.Stop(), server.Stop())) })
	url, home, next := server.URL(t), database.URL(database.Database(t)), database.URL(database.Database(t))
	here, there, neighbour := opened(t, home, url), opened(t, home, url), opened(t, next, url)
	joins(t, here, there, neighbour)
	seen := there.Bus.Open(8)
	defer seen.Close()
	for _, from := range []*Server{neighbour, here} {
		name, err := from.Store.Name(t.Context())
		testutil.OK(t, err)
		clusterBus{from.clusterNode}.Publish("test", name, nil, time.Now())
	}
	limit, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	want, err := there.Store.Name(t.Context())
	testutil.OK(t, err)
	if e, err := seen.Next(limit); err != nil || e.Content != want {
		t.Errorf("shown is %q (%v), want what happens in the own installation, %q", e.Content, err, want)
	}
}

// opened is a process that has opened its record and serves nothing.
func opened(t *testing.T, database, redis string) *Server {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "trestle.yaml")
	text := fmt.Sprintf("data: %q\ndatabase: %q\nredis: %q\nlisten: \"\"\nagents: {ada: {name: Ada}}\n", dir, database, redis)
	testutil.OK(t, os.WriteFile(file, []byte(text), 0o600))
	c, err := config.Load(config.LoadOptions{Path: file, Lookup: func(string) (string, bool) { return "", false }})
	testutil.OK(t, err)
	s := NewServer(c, slog.New(slog.DiscardHandler), io.Discard, true)
	testutil.OK(t, s.openStore(t.Context()))
	t.Cleanup(func() {
		testutil.OK(t, errors.Join(s.Store.Close(context.WithoutCancel(t.Context())), s.closeNotifier()))
	})
	s.shell = s.newShell()
	return s
}

// joins has processes hear their server until the test ends; it returns once they do.
func joins(t *testing.T, all ...*Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	for _, s := range all {
		listening, forget := s.notifier.Listen("any")
		defer forget()
		running.Go(func() { _ = s.remote.Run(ctx) })
		select {
		case <-listening: // everything rings once it hears the server
		case <-time.After(30 * time.Second):
			t.Fatal("the server is not heard")
		}
	}
}

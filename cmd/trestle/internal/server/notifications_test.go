package server

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/pubsub/pgnotify"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// DELIVERY 2.7: with a database and no Redis, what is recorded here rings in other
// processes, and a database that passes nothing on is said.
func TestDatabaseRingsWhereThereIsNoRedis(t *testing.T) {
	var server testservers.PostgresServer
	t.Cleanup(func() { testutil.OK(t, server.Stop()) })
	address := server.URL(server.Database(t))
	minds := hears(t, address, mindsCall)
	s := NewServer(&config.Config{Database: adapters.SecretString(address)}, slog.New(slog.DiscardHandler), io.Discard, false)
	testutil.OK(t, s.openNotifier(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = s.remote.Run(ctx) })
	defer func() { cancel(); running.Wait() }()
	s.sendWorkCalls([]spaces.PendingWork{{Mind: spaces.Mind{Agent: "ada", Circle: "home"}, Space: "a room"}})
	select {
	case <-minds:
	case <-time.After(30 * time.Second):
		t.Error("another process is not told that a mind has something to do")
	}
	b, err := pgnotify.Open(pgnotify.Options{URL: "postgres://trestle@127.0.0.1:1/trestle?sslmode=disable", Process: "lost"})
	testutil.OK(t, err)
	running.Go(func() { _ = b.Run(ctx) })
	look := (&clusterNode{remote: b}).probeNotifier()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for seen := 0; seen == 0; <-again.C {
		found, err := look.See(ctx)
		testutil.OK(t, err)
		if seen = len(found); seen > 0 && found[0].Code != alerts.NoNotices {
			t.Errorf("got %+v", found)
		}
	}
}

// hears returns the rings of a bell in another process; it returns once that one
// listens.
func hears(t *testing.T, address, key string) <-chan struct{} {
	t.Helper()
	b, err := pgnotify.Open(pgnotify.Options{URL: address, Process: "elsewhere"})
	testutil.OK(t, err)
	listening, forget := b.Listen("any")
	rings, _ := b.Listen(key)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = b.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	select {
	case <-listening: // everything rings once it hears the server
	case <-time.After(30 * time.Second):
		t.Fatal("the server is not heard")
	}
	forget()
	for range 2 { // the beginning rang it, too
		select {
		case <-rings:
		default:
		}
	}
	return rings
}

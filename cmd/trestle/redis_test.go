package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/redis"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// F38: with a Redis others see what happens here; without it everything goes on,
// and the operator is told.
func TestRedisCarriesLiveEventsAndMayBeLost(t *testing.T) {
	var server testservers.Redis
	t.Cleanup(func() { testutil.OK(t, server.Stop()) })
	url := server.URL(t)
	s := aTalk(t)
	s.env += "\nTRESTLE_REDIS=" + url
	if out, errs, code := s.do(t, "", "doctor", "redis"); code != apperr.Done || !strings.Contains(out, "answers") {
		t.Errorf("doctor: exit %s: %s%s", code, out, errs)
	}
	heard := elsewhere(t, url, installationOf(t, s))
	s.done(t, "hello again\n", "chat")
	select {
	case e := <-heard:
		if e.From == "" {
			t.Errorf("%+v does not say where it happened", e)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("another process sees nothing")
	}
	server.Crash(t)
	s.done(t, "and again\n", "chat")
	if out, errs, _ := s.do(t, "", "doctor", "redis"); !strings.Contains(out+errs, "TRS-R12") {
		t.Errorf("doctor does not say that the server is away: %s%s", out, errs)
	}
	if runs := answerOf[[]console.RunRow](t, s, "runs", "-o", "json"); len(runs) != 3 {
		t.Errorf("%d runs, want 3", len(runs))
	}
}

// DELIVERY 2.7: processes of one record find one another on a Redis, and nobody else: an
// installation that uses the same server is shown nothing of what happens in it.
func TestInstallationsShareARedisAndNothingElse(t *testing.T) {
	var database testservers.Postgres
	var server testservers.Redis
	t.Cleanup(func() { testutil.OK(t, errors.Join(database.Stop(), server.Stop())) })
	url, home, next := server.URL(t), database.URL(database.Database(t)), database.URL(database.Database(t))
	here, there, neighbour := opened(t, home, url), opened(t, home, url), opened(t, next, url)
	joins(t, here, there, neighbour)
	seen := there.bus.Open(8)
	defer seen.Close()
	for _, from := range []*Server{neighbour, here} {
		name, err := from.store.Name(t.Context())
		testutil.OK(t, err)
		clusterBus{from.components}.Publish("test", name, nil, time.Now())
	}
	limit, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	want, err := there.store.Name(t.Context())
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
	s := newProcess(c, slog.New(slog.DiscardHandler), io.Discard, true)
	testutil.OK(t, s.openStore(t.Context()))
	t.Cleanup(func() { testutil.OK(t, errors.Join(s.store.Close(context.WithoutCancel(t.Context())), s.closeBells())) })
	s.shell = s.newShell()
	return s
}

// installationOf returns the name of the record in a file that nobody has open.
func installationOf(t *testing.T, s stage) string {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(s.folder, "data"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	name, err := store.Name(t.Context())
	testutil.OK(t, errors.Join(err, store.Close(t.Context())))
	return name
}

// elsewhere hears what a process of an installation shows to others; it returns once
// it listens.
func elsewhere(t *testing.T, url, installation string) <-chan pubsub.Event {
	t.Helper()
	heard := make(chan pubsub.Event, 1024)
	c, err := redis.Open(redis.Options{URL: url, Installation: installation, Process: "elsewhere", Heard: func(e pubsub.Event) { heard <- e }})
	testutil.OK(t, err)
	listening, forget := c.Listen("any")
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = c.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		_ = c.Close()
	})
	select {
	case <-listening: // everything rings once it hears the server
	case <-time.After(30 * time.Second):
		t.Fatal("the server is not heard")
	}
	forget()
	return heard
}

// joins has processes hear their server until the test ends; it returns once they do.
func joins(t *testing.T, all ...*Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	for _, s := range all {
		listening, forget := s.bells.Listen("any")
		defer forget()
		running.Go(func() { _ = s.far.Run(ctx) })
		select {
		case <-listening: // everything rings once it hears the server
		case <-time.After(30 * time.Second):
			t.Fatal("the server is not heard")
		}
	}
}

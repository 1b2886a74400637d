package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/redis"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// F38: with a Redis others see what happens here; without it everything goes on,
// and the operator is told.
func TestRedisCarriesLiveEventsAndMayBeLost(t *testing.T) {
	var server testservers.RedisServer
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
	if runs := answerOf[[]api.RunRow](t, s, "runs", "-o", "json"); len(runs) != 3 {
		t.Errorf("%d runs, want 3", len(runs))
	}
}

// installationOf returns the installation's name from a database file that no process
// has open.
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
func elsewhere(t *testing.T, url, installation string) <-chan pubsub.LiveEvent {
	t.Helper()
	heard := make(chan pubsub.LiveEvent, 1024)
	c, err := redis.Open(redis.Options{URL: url, Installation: installation, Process: "elsewhere", Heard: func(e pubsub.LiveEvent) { heard <- e }})
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

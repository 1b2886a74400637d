package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/notify"
	"github.com/trestle-bridge/trestle/internal/notify/redis"
	"github.com/trestle-bridge/trestle/internal/servertest"
)

// F38: with a Redis others see what happens here; without it everything goes on,
// and the operator is told.
func TestRedisCarriesLiveEventsAndMayBeLost(t *testing.T) {
	var server servertest.Redis
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	url := server.URL(t)
	s := aTalk(t)
	s.env += "\nTRESTLE_REDIS=" + url
	if out, errs, code := s.do(t, "", "doctor", "redis"); code != exitDone || !strings.Contains(out, "answers") {
		t.Errorf("doctor: exit %s: %s%s", code, out, errs)
	}
	heard := elsewhere(t, url)
	if _, errs, code := s.do(t, "hello again\n", "chat"); code != exitDone {
		t.Fatalf("chat: exit %s: %s", code, errs)
	}
	select {
	case e := <-heard:
		if e.From == "" {
			t.Errorf("%+v does not say where it happened", e)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("another process sees nothing")
	}
	server.Crash(t)
	if _, errs, code := s.do(t, "and again\n", "chat"); code != exitDone {
		t.Errorf("chat without the server: exit %s: %s", code, errs)
	}
	if out, errs, _ := s.do(t, "", "doctor", "redis"); !strings.Contains(out+errs, "TRS-R12") {
		t.Errorf("doctor does not say that the server is away: %s%s", out, errs)
	}
	if runs := answerOf[[]runRow](t, s, "runs", "-o", "json"); len(runs) != 3 {
		t.Errorf("%d runs, want 3", len(runs))
	}
}

// elsewhere hears what a process shows to others; it returns once it listens.
func elsewhere(t *testing.T, url string) <-chan notify.Event {
	t.Helper()
	heard := make(chan notify.Event, 1024)
	c, err := redis.Open(redis.Options{URL: url, Process: "elsewhere", Heard: func(e notify.Event) { heard <- e }})
	if err != nil {
		t.Fatal(err)
	}
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

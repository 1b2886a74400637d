package redis_test

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/pubsubtest"
	"github.com/trestle-bridge/trestle/internal/pubsub/redis"
)

// DELIVERY 2.7: two installations that share a server hear nothing of each other: no
// ring, no call, no live event, and neither spends what the other one has. What the
// neighbour did comes first on the server, so a client that received it would have
// received it before its own installation's message.
func TestInstallationsHearNothingOfEachOther(t *testing.T) {
	heard := make(chan pubsub.LiveEvent, 8)
	here := begin(t, redis.Options{Installation: "here", Process: "a", Heard: func(e pubsub.LiveEvent) { heard <- e }})
	home := begin(t, redis.Options{Installation: "here", Process: "b"})
	next := begin(t, redis.Options{Installation: "next door", Process: "c"})
	rings, stop := here.Listen("outbox")
	defer stop()

	answers, theirs := attended(t, here), attended(t, next)
	next.Ring("outbox")
	next.Show(pubsub.LiveEvent{Type: "agent_thinking", Content: "a secret"})
	next.Call("minds", "theirs")
	first(t, theirs)
	if len(rings) > 0 {
		t.Error("a neighbour's bell is heard")
	}
	home.Show(pubsub.LiveEvent{Type: "agent_thinking", Content: "ours"})
	home.Call("minds", "ours")
	home.Ring("outbox")
	if e := first(t, heard); e.Content != "ours" {
		t.Errorf("%q of a neighbour is shown", e.Content)
	}
	if note := first(t, answers); note != "ours" {
		t.Errorf("the call %q of a neighbour was answered", note)
	}
	pubsubtest.Within(t, rings, "the own bell is not heard")

	pace := pubsub.RateLimit{Key: "telegram:1", Every: time.Hour, Burst: 1}
	for _, test := range []struct {
		who  *redis.Client
		want bool
	}{{here, true}, {next, true}, {home, false}} {
		if _, taken, err := test.who.Take(t.Context(), 0, pace); err != nil || taken != test.want {
			t.Errorf("taken: %t (%v), want %t", taken, err, test.want)
		}
	}
}

// attended returns the calls that a client answers until the test ends.
func attended(t *testing.T, c *redis.Client) <-chan string {
	t.Helper()
	calls := make(chan string, 8)
	attend(t, c, func(note string) error { calls <- note; return nil })
	return calls
}

// first returns the first thing that comes.
func first[T any](t *testing.T, from <-chan T) (one T) {
	t.Helper()
	select {
	case one = <-from:
	case <-time.After(late):
		t.Error("nothing comes: a neighbour has it")
	}
	return one
}

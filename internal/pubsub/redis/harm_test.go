package redis_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	library "github.com/redis/go-redis/v9"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/pubsubtest"
	"github.com/trestle-bridge/trestle/internal/pubsub/redis"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// F38, F40: whatever the way to the server suffers, rings are heard at home, the
// trouble is told, and all is well when it is over.
func TestHarmedLinkCostsLatencyOnly(t *testing.T) {
	url := server.URL(t)
	for name, harm := range map[string]testservers.ProxyFault{
		"answers held":   {Hold: testservers.Answers},
		"questions held": {Hold: testservers.Questions},
		"both held":      {Hold: testservers.Both},
		"cut in a word":  {After: 3},
		"refused":        {Refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			link := testservers.NewLink(t, fmt.Sprintf("127.0.0.1:%d", server.Port))
			b := begin(t, redis.Options{URL: strings.Replace(url, strconv.Itoa(server.Port), strconv.Itoa(link.Port()), 1), Process: "a"})
			other := begin(t, redis.Options{Process: "b"})
			rings, stop := b.Listen("inbox")
			defer stop()
			link.Suffer(harm)
			pubsubtest.Eventually(t, "nobody says that the server is away", func() bool { return troubled(b) != "" })
			for len(rings) > 0 {
				<-rings
			}
			b.Ring("inbox")
			pubsubtest.Within(t, rings, "the ring was not heard at home")
			link.Mend()
			pubsubtest.Eventually(t, "the trouble is over and still told of", func() bool { return troubled(b) == "" })
			pubsubtest.Eventually(t, "rings of others are not heard after the harm", func() bool {
				other.Ring("inbox")
				return len(rings) > 0
			})
		})
	}
}

// F38: a server that throws away what it holds costs latency only: new notifications
// arrive, and calls that were thrown away do not block new ones.
func TestEvictionCostsLatencyOnly(t *testing.T) {
	_, url := ownServer(t)
	o, err := library.ParseURL(url)
	testutil.OK(t, err)
	r := library.NewClient(o)
	t.Cleanup(func() { _ = r.Close() })
	answered := make(chan struct{}, 1)
	c, other := begin(t, redis.Options{URL: url, Process: "a"}), begin(t, redis.Options{URL: url, Process: "b"})
	attend(t, c, func(string) error {
		select {
		case answered <- struct{}{}:
		default:
		}
		return nil
	})
	rings, stop := c.Listen("inbox")
	defer stop()
	for setting, value := range map[string]string{"maxmemory-policy": "allkeys-random", "maxmemory": "4mb"} {
		testutil.OK(t, r.ConfigSet(t.Context(), setting, value).Err())
	}
	for n := range 200 { // three times what fits
		testutil.OK(t, r.Set(t.Context(), fmt.Sprint("other ", n), strings.Repeat("x", 64<<10), 0).Err())
	}
	if n := r.Info(t.Context(), "stats").Val(); strings.Contains(n, "evicted_keys:0\r") {
		t.Fatal("nothing was thrown away")
	}
	for len(rings)+len(answered) > 0 {
		select {
		case <-rings:
		case <-answered:
		}
	}
	pubsubtest.Eventually(t, "rings are not heard any more", func() bool {
		other.Ring("inbox")
		return len(rings) > 0
	})
	pubsubtest.Eventually(t, "calls are not answered any more", func() bool {
		other.Call("minds", "ada")
		return len(answered) > 0
	})
}

// F38: an error is cleared once the server is back, also when the client has sent no
// command since.
func TestTroubleIsOverWithoutAnythingToDo(t *testing.T) {
	own, url := ownServer(t)
	c := begin(t, redis.Options{URL: url, Process: "a"})
	own.Crash(t)
	if _, _, err := c.Take(t.Context(), 0, pubsub.RateLimit{Key: "chat", Every: time.Second, Burst: 1}); err == nil {
		t.Fatal("a server that is gone keeps budgets")
	}
	c.Ring("outbox")
	pubsubtest.Eventually(t, "nobody says that the server is away", func() bool { return troubled(c) != "" })
	own.Return(t)
	pubsubtest.Eventually(t, "the server is back and is said to be away", func() bool { return troubled(c) == "" })
}

// A flush while everything waits is no trouble: it heals by itself, it is told that the
// server was emptied, and calls and rings arrive afterwards.
func TestAFlushIsToldOfAndHeals(t *testing.T) {
	_, url := ownServer(t)
	c := begin(t, redis.Options{URL: url, Process: "a"})
	other := begin(t, redis.Options{URL: url, Process: "b"})
	rings, stop := c.Listen("inbox")
	defer stop()
	answered := make(chan string, 8)
	ctx, cancel := context.WithCancel(t.Context())
	var attends sync.WaitGroup
	attends.Go(func() {
		if err := c.Attend(ctx, "minds", func(_ context.Context, note string) error { answered <- note; return nil }); err != nil {
			t.Error(err)
		}
	})
	defer attends.Wait()
	defer cancel()
	other.Call("minds", "before")
	if note := <-answered; note != "before" {
		t.Fatalf("answered %q", note)
	}
	other.Ring("inbox")
	pubsubtest.Within(t, rings, "a ring is not heard")
	if !c.Emptied().IsZero() {
		t.Fatal("the server is said to be emptied")
	}
	o, err := library.ParseURL(url)
	testutil.OK(t, err)
	r := library.NewClient(o)
	t.Cleanup(func() { _ = r.Close() })
	testutil.OK(t, r.FlushAll(t.Context()).Err())
	pubsubtest.Eventually(t, "nothing says that the server was emptied", func() bool {
		if why := troubled(c); why != "" {
			t.Errorf("the flush is trouble: %s", why)
		}
		return !c.Emptied().IsZero()
	})
	other.Call("minds", "after")
	if note := <-answered; note != "after" {
		t.Fatalf("answered %q", note)
	}
	if why := troubled(c); why != "" {
		t.Errorf("still in trouble: %s", why)
	}
}

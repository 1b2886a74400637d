package redis_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/pubsubtest"
	"github.com/trestle-bridge/trestle/internal/pubsub/redis"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// DESIGN 8: processes that share an account take no more than one budget between
// them, of each chat and of the whole.
func TestProcessesShareOneBudget(t *testing.T) {
	a, b := begin(t, redis.Options{Process: "a"}), begin(t, redis.Options{Process: "b"})
	const every, burst = 50 * time.Millisecond, 20
	whole := pubsub.RateLimit{Key: "{bot}:", Every: every, Burst: burst}
	var taken atomic.Int64
	began := time.Now()
	var all sync.WaitGroup
	for i, c := range []*redis.Client{a, b, a, b} {
		all.Go(func() {
			chat := pubsub.RateLimit{Key: fmt.Sprint("{bot}:", i), Every: time.Millisecond, Burst: 100}
			for range 40 {
				_, ok, err := c.Take(t.Context(), 0, chat, whole)
				if err != nil {
					t.Error(err)
				}
				if ok {
					taken.Add(1)
				}
			}
		})
	}
	all.Wait()
	most := int64(burst + time.Since(began)/every + 1)
	if n := taken.Load(); n > most || n < burst {
		t.Errorf("%d were taken, want %d to %d", n, burst, most)
	}
}

// A caller that would wait longer than its limit takes no token; a caller that can wait
// has its turn reserved, and later callers come after it.
func TestTurnsAreGivenInAdvanceWithinPatience(t *testing.T) {
	c := begin(t, redis.Options{Process: "a"})
	b := pubsub.RateLimit{Key: "chat", Every: time.Hour, Burst: 2}
	var waits []time.Duration
	for _, patience := range []time.Duration{0, 0, time.Minute, 90 * time.Minute, 90 * time.Minute} {
		wait, taken, err := c.Take(t.Context(), patience, b)
		testutil.OK(t, err)
		if taken != (wait <= patience) {
			t.Errorf("a wait of %s with a patience of %s: taken is %v", wait, patience, taken)
		}
		waits = append(waits, wait.Round(30*time.Minute))
	}
	if got, want := fmt.Sprint(waits), "[0s 0s 1h0m0s 1h0m0s 2h0m0s]"; got != want {
		t.Errorf("waits are %s, want %s", got, want)
	}
}

// A chat that the platform wants left alone is left alone by all, and others are not.
func TestHeldBudgetIsHeldForAll(t *testing.T) {
	a, b := begin(t, redis.Options{Process: "a"}), begin(t, redis.Options{Process: "b"})
	testutil.OK(t, a.Hold(t.Context(), "chat", time.Hour))
	wait, taken, err := b.Take(t.Context(), time.Minute, pubsub.RateLimit{Key: "chat", Every: time.Millisecond, Burst: 9})
	if err != nil || taken || wait < 50*time.Minute {
		t.Errorf("got %s, %v (%v), want to wait for an hour", wait, taken, err)
	}
	if _, taken, err = b.Take(t.Context(), 0, pubsub.RateLimit{Key: "other", Every: time.Millisecond, Burst: 9}); err != nil || !taken {
		t.Errorf("another chat is held as well: %v (%v)", taken, err)
	}
}

// F43: a server whose clock has gone back by a day makes no caller wait for a day.
func TestClockThatWentBackHoldsNothing(t *testing.T) {
	c, r := begin(t, redis.Options{Process: "a"}), raw(t)
	tomorrow := strconv.FormatInt(time.Now().Add(24*time.Hour).UnixMicro(), 10)
	testutil.OK(t, r.Set(t.Context(), "trestle:"+t.Name()+":pace:chat", tomorrow, 25*time.Hour).Err())
	if err := r.Set(t.Context(), "trestle:"+t.Name()+":held:chat", "1000", 24*time.Hour).Err(); err != nil { // of one second
		t.Fatal(err)
	}
	wait, taken, err := c.Take(t.Context(), 0, pubsub.RateLimit{Key: "chat", Every: time.Second, Burst: 1})
	if err != nil || !taken || wait != 0 {
		t.Errorf("got %s, %v (%v)", wait, taken, err)
	}
}

// F38, F40: a server that does not answer costs one short wait, not one for each
// send, and is told of.
func TestSilentTreasurerCostsOneShortWait(t *testing.T) {
	url := server.URL(t)
	link := testservers.NewLink(t, fmt.Sprintf("127.0.0.1:%d", server.Port))
	c := begin(t, redis.Options{URL: strings.Replace(url, strconv.Itoa(server.Port), strconv.Itoa(link.Port()), 1), Process: "a"})
	b := pubsub.RateLimit{Key: "chat", Every: time.Millisecond, Burst: 1000}
	if _, taken, err := c.Take(t.Context(), 0, b); err != nil || !taken {
		t.Fatalf("taken is %v (%v)", taken, err)
	}
	link.Suffer(testservers.ProxyFault{Hold: testservers.Both})
	if _, _, err := c.Take(t.Context(), 0, b); err == nil {
		t.Error("something was taken from nobody")
	}
	for range 1000 { // all within the second in which the server is not asked, or it takes minutes
		if _, _, err := c.Take(t.Context(), 0, b); err == nil {
			t.Error("something was taken from nobody")
		}
	}
	if troubled(c) == "" {
		t.Error("nobody says that the server is away")
	}
	link.Mend()
	pubsubtest.Eventually(t, "it is not asked any more", func() bool {
		_, taken, err := c.Take(t.Context(), 0, b)
		return taken && err == nil
	})
}

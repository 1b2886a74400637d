package redis_test

import (
	"context"
	"sync"
	"testing"
	"time"

	library "github.com/redis/go-redis/v9"

	"github.com/trestle-bridge/trestle/internal/pubsub/pubsubtest"
	"github.com/trestle-bridge/trestle/internal/pubsub/redis"
)

// CON-36: a call is on the server until its answer is over, however long that takes,
// and no other process gets it meanwhile; other calls are answered beside it.
func TestLongAnswerKeepsItsCall(t *testing.T) {
	begun, hold, others := make(chan string, 8), make(chan struct{}), make(chan string, 8)
	const reclaim = 2 * time.Second // a process that does not move for longer is taken for dead
	a := begin(t, redis.Options{Process: "a", Reclaim: reclaim})
	attend(t, a, func(note string) error {
		begun <- note
		if note == "long" {
			<-hold
		}
		return nil
	})
	release := sync.OnceFunc(func() { close(hold) })
	t.Cleanup(release)
	a.Call("minds", "long")
	if got := <-begun; got != "long" {
		t.Fatalf("got %q", got)
	}
	b := begin(t, redis.Options{Process: "b", Reclaim: reclaim})
	attend(t, b, func(note string) error { others <- note; return nil })
	r, stream := raw(t), "trestle:"+t.Name()+":calls:minds"
	// The idle time of a call that is kept falls again and again.
	last, falls := time.Duration(0), 0
	pubsubtest.Eventually(t, "the call is not kept", func() bool {
		open, err := r.XPendingExt(t.Context(), &library.XPendingExtArgs{Stream: stream, Group: "attendants", Start: "-", End: "+", Count: 9}).Result()
		if err != nil || len(open) != 1 || open[0].Consumer != "a" || open[0].RetryCount != 1 {
			t.Fatalf("open: %+v (%v), want the one call that a answers", open, err)
		}
		if open[0].Idle < last {
			falls++
		}
		last = open[0].Idle
		return falls == 2
	})
	got := ""
	for got == "" {
		b.Call("minds", "short")
		select {
		case got = <-begun:
		case got = <-others:
		case <-time.After(5 * time.Millisecond):
		}
	}
	if got != "short" {
		t.Errorf("the call %q was answered beside the long one", got)
	}
	release()
	empties(t, stream)
}

// CON-36: a process that stops before its answer is over leaves the call to others.
func TestStoppedAnswerIsLeftToOthers(t *testing.T) {
	begun, answered := make(chan struct{}, 1), make(chan string, 8)
	a, stop := started(t, "a")
	ctx, cancel := context.WithCancel(t.Context())
	var attending sync.WaitGroup
	attending.Go(func() {
		_ = a.Attend(ctx, "minds", func(ctx context.Context, _ string) error {
			begun <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
	})
	a.Call("minds", "ada")
	pubsubtest.Within(t, begun, "nobody answers")
	cancel()
	attending.Wait()
	stop()
	b, _ := started(t, "b")
	attend(t, b, func(note string) error { answered <- note; return nil })
	select {
	case got := <-answered:
		if got != "ada" {
			t.Errorf("got %q", got)
		}
	case <-time.After(late):
		t.Fatal("the call is lost with the process that stopped")
	}
	empties(t, "trestle:"+t.Name()+":calls:minds")
}

func started(t *testing.T, process string) (c *redis.Client, stop func()) {
	t.Helper()
	return begun(t, redis.Options{Process: process, Reclaim: 60 * time.Millisecond})
}

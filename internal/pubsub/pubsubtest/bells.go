// Package pubsubtest holds the tests that every implementation of notifications passes,
// within one process and between two. It knows no implementation.
package pubsubtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/pubsub"
)

// late ends a test in which something is not heard.
const late = 30 * time.Second

// A SuiteNotifier sends and receives notifications.
type SuiteNotifier interface {
	pubsub.Notifier
	pubsub.Subscriber
}

// Bells tests an implementation. open returns the notifiers of two processes; where
// there is only one process they are the same.
func Bells(t *testing.T, open func(t *testing.T) (here, there SuiteNotifier)) {
	t.Helper()
	t.Run("every listener of every process hears", func(t *testing.T) {
		here, there := open(t)
		var all []<-chan struct{}
		for _, b := range []SuiteNotifier{here, here, there, there} {
			rings, stop := b.Listen("inbox")
			defer stop()
			all = append(all, rings)
		}
		here.Ring("inbox")
		for i, rings := range all {
			hears(t, rings, i)
		}
	})
	t.Run("rings nobody answered count as one", func(t *testing.T) {
		here, there := open(t)
		rings, stop := there.Listen("outbox")
		defer stop()
		end, stopEnd := there.Listen("end")
		defer stopEnd()
		for range 5 {
			here.Ring("outbox")
		}
		here.Ring("end")
		hears(t, end, 0)
		hears(t, rings, 0)
		if len(rings) != 0 {
			t.Error("the same rings were heard twice")
		}
	})
	t.Run("other keys and those who stopped hear nothing", func(t *testing.T) {
		here, there := open(t)
		other, stopOther := there.Listen("jobs")
		defer stopOther()
		stopped, stop := there.Listen("inbox")
		stop()
		stop()
		end, stopEnd := there.Listen("inbox")
		defer stopEnd()
		here.Ring("inbox")
		hears(t, end, 0)
		if len(other) != 0 || len(stopped) != 0 {
			t.Errorf("another key heard %d rings, one that stopped %d", len(other), len(stopped))
		}
	})
	t.Run("ringing from many goroutines is heard", func(t *testing.T) {
		here, there := open(t)
		rings, stop := there.Listen("inbox")
		defer stop()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { here.Ring("inbox") })
		}
		all.Wait()
		hears(t, rings, 0)
	})
}

// hears waits for a ring.
func hears(t *testing.T, rings <-chan struct{}, who int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), late)
	defer cancel()
	select {
	case <-rings:
	case <-ctx.Done():
		t.Fatalf("listener %d heard nothing", who)
	}
}

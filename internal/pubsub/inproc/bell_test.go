package inproc

import (
	"sync"
	"testing"
	"testing/synctest"
)

func TestRingsNobodyAnsweredCountAsOne(t *testing.T) {
	var b LocalNotifier
	rings, stop := b.Listen("outbox")
	defer stop()
	for range 5 {
		b.Ring("outbox")
	}
	b.Ring("inbox")
	if got := len(rings); got != 1 {
		t.Errorf("%d rings wait, want 1", got)
	}
	<-rings
	b.Ring("outbox")
	if got := len(rings); got != 1 {
		t.Errorf("after an answer %d rings wait, want 1", got)
	}
}

func TestEveryListenerHears(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		var (
			b  LocalNotifier
			wg sync.WaitGroup
		)
		for range 3 {
			rings, stop := b.Listen("inbox")
			defer stop()
			wg.Go(func() { <-rings })
		}
		synctest.Wait()
		b.Ring("inbox")
		wg.Wait() // a listener left out would leave the bubble stuck
	})
}

func TestStoppedListenerIsForgotten(t *testing.T) {
	var b LocalNotifier
	rings, stop := b.Listen("inbox")
	stop()
	stop()
	b.Ring("inbox")
	if len(rings) != 0 {
		t.Error("a stopped listener was rung")
	}
	if len(b.listeners) != 0 {
		t.Errorf("%d keys are still kept", len(b.listeners))
	}
}

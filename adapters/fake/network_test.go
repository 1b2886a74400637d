package fake_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

func TestDiallingANameNobodyListensOnIsRefused(t *testing.T) {
	n := new(fake.MemoryNetwork)
	if c, err := n.DialContext(t.Context(), "tcp", "nobody.test:80"); err == nil {
		t.Errorf("connected to %v", c.RemoteAddr())
	}
	ln, err := n.Listen("somebody.test:80")
	testutil.OK(t, err)
	if _, err := n.Listen("somebody.test"); err == nil {
		t.Error("a second listener got the same name")
	}
	testutil.OK(t, ln.Close())
	if _, err := n.DialContext(t.Context(), "tcp", "somebody.test:80"); err == nil {
		t.Error("connected to a closed listener")
	}
	again, err := n.Listen("somebody.test")
	if err != nil {
		t.Fatalf("the name was not freed: %v", err)
	}
	testutil.OK(t, again.Close())
}

func TestADialEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := new(fake.MemoryNetwork)
		ln, err := n.Listen("busy.test")
		testutil.OK(t, err)
		t.Cleanup(func() { testutil.OK(t, ln.Close()) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := n.DialContext(ctx, "tcp", "busy.test"); err == nil || time.Since(start) != time.Second {
			t.Errorf("after %s: %v; want an error after 1s", time.Since(start), err)
		}
	})
}

func TestServeReturnsTheListenersError(t *testing.T) {
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testutil.OK(t, err)
	testutil.OK(t, ln.Close())
	if err := faketelegram.NewTelegram(faketelegram.Options{}).Serve(t.Context(), ln); err == nil {
		t.Error("serving on a closed listener succeeded")
	}
}
